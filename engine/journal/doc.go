// Package journal keeps conversations in session files: it appends what is
// said while it is said, lists what was kept, and gives a conversation back.
//
// The files have the place and the form of the Gemini CLI's, so that either
// program lists and continues the sessions of the other.
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
// A process that records a session holds a lock on it, and no other of this
// program goes on with it meanwhile.
//
// # Line by line
//
// A line is decoded by itself, by encoding/json; several are at the same time. A list decodes
// the head and the tail of a long file, and between them the lines that change the name or
// drop messages. To resume the last session, only the first lines of the others are read,
// where these tell which one was the last.
package journal
