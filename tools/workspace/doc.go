// Package workspace decides which files may be accessed and which are ignored, and reads and
// writes them without losing a byte. A first caller makes a [Workspace] with [New].
//
// # Access stays inside the roots
//
// Every path goes through [Workspace.Resolve], and again through the same
// check when the file is opened: with all symbolic links followed it lies in
// a root or in the temporary directory, and no part of it below the root is a
// name that holds secrets, history or other people's code.
//
// # Unedited bytes are preserved
//
// A text is read with its [Format] and written back in it, so that an unedited text results
// in the same bytes. If that is impossible, writing is refused.
//
// # Atomic writes
//
// A file is replaced at once or not at all. After a failure, the old file is unchanged, and
// no temporary file remains.
//
// # Overlays
//
// With an [Overlay], writes do not change the disk. The Workspace shows the files as if they
// were written.
package workspace
