// Package checkpoint records files before and after calls change them, so that the changes can be
// undone: by turns, by calls, or file by file. A first caller makes a [Keeper] with [New] and
// runs calls through it.
//
// # Before and after
//
// A [Keeper] scans the files before and after each call that may change some. The differences are
// changes of the call; differences between two calls are changes of others, such as the user. So
// a turn can be undone without undoing what the user has changed meanwhile. For an edit only the
// files that it names are scanned, for a command the whole workspace.
//
// # A state is a zip file
//
// It holds the contents that no earlier state has, by their SHA-256, and a manifest: the
// differences from the state before, in the first state all files. It is written, synced and
// renamed once. Then the session's file, which names its last state, is replaced in the same
// way. So a reader sees a whole state or none, and corrupt content is an error. Sessions
// that add states share the store's lock; the collector holds it alone.
//
// # The user's repository is only read
//
// HEAD, branches and the index stay as they are, also in an undo. Git reports them, with
// hooks and monitors switched off. The store is not trusted: no link is followed to it, all
// sizes are bounded, and paths outside of the workspace are not touched.
//
// # Files that are not stored are listed
//
// The contents of ignored files, very large files, sockets and the like are not stored. The
// record of a command lists those that it changed, and whether it moved HEAD, a branch or
// the index.
//
// # An undo can be undone
//
// The state before an undo is stored first. A file that others have changed since the calls
// stays, unless the user chooses to overwrite it. Files are written under temporary names
// and renamed, one by one.
package checkpoint
