// Package enginetest plays the parts around an engine, for tests: a model that
// says what a test wants, a user who answers, a journal in memory, and a local
// server of the Gemini API with its faults. A [Recorder] keeps what a Run shows,
// [Generators] is the suite that every Generator passes, and [Bounds] is the one
// for whatever reads text from outside.
//
// # One kind of reply
//
// A [Reply] is what the model says to one request. A [Script] gives it by a
// method call, a [Server] over HTTP, so that one table can drive both. What
// only makes sense on a wire (a broken connection, a status) is a Reply that a
// Script refuses to give. [ParseReplies] reads replies from text.
//
// # Nothing is shared
//
// Whatever a Script or a Server hands out is a copy of its own, which the
// receiver may change. Whatever it keeps of a request is a copy, too.
//
// # One seed
//
// A random test takes its numbers from [Random], which says where they began. It
// is the same every time, but in a soak.
package enginetest
