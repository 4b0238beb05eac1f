// Package attach connects further terminals of the same user to a session. They show the session,
// answer its questions and send prompts, over a Unix socket of the session. There is no server: the
// socket ends with the session. A session makes a [Hub] with [NewHub]; a listener connects with
// [Dial].
//
// # Text and labels
//
// A listener gets the output of the session's terminal, in the form for [output.ShowCopy]. It
// prints the output with its own Writer, so that the output is safe on every terminal. Prompts and
// questions are separate messages.
//
// # The first answer counts
//
// Every question and every prompt has a number. An answer has the number of its question, and
// counts while the question is open. So a line that was sent before a question can't answer it. A
// late answer gets a message that names the terminal of the first.
//
// # A session waits for no listener
//
// The queue of a listener is bounded. A listener that does not read is disconnected, with a warning
// in the session.
//
// # The same user
//
// The socket is in a directory that only the user can enter, and the session asks the kernel for
// the user of each connection: another user is refused.
package attach
