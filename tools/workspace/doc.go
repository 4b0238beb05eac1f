// Package workspace knows which files may be touched, which are to be passed over, and how to
// read and write them without losing a byte. A first caller makes a [Workspace] with [New].
//
// # Inside
//
// Every path goes through [Workspace.Resolve], and again through the same
// check when the file is opened: with all symbolic links followed it lies in
// a root or in the temporary directory, and no part of it below the root is a
// name that holds secrets, history or other people's code.
//
// # Bytes
//
// A text is read with its [Format], by which it is written back, and an
// unedited text comes out as the bytes it came from. Where that can't be
// promised, writing is refused.
//
// # Whole files
//
// A file is replaced at once or not at all. Whatever fails, the old file is
// there as before and nothing else is.
//
// # Nothing at all
//
// With an [Overlay] nothing on the disk changes. The Workspace shows the files as the writes
// would have left them.
package workspace
