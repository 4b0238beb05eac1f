package checkpoint

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// A Version is a file, a link or a directory as it was. The zero Version means that nothing was
// there. Of a directory only the mode counts.
type Version struct {
	Mode fs.FileMode
	Sum  Sum
}

// Exists reports whether something was there.
func (v Version) Exists() bool { return v != Version{} }

// dir reports whether it was a directory, and file whether it was anything else.
func (v Version) dir() bool  { return v.Mode.IsDir() }
func (v Version) file() bool { return v.Exists() && !v.dir() }

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
