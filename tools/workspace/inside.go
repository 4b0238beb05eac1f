package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// caseless tells that file names differing in case name the same file.
const caseless = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// An OutsideError is an attempt to touch what is not in the workspace.
type OutsideError struct {
	Path  string   // absolute
	Roots []string // what would have been allowed
	Temp  string
}

// Error says what was attempted and what would have been allowed.
func (e *OutsideError) Error() string {
	s := fmt.Sprintf("Path not in workspace: Attempted path %s resolves outside the allowed workspace directories: %s",
		`"`+e.Path+`"`, strings.Join(e.Roots, ", "))
	if e.Temp != "" {
		s += " or the project temp directory: " + e.Temp
	}
	return s
}

// Resolve returns the absolute path that name stands for. A relative name is
// taken from the working directory. NUL bytes are dropped, and so is a leading
// @ unless there is such a file. The file need not exist. The error is an
// [*OutsideError] if the file would not be in the workspace.
func (w *Workspace) Resolve(name string) (string, error) {
	name = strings.ReplaceAll(name, "\x00", "")
	path := w.abs(name)
	if bare, ok := strings.CutPrefix(name, "@"); ok {
		if _, err := w.Lstat(path); err != nil {
			path = w.abs(bare)
		}
	}
	if _, err := w.real(path); err != nil {
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
	_, err := w.real(path)
	return err == nil
}

// real returns where path leads when all symbolic links are followed, if that
// is in the workspace.
func (w *Workspace) real(path string) (string, error) {
	outside := &OutsideError{Path: path, Roots: w.Roots(), Temp: w.temp}
	real, err := follow(path)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errLoop) {
		// Where it leads can't be known. If it is named inside, the caller
		// is better told why it can't be opened.
		if w.holds(path) {
			return "", err
		}
		return "", outside
	}
	if err != nil {
		return "", err
	}
	if w.temp != "" {
		if _, ok := below(w.temp, real); ok {
			return real, nil
		}
	}
	if !w.holds(real) || !w.plain(path) {
		return "", outside
	}
	return real, nil
}

// holds reports whether path, links aside, lies in a root and has no withheld
// name below it.
func (w *Workspace) holds(path string) bool {
	for _, root := range w.Roots() {
		if rel, ok := below(root, path); ok && !withheldIn(rel) {
			return true
		}
	}
	return false
}

// plain reports whether the spelling of path goes through no withheld name.
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
		if Withheld(part) {
			return true
		}
	}
	return false
}

func isSeparator(r rune) bool { return r == '/' || r == filepath.Separator }

// Withheld reports whether files and directories called name are kept from the
// tools wherever they lie in a root.
func Withheld(name string) bool {
	if len(name) < 4 { // most names are decided by their first byte
		return false
	}
	switch name[0] {
	case '.', 'n', 'N', 'g', 'G', 'e', 'E':
	default:
		return false
	}
	name = strings.ToLower(name)
	if runtime.GOOS == "windows" {
		name = strings.TrimRight(name, ". ")
		name, _, _ = strings.Cut(name, ":")
		for _, short := range []string{"git~", "env~", "node_m~", "gha-cr~"} {
			if strings.HasPrefix(name, short) {
				return true
			}
		}
	}
	switch name {
	case ".git", ".env", "node_modules":
		return true
	}
	return strings.HasPrefix(name, "gha-creds-") && strings.HasSuffix(name, ".json")
}

var errLoop = errors.New("too many levels of symbolic links")

// follow returns where the absolute path leads when all symbolic links are
// followed. What does not exist is taken as named, so that a link to a missing
// file leads to the missing file.
func follow(path string) (string, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	volume := filepath.VolumeName(path)
	done := volume + string(filepath.Separator)
	todo := strings.Split(filepath.Clean(path)[len(volume):], string(filepath.Separator))
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..": // of a link's target; done has no links
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, part)
		info, err := os.Lstat(next)
		if err != nil && !missing(err) {
			return "", err
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > 100 {
			return "", &fs.PathError{Op: "open", Path: path, Err: errLoop}
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			v := filepath.VolumeName(target)
			done = v + string(filepath.Separator)
			target = target[len(v):]
		}
		todo = append(strings.FieldsFunc(target, isSeparator), todo...)
	}
	return done, nil
}
