// Package serve has the common parts of front ends that serve other programs: a [Session] is a
// conversation for a client, and [HTTP] serves programs on this machine.
//
// # A client's prompt gives no rights
//
// A prompt may have been written by a model. So commands and references in it have no effect, and
// no grant lasts longer than the conversation.
//
// # Only clients with the token have access
//
// A server listens on the loopback address, refuses other host names, and answers only clients with
// the token that it printed at its start.
package serve
