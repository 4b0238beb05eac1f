// Package serve has the common parts of front ends that serve other programs: a [Session] is a
// conversation for a client, and [HTTP] serves programs on this machine.
//
// # The client speaks for its user, the model's text does not
//
// A prompt may have been written by a model. So no command and no reference in it means
// anything, and nothing that is allowed is kept for longer than the conversation.
//
// # Nobody comes in unasked
//
// A server listens at this machine's own address, under no other name, and answers only clients
// with the token that it printed when it began.
package serve
