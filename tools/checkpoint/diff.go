package checkpoint

import (
	"io/fs"
	"path/filepath"
	"strings"

	"gemline/tools/edit"
)

// A Version is the state of a file, a link or a directory. The zero Version means that there
// was none. A directory has only a mode.
type Version struct {
	Mode fs.FileMode
	Sum  Sum
}

// Exists reports whether there was a file, a link or a directory.
func (v Version) Exists() bool { return v != Version{} }

// dir reports whether v is a directory; file, whether it is a file or a link.
func (v Version) dir() bool  { return v.Mode.IsDir() }
func (v Version) file() bool { return v.Exists() && !v.dir() }

// git returns the mode of a file or a link in git, "" for others.
func (v Version) git() string { return map[bool]string{true: edit.GitMode(v.Mode)}[v.file()] }

// A Change is the change of one path.
type Change struct {
	Path          string
	Before, After Version
	size, time    int64 // of the file on the disk, the time in nanoseconds since 1970
}

// ofFile reports whether a file was made, changed or deleted.
func (c Change) ofFile() bool { return c.Before != c.After && (c.Before.file() || c.After.file()) }

// comparePaths sorts a directory before its entries.
func comparePaths(a, b string) int {
	const sep = string(filepath.Separator)
	return strings.Compare(strings.ReplaceAll(a, sep, "\x00"), strings.ReplaceAll(b, sep, "\x00"))
}
