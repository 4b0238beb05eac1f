// Package attach lets further terminals of the same user look at a session, answer its questions
// and send prompts, over a Unix socket of the session's own. There is no server: the socket ends
// with the session. A session makes a [Hub] with [NewHub]; a listener connects with [Dial].
//
// # Text and labels
//
// What goes to a listener is what the session's terminal shows, as [output.ShowCopy]
// takes it: the listener shows it by a Writer of its own, so that it is safe on every
// terminal. Prompts and questions are messages beside it.
//
// # The first answer counts
//
// Every question and every prompt has a number. An answer has the number of its question, and
// counts while the question is open. Nothing that was sent before a question was shown answers
// it. A late answer gets a message that says who has answered.
//
// # Nobody is waited for
//
// A session never waits for a listener. The queue of a listener is bounded. A listener that does
// not read is dropped, and the session says so.
//
// # The same user
//
// The socket is in a directory that only the user can enter, and whoever comes is asked of
// the kernel: another user is refused.
package attach
