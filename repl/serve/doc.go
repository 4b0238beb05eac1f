// Package serve is what front ends share that serve other programs: conversations that are
// begun for a client, and HTTP for programs on this machine.
//
// # The client speaks for its user, what it says does not
//
// A prompt may have been written by a model. So no command and no reference in it means
// anything, and nothing that is allowed is kept for longer than the conversation.
//
// # Nobody comes in unasked
//
// A server listens at this machine's own address, under no other name, and answers those who
// have the token that it printed when it began.
package serve
