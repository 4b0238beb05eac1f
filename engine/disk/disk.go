// Package disk accesses the file system: it reads or replaces whole files, opens files below an
// open directory, and knows who may have written a file and which names may denote the same file.
// A first caller reads with [Read], writes with [Replace], and opens a directory that others may
// change with [OpenDir].
//
// # Replacement is atomic
//
// A reader of a file that is replaced by [Ledger.Create] finds the old or the new content,
// whatever fails or is killed meanwhile. The new content is written to a file beside the old
// file, flushed to the disk and renamed.
//
// # The file that was checked is the file that is used
//
// Access to a file is decided by its name. Meanwhile another program may rename directories, or
// replace them by symbolic links. So a name is checked with its links resolved, and then opened
// from a [Dir] element by element. No element may be a link by then: otherwise the error is
// [ErrLink], and the new name must be checked. A Dir stays the opened directory, even if it is
// moved.
//
// # A name is guarded under all of its spellings
//
// Some file systems ignore case, the composition of characters, invisible characters, or dots and
// blanks at the end; some add short names. [SameName] applies all these rules on every system,
// since a directory of another system may be mounted anywhere. It decodes no escape that no file
// system decodes, such as %2e.
package disk
