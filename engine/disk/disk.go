// Package disk is how gemline touches the file system: it reads or replaces a
// file as a whole, reaches what lies below an open directory, and knows who may
// have written one and which names may name one file. A first caller reads with [Read], writes
// with [Replace], and opens a directory that others may change with [OpenDir].
//
// # A file is the old one or the new one
//
// Whoever reads a file that is written by [Ledger.Create] finds the old content or the
// new one, whatever fails or is killed meanwhile. The new one is written beside
// the old one, flushed to the disk and renamed.
//
// # The file that was checked is the file that is used
//
// Who may touch which file is judged by its name. Somebody else may rename
// directories, or put symbolic links in their place, while that is decided. So
// a name is judged first, with its links followed, and is then reached from a
// [Dir] element by element, none of which may be a link by then. If one is, the
// error is [ErrLink], and there is another name to be judged. A Dir stays the
// directory that was opened, wherever that is moved to.
//
// # A name is guarded under all of its spellings
//
// To some file systems names are the same that differ in case, in how their
// characters are composed, in characters nobody sees, or in dots and blanks at
// the end; to some, a file has a short name beside its own. [SameName] knows
// them on every system: a directory of another system may be mounted anywhere.
// Nothing here decodes what no file system decodes, such as %2e.
package disk
