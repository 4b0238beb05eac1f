package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gemline/engine/disk"
)

// names returns the names of context files without duplicates, and the invalid file names.
func (c Config) names() (good, bad []string) {
	return usable(append(slices.Clone(c.Names), DefaultName))
}

// markers returns the valid boundary markers, and the invalid markers.
func (c Config) markers() (good, bad []string) {
	if c.Markers == nil {
		return []string{".git"}, nil
	}
	return usable(c.Markers)
}

// usable returns the names that stay below a directory, without duplicates, and the names that do
// not.
func usable(names []string) (good, bad []string) {
	for _, n := range names {
		switch n = strings.TrimSpace(n); {
		case n == "" || slices.Contains(good, n):
		case plain(n):
			good = append(good, n)
		default:
			bad = append(bad, n)
		}
	}
	return good, bad
}

// plain reports whether name, relative to a directory, stays below it.
func plain(name string) bool {
	return filepath.IsLocal(name) && filepath.Clean(name) != "." && !strings.Contains(name, "\x00")
}

// ceiling returns the first directory from dir upward with a marker, and dir if there is none.
func ceiling(dir string, markers []string) string {
	for at := range disk.Upward(dir) {
		if slices.ContainsFunc(markers, func(name string) bool {
			_, err := os.Lstat(filepath.Join(at, name))
			return err == nil
		}) {
			return at
		}
	}
	return dir
}

// Upward returns a directory and its parents, up to the first directory with a marker; without a
// marker, the directory alone.
func Upward(dir string, markers []string) []string {
	good, _ := usable(markers)
	return upward(dir, ceiling(dir, good))
}

// upward returns the directories from dir up to top, which contains it.
func upward(dir, top string) (dirs []string) {
	for at := range disk.Upward(dir) {
		if dirs = append(dirs, at); at == top {
			break
		}
	}
	return dirs
}

// innermost returns the longest of roots that contains dir, or "".
func innermost(roots []string, dir string) string {
	best := ""
	for _, root := range roots {
		if dir != "" && len(root) > len(best) && disk.Inside(root, dir) {
			best = root
		}
	}
	return best
}

// place returns the resolved path and its directory: path itself, if it is a directory, or else
// its parent. Both are empty if path does not exist.
func place(path string) (real, dir string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", ""
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return "", ""
	case info.IsDir():
		return real, real
	}
	return real, filepath.Dir(real)
}

// outer sorts directories, parents before their subdirectories, and drops duplicates.
func outer(dirs []string) []string {
	parts := func(dir string) []string { return strings.Split(filepath.Clean(dir), string(filepath.Separator)) }
	dirs = slices.Clone(dirs)
	slices.SortFunc(dirs, func(a, b string) int { return slices.Compare(parts(a), parts(b)) })
	return slices.Compact(dirs)
}

func sameDirectory(a, b string) bool {
	ia, erra := os.Stat(a)
	ib, errb := os.Stat(b)
	return erra == nil && errb == nil && os.SameFile(ia, ib)
}

// oneLiner returns path in a form for a line of text: a name may contain any character, even line
// ends.
func oneLiner(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return strconv.Quote(path)
	}
	return path
}

// framed returns the files of a tier in the form for the model.
func framed(files []File, tier Tier) string {
	var blocks []string
	for _, f := range files {
		if f.Tier == tier {
			blocks = append(blocks, fmt.Sprintf("--- Context from: %s ---\n%s\n--- End of Context from: %[1]s ---", oneLiner(f.Path), f.Text))
		}
	}
	return strings.Join(blocks, "\n\n")
}

// contents groups files by their place in the conversation.
func contents(files []File) Contents {
	c := Contents{Global: framed(files, Global), Extension: framed(files, Extension),
		Project: framed(files, Project), Files: slices.Clone(files)}
	for _, f := range files {
		if f.Tier == Private {
			c.Private = f.Text
		}
	}
	return c
}
