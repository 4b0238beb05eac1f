package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
)

// caseless says that file names ignore case.
const caseless = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// folded normalises name for comparison.
func folded(name string) string {
	if caseless {
		return strings.ToLower(name)
	}
	return name
}

// An OutsideError is an attempt to access a path outside of the workspace.
type OutsideError struct {
	Path  string   // absolute
	Roots []string // the allowed directories
	Temp  string
}

// Error names the path and the allowed directories.
func (e *OutsideError) Error() string {
	s := fmt.Sprintf("Path not in workspace: Attempted path %s resolves outside the allowed workspace directories: %s",
		`"`+e.Path+`"`, strings.Join(e.Roots, ", "))
	if e.Temp != "" {
		s += " or the project temp directory: " + e.Temp
	}
	return s
}

// Summary describes the attempt for the user.
func (e *OutsideError) Summary() string {
	for _, root := range e.Roots {
		if rel, ok := below(root, e.Path); ok && withheldIn(rel) {
			return "the tools do not see it, nor .git and node_modules"
		}
	}
	return "it is outside of the folders that this session works in"
}

// Resolve returns the absolute path of name. A relative name is relative to the working
// directory. NUL bytes are dropped, and so is a leading @ unless there is such a file. The
// file need not exist. The error is an [*OutsideError] if the file is outside of the
// workspace.
func (w *Workspace) Resolve(name string) (string, error) {
	name = strings.ReplaceAll(name, "\x00", "")
	path := w.abs(name)
	if bare, ok := strings.CutPrefix(name, "@"); ok {
		if _, err := w.Lstat(path); err != nil {
			path = w.abs(bare)
		}
	}
	if _, err := w.Locate(path); err != nil {
		return path, err
	}
	return path, nil
}

func (w *Workspace) abs(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(w.Roots()[0], name)
}

// Contains reports whether the absolute path lies in the workspace and may be
// touched.
func (w *Workspace) Contains(path string) bool {
	_, err := w.Locate(path)
	return err == nil
}

// locate is [Workspace.Locate] for one attempt: if links in path change meanwhile, the error
// is [disk.ErrLink].
func (w *Workspace) locate(path string) (ResolvedPath, error) {
	outside := &OutsideError{Path: path, Roots: w.Roots(), Temp: w.dirs.temp}
	allowed := func(rel string) bool { return !withheldIn(rel) }
	real, err := w.dirs.follow(path)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errLoop) {
		// The target is unknown. If the path itself is inside, the reason why it can't be
		// opened is the better error.
		if dir, _ := w.dirs.rootOf(path, allowed); dir != nil {
			return ResolvedPath{}, err
		}
		return ResolvedPath{}, outside
	}
	if err != nil {
		return ResolvedPath{}, err
	}
	if w.dirs.temp != "" {
		if rel, ok := below(w.dirs.temp, real); ok {
			return ResolvedPath{w: w, dir: w.dirs.tempDir(), rel: rel, real: real, name: path}, nil
		}
	}
	if w.dirs.file != "" && real == w.dirs.file {
		if dir := w.dirs.dirOfFile(); dir != nil {
			return ResolvedPath{w: w, dir: dir, rel: filepath.Base(real), real: real, name: path}, nil
		}
	}
	if dir, rel := w.dirs.rootOf(real, allowed); dir != nil && w.plain(path) {
		return ResolvedPath{w: w, dir: dir, rel: rel, real: real, name: path}, nil
	}
	if dir, rel := w.dirs.lentAt(real); dir != nil {
		return ResolvedPath{w: w, dir: dir, rel: rel, real: real, name: path, readOnly: true}, nil
	}
	return ResolvedPath{}, outside
}

// plain reports whether path contains no withheld name.
func (w *Workspace) plain(path string) bool {
	for _, root := range w.Roots() {
		if rel, ok := below(root, path); ok {
			return !withheldIn(rel)
		}
	}
	return true
}

func withheldIn(rel string) bool {
	for part := range strings.FieldsFuncSeq(rel, isSeparator) {
		if IsWithheld(part) {
			return true
		}
	}
	return false
}

func isSeparator(r rune) bool { return r == '/' || r == filepath.Separator }

// IsWithheld reports whether files and directories called name are withheld from the tools
// everywhere in a root. It includes all spellings that some file system treats as the same
// name.
func IsWithheld(name string) bool {
	if !suspect(name) {
		return false
	}
	name = disk.FoldName(name)
	return disk.SameFoldedName(name, ".git") || disk.SameFoldedName(name, "node_modules")
}

// suspect reports whether name may be withheld. Most names are decided by
// their first byte.
func suspect(name string) bool {
	if len(name) < 4 {
		return false
	}
	switch name[0] {
	case '.', 'n', 'N', 'g', 'G':
		return true
	}
	return !text.IsASCII(name)
}
