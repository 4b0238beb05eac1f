// Package attach lets further terminals of the same user look at a session, answer its
// questions and send prompts, over a Unix socket of the session's own. There is no server:
// the socket ends with the session.
//
// # Text and labels
//
// What goes to a listener is what the session's terminal shows, as [output.ShowCopy]
// takes it: the listener shows it by a Writer of its own, so that it is safe on every
// terminal. Prompts and questions are messages beside it.
//
// # The first answer counts
//
// Every question and every prompt has a number. An answer names the one that it is to, and
// counts while that is open; nothing that was sent before a question was shown answers it.
// Whoever comes late is told, and by whom it was answered.
//
// # Nobody is waited for
//
// A session never waits for a listener. What waits to be sent to one is bounded, and one
// that does not read is dropped, which the session says.
//
// # The same user
//
// The socket is in a directory that only the user can enter, and whoever comes is asked of
// the kernel: another user is refused.
package attach
