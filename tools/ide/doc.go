// Package ide is the client of an editor's companion: an MCP server in the editor, which
// reports the open files and shows changes for approval.
//
// # The editor never blocks gemline
//
// A [Client] does nothing until it is started, and connects in the background, for a bounded
// time. Without a companion, or if it does not answer, gemline works without the editor and
// reports that in one line.
//
// # Only the user's own editor
//
// A companion is found by the environment, or by a file of an ancestor process that belongs
// to the user and is writable only by the user. It is used if one of its folders contains
// the working directory. Its messages are data: paths, positions, and the user's selection,
// all bounded.
//
// # The first answer counts
//
// A proposed change is open in both places. [Client.Approver] wraps the terminal's
// Approver: the first answer counts, and the other question is withdrawn. The text accepted
// in the editor is written, after the policy has judged it again like every edit by the
// user.
package ide
