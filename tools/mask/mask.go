// Package mask finds the files of programs that rules deny entirely, so that confined
// commands do not see them.
//
// # Files with the denied name
//
// A rule denies a program by its name. A file with the name in a directory of programs is
// masked, with all its other names and, for a link, the link's target, as
// /usr/bin/nc.openbsd for nc.
//
// # Multi-call programs
//
// A link may lead to a program that acts by its name, as rm leads to busybox, and reboot to
// systemctl. Then only the link is masked. The program remains and can do the same under
// another name, so the denied program counts as runnable.
//
// # Gaps are reported
//
// A [Mask] explains why a command may still run the program. Only a Mask with an empty
// WhyRunnable may replace another check.
package mask

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gemline/engine/disk"
	"gemline/tools/shell/program"
	"gemline/tools/shell/script"
)

// A Mask holds the files of a program that are masked for confined commands.
type Mask struct {
	Program     string
	Files       []string // absolute; only their last element may be a link
	WhyRunnable string   // why a command may still run the program, "" if none can
}

// A Finder finds files of programs. It searches again when a directory has changed. It is safe
// for concurrent use.
type Finder struct {
	Path string // the PATH of commands
	Home string

	mu     sync.Mutex
	dirs   []directory
	needed []fs.FileInfo // the files of shells, which run commands
	found  map[string]Mask
}

// A directory is a directory of programs.
type directory struct {
	given   string
	changed time.Time
	path    string   // without links; "" if an earlier directory has the same path
	names   []string // the names in it
}

// system are directories of programs in addition to PATH. The last directories hold git's
// commands and loadable bash builtins.
var system = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
	"/usr/games", "/usr/local/games",
	"/opt/homebrew/bin", "/opt/local/bin", "/snap/bin", "/usr/lib/git-core", "/usr/libexec/git-core",
	"/usr/lib/bash", "/usr/local/lib/bash", "/opt/local/lib/bash", "/usr/pkg/lib/bash"}

// private are directories of programs in the home directory.
var private = []string{"bin", ".local/bin", "go/bin", ".cargo/bin"}

// runners are the programs that run commands and scripts.
var runners = []string{"sh", "bash", "env"}

// Find returns a Mask for each program.
func (f *Finder) Find(programs []string) (all []Mask) {
	if len(programs) == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.found == nil || slices.ContainsFunc(f.dirs,
		func(d directory) bool { return !changed(d.given).Equal(d.changed) }) {
		f.list()
	}
	for _, p := range programs {
		name := fold(p)
		m, ok := f.found[name]
		if !ok {
			m = f.find(name)
			f.found[name] = m
		}
		all = append(all, m)
	}
	return all
}

// Others returns names of other programs that m masks, too, because they are the same file.
func (f *Finder) Others(m Mask) (names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var masked []fs.FileInfo
	for _, path := range m.Files {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			masked = append(masked, info)
		}
	}
	for _, path := range f.entries(func(name string) bool { return len(masked) > 0 && !called(m.Program, name) }) {
		if name := filepath.Base(path); isAmong(path, masked) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// changed returns the modification time of a directory, the zero time if it is missing.
func changed(dir string) (t time.Time) {
	if info, err := os.Stat(dir); err == nil {
		t = info.ModTime()
	}
	return t
}

// list lists the directories.
func (f *Finder) list() {
	f.dirs, f.needed, f.found = nil, nil, map[string]Mask{}
	given := append(filepath.SplitList(f.Path), system...)
	for _, name := range private {
		given = append(given, filepath.Join(f.Home, name))
	}
	for _, dir := range given {
		if !filepath.IsAbs(dir) || slices.ContainsFunc(f.dirs, func(d directory) bool { return d.given == dir }) {
			continue
		}
		d := directory{given: dir, changed: changed(dir)}
		real, err := filepath.EvalSymlinks(dir)
		if err == nil && !slices.ContainsFunc(f.dirs, func(d directory) bool { return d.path == real }) {
			d.path = real
			if open, err := os.Open(real); err == nil {
				d.names, _ = open.Readdirnames(-1)
				open.Close()
			}
		}
		f.dirs = append(f.dirs, d)
	}
	for _, path := range f.entries(func(name string) bool { return slices.Contains(runners, fold(name)) }) {
		if info, err := os.Stat(path); err == nil {
			f.needed = append(f.needed, info)
		}
	}
}

// entries returns the paths in the directories whose names satisfy fits.
func (f *Finder) entries(fits func(name string) bool) (paths []string) {
	for _, d := range f.dirs {
		for _, name := range d.names {
			if fits(name) {
				paths = append(paths, filepath.Join(d.path, name))
			}
		}
	}
	return paths
}

// find finds the files of a program.
func (f *Finder) find(name string) Mask {
	m := Mask{Program: name}
	if script.IsBuiltin(name) {
		m.WhyRunnable = "the shell has a command of that name itself"
	}
	for _, path := range f.entries(func(entry string) bool { return called(name, entry) }) {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if isAmong(path, f.needed) {
			return Mask{Program: name, WhyRunnable: "commands are run by it"}
		}
		files := f.files(path, info)
		if other := otherName(name, files); other != "" {
			m.Files, m.WhyRunnable = append(m.Files,
				links(path, name)...), "it leads to "+other+", which is other programs as well"
			continue
		}
		m.Files = append(m.Files, files...)
	}
	slices.Sort(m.Files)
	m.Files = slices.Compact(m.Files)
	if len(m.Files) == 0 && m.WhyRunnable == "" {
		m.WhyRunnable = "it is not installed"
	}
	return m
}

// files returns the paths of the file that path leads to: first the resolved path, then its
// other names in the directories.
func (f *Finder) files(path string, info fs.FileInfo) []string {
	real := disk.ResolveLinks(path)
	if disk.LinkCount(info) == 1 {
		return []string{real}
	}
	same := func(path string) bool {
		there, err := os.Lstat(path)
		return err == nil && os.SameFile(there, info)
	}
	return append([]string{real}, slices.DeleteFunc(f.entries(func(string) bool { return true }),
		func(path string) bool { return !same(path) })...)
}

// otherName returns the name of another program to which files belong, if there is one.
func otherName(name string, files []string) string {
	for _, path := range files {
		if own := filepath.Base(path); program.Find(own).Is(program.Many) && !called(name, own) {
			return path
		}
	}
	if !contains(files[0], name) {
		return files[0]
	}
	return ""
}

// links returns the links from path to its target whose file names contain name.
func links(path, name string) (all []string) {
	for range 40 { // the kernel's limit of links
		if contains(path, name) {
			all = append(all, path)
		}
		to, err := os.Readlink(path)
		if err != nil {
			return all
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = disk.ResolveParent(to)
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
			return all
		}
	}
	return all
}

// contains reports whether the file name of path contains name.
func contains(path, name string) bool { return strings.Contains(fold(filepath.Base(path)), name) }

// isAmong reports whether path leads to a file among files.
func isAmong(path string, files []fs.FileInfo) bool {
	info, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(files, func(f fs.FileInfo) bool { return os.SameFile(f, info) })
}

// called reports whether a rule for the program name covers entry: GNU's rm may be called
// grm.
func called(name, entry string) bool {
	entry = fold(entry)
	return entry == name || entry == "g"+name
}

// fold normalises the name of a program for comparison.
func fold(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".exe") }
