package consent

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/tools/shell/program"
)

// A files collects the project's files that a program starts.
type files struct {
	roots []string // the directories that a model may write to, without links, the project first
	dirs  []string // possible working directories of the program
	found Started
	ran   []string // files that run
	wrote []string // files that are written to
}

// unsure notes why the list of files may be incomplete. The first reason counts.
func (f *files) unsure(format string, args ...any) {
	f.found.Unsure = cmp.Or(f.found.Unsure, text.OneLine(fmt.Sprintf(format, args...), 160))
}

// inside reports whether a model may write at path, which contains no link.
func (f *files) inside(path string) bool {
	return disk.Within(f.roots, path)
}

// short returns a path relative to the project.
func (f *files) short(path string) string {
	if rel, err := filepath.Rel(f.roots[0], path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// at returns the possible paths of a name.
func (f *files) at(name string) (paths []string) {
	dirs := f.dirs
	if filepath.IsAbs(name) {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		paths = append(paths, path)
		if strings.Contains(name, "..") {
			if real, err := filepath.EvalSymlinks(dir + "/" + name); err == nil && real != disk.ResolveLinks(path) {
				f.unsure("%s goes back from where a link leads", name)
				paths = append(paths, real)
			}
		}
	}
	return paths
}

// names adds the project's files that a word names, perhaps after an equals sign.
func (f *files) names(word string) {
	parts := []string{word}
	if _, value, ok := strings.Cut(word, "="); ok {
		parts = append(parts, value)
	}
	for _, part := range append(parts, strings.TrimPrefix(word, "@")) {
		for _, path := range f.at(part) {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				f.add(path)
			}
		}
	}
}

// add adds a file, if it belongs to the project.
func (f *files) add(path string) {
	real := disk.ResolveLinks(path)
	switch {
	case slices.Contains(f.found.Files, path) || slices.Contains(f.found.outside, path):
		return
	case !f.inside(path) && !f.inside(real):
		f.found.outside = append(f.found.outside, path)
		return
	}
	if real != path {
		f.unsure("%s is a link, or behind one", f.short(path))
	}
	f.found.Files = append(f.found.Files, path)
}

// steered adds the files and directories in the value of a variable that decides which files
// programs load.
func (f *files) steered(value string) {
	for _, part := range parts(value) {
		f.names(part)
		f.directory(part)
	}
}

// steers reports whether a variable that a script sets decides what runs, and notes that. Set holds
// the variables with which the script starts.
func (f *files) steers(name string, set map[string]string) bool {
	_, ok := set[name]
	if ok = ok || program.IsSteering(name); ok {
		f.unsure("a script sets %s, which decides what runs", name)
	}
	return ok
}

// leadsIn reports whether a part of a variable is a path in the project.
func (f *files) leadsIn(part string) bool {
	return slices.ContainsFunc(f.at(part), func(path string) bool {
		_, err := os.Stat(path)
		return err == nil && f.inside(disk.ResolveLinks(path))
	})
}

// other reads a script of another language, and returns its path.
func (f *files) other(name string, loads *regexp.Regexp, without func(string) string) (found string) {
	for _, path := range f.at(name) {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		found = path
		f.ran = append(f.ran, path)
		b, err := disk.Read(path, mostScript)
		if err != nil {
			f.unsure("%s can't be read: %v", f.short(path), err)
		} else if what := loads.FindString(without(string(b))); what != "" {
			f.unsure("%s may load or run other files (%s)", f.short(path), what)
			f.directory(filepath.Dir(path))
		}
	}
	if found == "" {
		f.unsure("%s is no file", name)
	}
	return found
}

// directory notes that every file of a directory may run.
func (f *files) directory(name string) {
	for _, path := range f.at(name) {
		if info, err := os.Stat(path); err == nil && info.IsDir() && f.inside(path) && !slices.Contains(f.roots, path) {
			f.found.Dirs = append(f.found.Dirs, path)
		}
	}
}
