// Package model asks models. A model is asked through a Generator: [Genai] is the
// one that talks to a server, and the others wrap another or stand in for it.
//
//   - [Genai] asks the Gemini API, Vertex AI or Code Assist over HTTP.
//   - [Retry] asks again when a request failed or an answer is no answer.
//   - [Structured] asks for JSON that fits a schema.
//   - [Recorder] writes down what was answered, [Fake] plays it back.
//   - [Log] tells a logger.
//
// [Open] puts them together. All of them pass one suite of tests,
// enginetest.Generators.
//
// # Every error is an Error
//
// Whatever goes wrong between here and the model is an [*Error]: its Kind is
// for programs, its text and its Hint for people. [Genai] makes it in one place,
// from what the leg of the way that failed knows. No text holds a credential.
//
// # A credential is looked for late
//
// A key or an account is looked for when a request needs it, never before.
// Tokens are fetched by way of the same proxy, and with the same certificates
// trusted, as requests.
//
// # A stream belongs to its reader
//
// A Generator works on the goroutine that ranges over it. Leaving the loop
// closes the request at once, and a cancelled context ends the stream with an
// error that is [context.Canceled].
//
// # The library lends its types
//
// Requests and answers are the types of google.golang.org/genai. Its client is
// not used: docs/internals/packages.md says why.
package model
