// Package checkpoint keeps what files were before calls changed them, so that it
// can be taken back: by turns, by calls, or file by file.
//
// # Before and after
//
// A [Keeper] looks at the files before a call runs that may change some, and when it
// is over. What differs is what the call did; what differs between two calls, others
// did, such as the user. So a turn can be taken back without what the user has
// changed meanwhile. Of an edit only the files that it names are looked at, of a
// command all that the workspace holds.
//
// # Nothing is asked of a program
//
// States are trees of a repository outside of the project, which package shadow
// writes. Nothing is run, and what belongs to the user's repository is only read:
// HEAD, branches and the index stay as they are, also when something is taken back.
//
// # What is not kept is said
//
// Ignored files, very large ones, sockets and the like are looked at and not kept.
// What a command did to them stands in its record, and so does whether it moved
// HEAD, a branch or what is staged.
//
// # Taking back is a change, too
//
// The state before is kept first, so that it can be taken back itself. A file that
// is not as the calls left it is somebody's work: it stays, unless the user says
// otherwise. Files are written beside their names and renamed, one by one.
package checkpoint
