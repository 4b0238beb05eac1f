// Package ide is the client of an editor's companion: a server of the Model Context
// Protocol in the editor, which says what the user has open there and shows changes to
// be accepted.
//
// # Nobody waits for an editor
//
// A [Client] does nothing until it is started, and connects in the background, for a
// bounded time. Without a companion, or if it does not answer, gemline works without the
// editor and tells so in one line.
//
// # Only the user's own editor
//
// A companion is found by the environment, or by a file that belongs to the user and that
// nobody else can write, of a process that gemline runs below. It is used if one of its
// folders holds the working directory. Its messages are data: paths, positions, and the
// user's selection, all bounded.
//
// # The first answer counts
//
// A proposed change is open in both places. [Client.Approver] wraps the terminal's
// Approver: the first answer counts, and the other question is withdrawn. The text accepted
// in the editor is written, after the policy has judged it again like every edit by the
// user.
package ide
