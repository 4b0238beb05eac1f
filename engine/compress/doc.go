// Package compress keeps a conversation within the model's context. It moves old outputs of tools
// into files and leaves a preview of each, and it has a model write a snapshot that replaces the
// oldest messages. A first caller makes a [Compressor] with [New] and gives it to an engine as
// its Context.
//
// # Nothing is lost
//
// An output is removed from a conversation only after it is in a file that the model can read. If
// no snapshot can be made, or it is no shorter, the conversation stays unchanged.
//
// # Messages are immutable
//
// The given messages stay as they are; their replacements share unchanged parts with them.
//
// # A snapshot is a report
//
// A snapshot is made from contents of files, pages and programs. It is therefore marked as a
// report, and its whole text is inside the marks.
//
// # Pinned calls stay unchanged
//
// The last call that sets a pinned result, such as the list of tasks, follows the snapshot
// unchanged, so that a resumed session finds it, too.
//
// # Attempts are limited
//
// After an attempt, even if it failed, the next waits until the conversation has grown. An
// attempt makes at most three requests and takes at most five minutes.
package compress
