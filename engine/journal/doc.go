// Package journal stores conversations in session files. A first caller calls [Open], which
// begins or resumes a session, and gives the [File] to an engine as its journal. [List] and
// [Load] read sessions.
//
// The files have the place and the form of the Gemini CLI's, so that each program lists and
// resumes the sessions of the other.
//
// # Only appended to
//
// A session file grows by whole lines and is never rewritten or shortened, and
// only [Storage.Remove] deletes one. A correction is a line too: a message replaces an earlier
// one with the same id, a rewind drops a message and all later ones, and a list of messages
// replaces all. A reader skips lines that it can't parse.
//
// # One source
//
// The form holds the outcome of a call twice: beside the call and as a message
// of the user. [Load] believes the message and looks beside the call only for
// what no message says, so nothing is doubled. Every call in a loaded history
// has exactly one answer.
//
// # Exact
//
// A message of the model that is more than plain text also has the field
// parts, which other programs ignore: the parts as the API sent them, with
// their signatures. What [File] recorded is what [Load] returns.
//
// # One writer
//
// A process that records a session holds a lock on it, and no other process of this program can
// resume it meanwhile.
//
// # Line by line
//
// encoding/json decodes each line alone, several lines at the same time. A list decodes the head
// and the tail of a long file, and between them the lines that change the name or drop messages.
// To find the last session, the first lines of the other files are enough where they show that
// another session is the last.
package journal
