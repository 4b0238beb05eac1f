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
// renamed once; then a file with the session's name is, which names the session's last state. So
// a reader sees a whole state or nothing, and a content that the disk has spoilt is an error.
// Sessions that add states share the store's lock; the collector holds it alone.
//
// # The user's repository is only read
//
// HEAD, branches and the index stay as they are, also when something is taken back. Git
// is asked for them, with hooks and monitors switched off. A store may be anybody's: it is
// reached through no link, all sizes have bounds, and a path that leads out of the directories to
// work in is not touched.
//
// # Files that are not kept are named
//
// Ignored files, very large ones, sockets and the like are looked at and not kept.
// What a command did to them stands in its record, and so does whether it moved
// HEAD, a branch or the index.
//
// # Taking back is a change, too
//
// The state before is kept first, so that it can be taken back itself. A file that
// is not as the calls left it is somebody's work: it stays, unless the user says
// otherwise. Files are written beside their names and renamed, one by one.
package checkpoint
