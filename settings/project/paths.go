package project

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"

	"gemline/engine/disk"
)

// Paths holds the directories of the user's files and of a project's. Making it does not touch the
// disk.
type Paths struct {
	Home string // the parent directory of .gemini; empty without a home
	Cwd  string // the working directory, absolute

	// Login is the home directory of the user's account if Home is another directory:
	// GEMINI_CLI_HOME names it, or HOME is not set. Login has no files of gemline, but may have the
	// user's secrets.
	Login string
}

// New returns the paths of a user with the given home directory who works
// in cwd. A relative home counts as none. geminiHome is the value of GEMINI_CLI_HOME and, unless it is empty,
// takes the place of home.
func New(home, geminiHome, cwd string) Paths {
	if !filepath.IsAbs(home) {
		home = "" // its files would be in each directory that gemline is started in
	}
	p := Paths{Home: home, Cwd: filepath.Clean(cwd)}
	if home == "" {
		p.Login = knownHome()
	}
	if geminiHome != "" {
		p.Home, p.Login = geminiHome, cmp.Or(home, p.Login)
	}
	if p.Home != "" {
		p.Home = disk.Absolute(p.Home, cwd, p.Login) // a ~ that no shell has expanded is no folder of the project
	}
	return p
}

// knownHome returns the user's home directory by the system's records, "" if unknown.
func knownHome() string {
	known, err := user.Current()
	if err != nil || filepath.Dir(known.HomeDir) == known.HomeDir {
		return ""
	}
	return known.HomeDir
}

// AccountHome returns the home directory of the user's account, where other programs store their
// files; "" if there is none.
func (p Paths) AccountHome() string { return cmp.Or(p.Login, p.Home) }

// Homes returns Home and [Paths.AccountHome], without empty and duplicate paths.
func (p Paths) Homes() (dirs []string) {
	for _, dir := range []string{p.Home, p.Login} {
		if dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// User returns the directory of the user's files, ~/.gemini, or a path in it. It is empty without a
// home directory.
func (p Paths) User(elem ...string) string {
	if p.Home == "" {
		return ""
	}
	return filepath.Join(append([]string{p.Home, ".gemini"}, elem...)...)
}

// Workspace returns the directory of the project's own settings, or a path in it.
func (p Paths) Workspace(elem ...string) string {
	return filepath.Join(append([]string{p.Cwd, ".gemini"}, elem...)...)
}

// AtHome reports whether the working directory is the home directory, whose
// .gemini is the user's own.
func (p Paths) AtHome() bool {
	return p.Home != "" && disk.ResolveLinks(p.Cwd) == disk.ResolveLinks(p.Home)
}

// Own reports whether a file is the user's, not the project's: a file in the home directory itself,
// or in its .gemini.
func (p Paths) Own(path string) bool {
	if p.Home == "" {
		return false
	}
	dir := disk.ResolveLinks(filepath.Dir(path))
	return dir == disk.ResolveLinks(p.Home) || dir == disk.ResolveLinks(p.User())
}

// Folder returns the real path of a folder, named by the user: relative to the working directory
// or, with ~, to the home directory. "" is the working directory.
func (p Paths) Folder(name string) string {
	return disk.ResolveLinks(filepath.Clean(disk.Absolute(name, p.Cwd, p.Home)))
}

// Once reports whether the notice or question with a name comes for the first time, and records it.
// If it can't be recorded, Once returns false.
func (p Paths) Once(name string) bool {
	path := p.User("gemline", name)
	if path == "" {
		return false
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	return f.Close() == nil
}
