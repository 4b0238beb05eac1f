package checkpoint

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
)

// A file of the store has a temporary name until Commit. It is a [disk.File], or a test's.
type file interface {
	io.Writer
	Commit(name string) error // syncs the file and renames it
	Discard()
}

// createFile begins a file in an open directory.
func createFile(at *os.Root) (file, error) { return disk.CreatePrivate(at) }

// isUnfinished reports whether a name is that of an uncommitted file.
func isUnfinished(name string) bool { return strings.HasPrefix(name, ".gemline-") }

// write replaces the content of a file of the store by b.
func (r *store) write(dir, name string, b []byte) error {
	f, err := r.create(r.at[dir])
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(b); err != nil {
		return err
	}
	return f.Commit(name)
}

// read returns the content of a file of the store.
func (r *store) read(name string, most int64) ([]byte, error) { return readIn(r.dir, name, most) }

// readIn returns the content of a file in an open directory.
func readIn(d *disk.Dir, name string, most int64) ([]byte, error) {
	f, _, err := d.File(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return disk.ReadOpen(f, most)
}

// isGit reports whether name is .git, in any spelling.
func isGit(name string) bool { return disk.SameName(name, ".git") }

// checkPath returns an error for a path that no file of a project has.
func checkPath(path string) error {
	const most = 32 << 10
	if !filepath.IsAbs(path) || path != filepath.Clean(path) || len(path) > most || strings.Contains(path, "\x00") {
		return fmt.Errorf("%.80q is no path", path)
	}
	if slices.ContainsFunc(parts(path), isGit) {
		return fmt.Errorf("%.80q lies in a repository", path)
	}
	return nil
}

// CanName reports whether a name is valid for a session: it becomes a file name.
func CanName(name string) bool {
	const chars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
	return name != "" && len(name) <= 128 && name[0] != '.' && strings.Trim(name, chars) == ""
}
