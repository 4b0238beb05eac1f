package tools

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

// made are empty files, by their paths, that were made for a command which was
// given the right to write to them: what is not there can't be opened to it.
type made map[string]fs.FileInfo

// make makes those of the files that c may write to which it is to make. What
// fails, the command tells.
func (c shellCall) make() made {
	files := made{}
	for _, path := range c.rights.Write {
		if at, ok := sandbox.Writable(path); !ok || !c.makes(path, at) {
			continue
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // less the umask, as the command would
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

// files returns the files, without links, that the command is certain to open,
// and to make if they are not there.
func (c shellCall) files() (paths []string) {
	for _, path := range c.read.Opens {
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.dir, path)
		}
		if path = resolved(filepath.Clean(path)); !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// makes reports whether the command is to make the file path in the directory
// at. Then the right to write to it is enough, and nothing else there is opened.
func (c shellCall) makes(path, at string) bool {
	return at == filepath.Dir(path) && at != path && slices.Contains(c.files(), path)
}
