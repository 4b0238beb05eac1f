package safe

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/secret"
)

// path says what keeps the file called name from being shown, for whatever
// directory the command may run in.
func (j *judge) path(name string) string {
	if climbs(name) {
		return "the path has .. in it: " + brief(name)
	}
	for _, dir := range j.dirs {
		at := name
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		at = filepath.Clean(at)
		real := j.resolve(at)
		if public(real) && (public(at) || j.inside(at)) {
			continue
		}
		rel, ok := j.below(real)
		if !ok {
			return "it reads outside of the project: " + brief(name)
		}
		spelled, _ := j.below(at)
		if hidden(rel) || hidden(spelled) {
			return "it reads what may hold secrets: " + brief(name)
		}
	}
	return ""
}

// climbs reports whether a path goes up behind a name: where that leads
// depends on links, and on who follows them.
func climbs(name string) bool {
	down := filepath.IsAbs(name)
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "..":
			if down {
				return true
			}
		case part != "" && part != ".":
			down = true
		}
	}
	return false
}

// resolve returns where an absolute path leads. What does not exist leads
// where it is named.
func (j *judge) resolve(path string) string {
	path = filepath.Clean(path)
	if real, ok := j.real[path]; ok {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	real := filepath.Join(j.resolve(dir), filepath.Base(path))
	if info, err := os.Lstat(real); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if to, err := filepath.EvalSymlinks(real); err == nil {
			real = to
		} else {
			real = "/dev/none" // where it leads can't be known
		}
	}
	j.real[path] = real
	return real
}

// inside reports whether a real path lies in a root.
func (j *judge) inside(real string) bool {
	_, ok := j.below(real)
	return ok
}

// below returns path as seen from the root that it lies in.
func (j *judge) below(path string) (string, bool) {
	for _, roots := range [][]string{j.roots, j.Roots} {
		for _, root := range roots {
			if rel, ok := strings.CutPrefix(path+"/", strings.TrimSuffix(root, "/")+"/"); ok {
				return rel, true
			}
		}
	}
	return "", false
}

// straight reports whether no element of a path below its root is a link.
func (j *judge) straight(path string) bool {
	for _, roots := range [][]string{j.Roots, j.roots} {
		for i, root := range roots {
			if rel, ok := strings.CutPrefix(filepath.Clean(path)+"/", strings.TrimSuffix(root, "/")+"/"); ok {
				return j.resolve(path) == filepath.Join(j.roots[i], rel)
			}
		}
	}
	return false
}

// public reports whether a path leads to what every user of the machine may
// read and nobody keeps secrets in.
func public(path string) bool {
	if strings.HasPrefix(path, "/usr/") {
		return !strings.HasPrefix(path, "/usr/local/etc") && !hidden(path)
	}
	return slices.Contains([]string{"/usr", "/dev/null", "/etc/os-release", "/etc/debian_version", "/etc/alpine-release", "/etc/lsb-release",
		"/etc/redhat-release", "/etc/issue", "/etc/shells", "/etc/timezone", "/proc/cpuinfo", "/proc/meminfo", "/proc/loadavg", "/proc/version"}, path)
}

// inner are names of directories that are neither secrets nor anybody's work.
var inner = []string{".git", ".gemini"}

// hidden reports whether an element of a path is named like a secret.
func hidden(path string) bool {
	return secret.Path(path) || slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool {
		return slices.ContainsFunc(inner, func(name string) bool { return strings.EqualFold(name, part) })
	})
}

// patterns are those of the names of what is hidden, for a program that goes
// through directories. Upper and lower case are the same.
var patterns = append(secret.Patterns(), ".[gG][iI][tT]", ".[gG][eE][mM][iI][nN][iI]")

// like reports whether name is as a pattern says, which may end in a star.
func like(pattern, name string) bool {
	rest, ok := strings.CutSuffix(pattern, "*")
	return pattern == name || ok && strings.HasPrefix(name, rest)
}
