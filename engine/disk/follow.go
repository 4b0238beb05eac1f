package disk

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Inside reports whether path is dir or lies below it. It goes by the letters of
// both, which have to be clean, and follows no link. Nothing is inside of "".
func Inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return dir != "" && err == nil && filepath.IsLocal(rel)
}

// InsideAny reports whether path, which holds no link, is one of dirs or lies below
// one, wherever links lead from these.
func InsideAny(dirs []string, path string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return dir != "" && Inside(Follow(dir), path) })
}

// Absolute returns the absolute path that a user means by path: ~ stands for
// the home directory, unless that is "", and what is not absolute begins in dir.
func Absolute(path, dir, home string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path
}

// mostLinks is how many links of a path are followed, as by Linux.
const mostLinks = 40

// Follow returns where path leads by its symbolic links, also by those that lead
// to what is not there yet. Of a path that leads in a circle the rest is left as
// it is.
func Follow(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	split := func(path string) (top string, rest []string) {
		volume := filepath.VolumeName(path)
		if top = "."; filepath.IsAbs(path) {
			top = volume + string(filepath.Separator)
		}
		return top, strings.Split(filepath.ToSlash(path[len(volume):]), "/")
	}
	at, rest := split(path)
	for links := 0; len(rest) > 0; {
		up := at
		at, rest = filepath.Join(at, rest[0]), rest[1:] // .. leads up from where a link has led
		to, err := os.Readlink(at)
		if err != nil || links == mostLinks {
			continue
		}
		links++
		top, more := split(to)
		if at = up; filepath.IsAbs(to) {
			at = top
		}
		rest = slices.Concat(more, rest)
	}
	return at
}
