// Package compress keeps a conversation within the model's context. It moves old outputs of tools
// into files and leaves a preview of each, and it has a model write a snapshot that replaces the
// oldest messages. A first caller makes a [Compressor] with [New] and gives it to an engine as
// its Context.
//
// # Nothing is lost
//
// An output that is taken out of a conversation is in a file first, which the model can
// read. Where a snapshot can't be had, or is no shorter, the conversation stays.
//
// # Nothing is changed
//
// The given messages stay as they are; their replacements share unchanged parts with them.
//
// # A snapshot is a report
//
// A snapshot is made from contents of files, pages and programs. It is therefore marked as a
// report, and its whole text is inside the marks.
//
// # Sent content is not changed
//
// The last call that sets a standing text, such as the list of tasks, stays behind the
// snapshot unchanged, so that a resumed session finds it, too.
//
// # Not again and again
//
// After an attempt, however it ended, the next one waits until the conversation has grown.
// An attempt asks three times at most, and takes five minutes at most.
package compress
