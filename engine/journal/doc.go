// Package journal stores conversations in session files. A first caller calls [Open], which
// begins or resumes a session, and gives the [File] to an engine as its journal. [List] and
// [Load] read sessions.
//
// The files have the place and the format of the Gemini CLI's, so that each program lists and
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
// The format has the outcome of a call twice: beside the call and as a message of the user.
// [Load] takes the message, and the outcome beside the call only if there is no message. Every
// call in a loaded history has exactly one answer.
//
// # Exact
//
// A message of the model that is more than plain text also has the field parts, which other
// programs ignore: the parts as the API sent them, with their signatures. [Load] returns exactly
// what [File] recorded.
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
// The search for the last session reads only the first lines of the other files, if these
// suffice.
package journal
