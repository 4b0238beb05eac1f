// Package model holds the Generators: the one that talks to the Gemini API,
// and those that wrap another or stand in for it.
//
//   - [Genai] asks the Gemini API, Vertex AI or Code Assist over HTTP.
//   - [Retry] asks again when a request failed or an answer is no answer.
//   - [Record] writes down what was answered, [Fake] plays it back.
//   - [Log] tells a logger.
//
// # Errors
//
// Whatever goes wrong between here and the model is an [*Error]: its Kind is
// for programs, its text for people. No error text holds a credential.
//
// # Credentials
//
// A key or an account is looked for when a request needs it, never before.
// Tokens are fetched by way of the same proxy, and with the same certificates
// trusted, as requests.
//
// # Streams
//
// A Generator works on the goroutine that ranges over it. Leaving the loop
// closes the request at once, and a cancelled context ends the stream with an
// error that is [context.Canceled].
package model
