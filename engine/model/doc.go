// Package model sends requests to models through Generators: [Genai] talks to a server, and
// the others wrap a Generator or replace it.
//
//   - [Genai] asks the Gemini API, Vertex AI or Code Assist over HTTP.
//   - [Retry] repeats requests that failed or got an invalid answer.
//   - [Structured] asks for JSON that fits a schema.
//   - [Recorder] records answers, [Fake] replays them.
//
// [Open] combines them. All pass the test suite enginetest.Generators.
//
// # Every error is an Error
//
// Every failure between the program and the model is an [*Error]: its Kind is for programs,
// its text and its Hint for people. [Genai] makes the error in one place, from the details of
// the step that failed. No text holds a credential.
//
// # Credentials are fetched late
//
// A key or an account is read only when a request needs it. Tokens are fetched through the same
// proxy, and with the same trusted certificates, as answers.
//
// # A stream runs on its reader's goroutine
//
// A Generator works on the goroutine that ranges over it. Leaving the loop
// closes the request at once, and a cancelled context ends the stream with an
// error that is [context.Canceled].
//
// # Only the library's types are used
//
// Requests and answers are the types of google.golang.org/genai. Its client is not used.
// A trial put v1.77.0 below [Genai], with a RoundTripper of 286 lines that cleans streams and
// signs requests. It measured:
//
//   - 20,000 chunks as text: 43 µs of processor time a chunk (this package 21, the floor 12)
//   - an event of 20 MB: 481 MB of allocations; this package allocates 154 MB
//   - a request of 100 messages: 12,519 allocations; this package makes 151
//   - the program: 3.3 MB larger
//
// The library panicked at a wrong type in an answer, lost createTime, and changed the order of
// schemas' properties unless the RoundTripper restored it. Server faults and continuation worked.
// The library would have replaced no code here: recordings and jobs need encode.go and decode.go,
// and other providers need the rest.
package model
