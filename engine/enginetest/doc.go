// Package enginetest tries out what an engine is made of: scripted partners to
// talk to, a recorder for what a Run shows, and a suite that every Generator
// passes.
//
// # One kind of reply
//
// A [Reply] is what the model says to one request. A [Script] gives it by a
// method call, a [Server] over HTTP, so that one table can drive both. What
// only makes sense on a wire (a broken connection, a status) is a Reply that a
// Script refuses to give.
//
// # Nothing is shared
//
// Whatever a partner hands out is a copy of its own, which the receiver may
// change; whatever it keeps of a request is a copy too.
package enginetest
