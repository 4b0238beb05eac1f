package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Writable returns path, or its nearest existing parent, and whether this process could
// write there: no Profile gives a command more rights than its user. Anything but files and
// directories counts as not writable.
func Writable(path string) (at string, ok bool) {
	info, err := os.Lstat(path)
	for errors.Is(err, os.ErrNotExist) && path != filepath.Dir(path) {
		path = filepath.Dir(path)
		info, err = os.Lstat(path)
	}
	for _, dir := range []string{"/dev", "/proc", "/sys"} {
		if path == dir || strings.HasPrefix(path, dir+"/") {
			return path, false
		}
	}
	return path, err == nil && (info.IsDir() || info.Mode().IsRegular()) && mayWrite(path)
}

// Readable reports whether path exists and is readable for this process.
func Readable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (info.IsDir() || info.Mode().IsRegular()) && mayRead(path)
}
