// Package ide is the client of an editor's companion: a server of the Model Context
// Protocol in the editor, which says what the user has open there and shows changes to
// be accepted.
//
// # Nobody waits for an editor
//
// A [Client] does nothing until it is started, and connects in the background, for a
// bounded time. Where there is no companion, or one that does not answer, everything goes
// on as without it, and one line says so.
//
// # Only the user's own editor
//
// A companion is found by the environment, or by a file that belongs to the user and that
// nobody else can write, of a process that gemline runs below. It is used if one of its
// folders holds the directory that is worked in. What it says is data: paths, positions,
// and the text that the user has selected, all bounded.
//
// # The first answer counts
//
// A change that is asked about is open in both places. [Client.Approver] wraps who asks at
// the terminal: what is answered first counts, and the other question is taken back. The
// text that was accepted in the editor is what is written; it is judged again, as what a
// user has edited is.
package ide
