// Package enginetest has fakes of the parts around an engine, for tests: a scripted model, a user
// who answers, a journal in memory, and a local server of the Gemini API with its faults. A
// [Recorder] records the events of a Run, [Generators] is the test suite for every Generator, and
// [Bounds] for every reader of untrusted text.
//
// # One kind of reply
//
// A [Reply] is the model's answer to one request. A [Script] gives it by a method call, a
// [Server] over HTTP, so that one table can drive both. A Script refuses a Reply that makes sense
// only over HTTP (a broken connection, a status). [ParseReplies] reads replies from text.
//
// # Nothing is shared
//
// A Script or a Server returns copies, which the receiver may change. It also stores copies of
// requests.
//
// # One seed
//
// A random test takes its numbers from [Random], which logs the seed. The seed is constant,
// except in a soak.
package enginetest
