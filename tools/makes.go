package tools

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

// made are empty files, by their paths, that were made for a command which was
// given the right to write to them: what is not there can't be opened to it.
type made map[string]fs.FileInfo

// make makes those of the files that c may write to which it is to make, with
// the mode of what it copies there, less the umask, as the command would. What
// fails, the command tells.
func (c shellCall) make() made {
	files := made{}
	for path, mode := range c.files() {
		if !slices.Contains(c.rights.Write, path) || !c.makes(path) {
			continue
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			continue
		}
		if info, err := f.Stat(); err == nil {
			files[path] = info
		}
		f.Close()
	}
	return files
}

// settle removes what a command that failed has left empty.
func (files made) settle(o shell.Outcome) {
	for path, info := range files {
		if now, err := os.Lstat(path); !o.OK() && err == nil && now.Size() == 0 && os.SameFile(now, info) {
			os.Remove(path)
		}
	}
}

// files yields the files, without links, that the command is certain to open,
// and to make if they are not there, and the modes that they get then.
func (c shellCall) files() iter.Seq2[string, fs.FileMode] {
	return func(yield func(string, fs.FileMode) bool) {
		for _, o := range c.read.Opens {
			path, mode := disk.Follow(c.absolute(o.Path)), fs.FileMode(0o666)
			if o.From != "" {
				from := c.absolute(o.From)
				info, err := os.Lstat(from)
				if err != nil || !info.Mode().IsRegular() || info.Mode()&0o200 == 0 { // nobody could open it once it is there
					continue
				}
				mode = info.Mode().Perm()
				if is, err := os.Stat(path); err == nil && is.IsDir() {
					path = disk.Follow(filepath.Join(path, filepath.Base(from)))
				}
			}
			if !yield(path, mode) {
				return
			}
		}
	}
}

// absolute returns path as it is taken by the command.
func (c shellCall) absolute(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.dir, path)
	}
	return filepath.Clean(path)
}

// opens reports whether the command is certain to open the file path.
func (c shellCall) opens(path string) bool {
	for file := range c.files() {
		if file == path {
			return true
		}
	}
	return false
}

// makes reports whether the command is to make the file path. Then the right to
// write to it is enough, and nothing else in its directory is opened.
func (c shellCall) makes(path string) bool {
	at, ok := sandbox.Writable(path)
	return ok && at == filepath.Dir(path) && at != path && c.opens(path)
}

// described returns r with what its paths are.
func (c shellCall) described(r engine.Rights) engine.Rights {
	r.Files, r.Missing = nil, nil
	for _, path := range slices.Concat(r.Read, r.Write) {
		switch info, err := os.Stat(path); {
		case slices.Contains(r.Files, path), slices.Contains(r.Missing, path):
		case err == nil && !info.IsDir(), err != nil && c.makes(path):
			r.Files = append(r.Files, path)
		case errors.Is(err, fs.ErrNotExist):
			r.Missing = append(r.Missing, path)
		}
	}
	return r
}
