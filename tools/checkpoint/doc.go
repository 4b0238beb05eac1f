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
// # A state is a zip file
//
// It holds contents that no other one has, by their SHA-256, and a manifest: what
// differs from the state before, of the first one all. It is written once, synced once
// and renamed once, and then a file with the session's name is, which says that it is
// the last one. So a reader sees all of a state or nothing, and a content that the disk
// has spoilt is an error. Whoever adds states holds the store's lock meanwhile, several
// at once; who collects is alone.
//
// # The user's repository is only read
//
// HEAD, branches and the index stay as they are, also when something is taken back. Git
// says what they are, with hooks and monitors switched off. A store may be anybody's: it is
// reached through no link, all sizes have bounds, and a path that leads out of what is worked
// in is not touched.
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
