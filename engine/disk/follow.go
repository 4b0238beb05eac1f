package disk

import (
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Inside reports whether path is dir or lies below it. It compares the text of both, which must
// be clean, and follows no link. No path is inside of "".
func Inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return dir != "" && err == nil && filepath.IsLocal(rel)
}

// Within reports whether path is one of dirs or lies below it. Neither may contain links.
func Within(dirs []string, path string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return Inside(dir, path) })
}

// InsideAny reports whether path, which has no links, is one of dirs or lies below it, with links
// in dirs resolved.
func InsideAny(dirs []string, path string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return dir != "" && Inside(ResolveLinks(dir), path) })
}

// Upward yields path and the directories above it.
func Upward(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for up := filepath.Dir(path); yield(path) && up != path; path, up = up, filepath.Dir(up) {
		}
	}
}

// Absolute returns the absolute form of a user's path: ~ stands for home, unless home is "", and
// a relative path starts at dir.
func Absolute(path, dir, home string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path
}

// mostLinks is how many links of a path are followed: more than any system follows.
const mostLinks = 255

// ResolveLinks resolves the symbolic links of path, even links to files that do not exist yet.
// The path stays unresolved from a cycle of links on.
func ResolveLinks(path string) string {
	if runtime.GOOS == "windows" { // where names have short forms, too
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
	}
	return follow(path, func(string) {})
}

// ResolveParent resolves the symbolic links on the way to path, but not path itself.
func ResolveParent(path string) string {
	return filepath.Join(ResolveLinks(filepath.Dir(path)), filepath.Base(path))
}

// Way returns the links on the way to the target of path, each in its real directory, and last
// the target.
func Way(path string) (places []string) {
	real := follow(path, func(link string) { places = append(places, link) })
	return append(places, real)
}

// mostLeads is how many directory entries [LinkTargets] reads, and leadDepth their maximum depth.
const (
	mostLeads = 2000
	leadDepth = 3
)

// LinkTargets follows the links at path and a few levels below it. It returns the places on the
// way: each further link, and the final targets. A link to a directory that contains path is
// skipped.
func LinkTargets(path string) (places []string) {
	path = ResolveParent(path)
	left := mostLeads
	var visit func(at string, depth int)
	visit = func(at string, depth int) {
		real := follow(at, func(link string) {
			if link != at && !Inside(link, path) {
				places = append(places, link)
			}
		})
		if real != at {
			if Inside(real, path) {
				return
			}
			places = append(places, real)
		}
		if depth == 0 || left <= 0 {
			return
		}
		entries, _ := os.ReadDir(real) // a file has none
		for _, e := range entries {
			if left--; left >= 0 && (e.IsDir() || e.Type()&os.ModeSymlink != 0) {
				visit(filepath.Join(real, e.Name()), depth-1)
			}
		}
	}
	visit(path, leadDepth)
	slices.Sort(places)
	return slices.Compact(places)
}

// mostTwins is how many files [HardLinks] checks.
const mostTwins = 200_000

// HardLinks returns, on Linux, the further hard links below roots of the files at or below paths:
// a program that writes to such a link writes to the file.
func HardLinks(paths, roots []string) (twins []string) {
	left, files := mostTwins, map[Stat]bool{}
	visit := func(top string, see func(path string, file Stat)) {
		filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			if left--; left < 0 {
				return fs.SkipAll
			}
			if err != nil || !e.Type().IsRegular() { // configuration that can't be read has no effect
				return nil
			}
			if info, err := e.Info(); err == nil && LinkCount(info) > 1 {
				see(path, StatOf(info))
			}
			return nil
		})
	}
	for _, path := range paths {
		visit(path, func(_ string, file Stat) { files[file] = true })
	}
	for _, root := range roots {
		if len(files) == 0 {
			break
		}
		visit(root, func(path string, file Stat) {
			if files[file] && !InsideAny(paths, path) {
				twins = append(twins, path)
			}
		})
	}
	slices.Sort(twins)
	return slices.Compact(twins)
}

// follow follows links as [ResolveLinks] does, and calls visit with each.
func follow(path string, visit func(link string)) string {
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
		at, rest = filepath.Join(at, rest[0]), rest[1:] // .. leads up from a link's target
		to, err := os.Readlink(at)
		if err != nil || links == mostLinks {
			continue
		}
		links++
		visit(at)
		top, more := split(to)
		if at = up; filepath.IsAbs(to) {
			at = top
		}
		rest = slices.Concat(more, rest)
	}
	return at
}
