package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/secret"
	"gemline/engine/text"
	"gemline/tools/launch"
	"gemline/tools/shell/program"
	"gemline/tools/shell/script"
)

// A readOnlyCheck finds out whether the commands of a line are read-only.
type readOnlyCheck struct {
	c    *shellCall
	dirs []string // possible working directories of the next command
	git  gitUse

	listed []string // directories outside of the project that the line lists

	// Caches of findings, by program and by directory of a repository.
	programs, repositories map[string]string
}

// mostDirs limits the possible working directories of a line.
const mostDirs = 8

// strays reports whether a command may read files that its words do not name, such as the
// files of a repository.
func (l *readOnlyCheck) strays(c engine.Command) bool {
	name, _ := c.Program()
	return name != "" && name != "git" && name != "cd" && (slices.ContainsFunc(c.Argv, func(w engine.Word) bool { return !w.Known }) || !l.beside(c))
}

// command returns why a command is not read-only, "" if it is.
func (l *readOnlyCheck) command(c engine.Command) string {
	name, known := c.Program()
	switch {
	case len(c.Argv) == 0 && len(c.Env) > 0: // only sets variables of the shell
		return ""
	case !known || len(c.Argv) == 0:
		return "it is not a plain command"
	}
	p, words := program.Find(name), c.Words()
	if module, ok := p.Command(strings.Join(words[min(1, len(words)):min(3, len(words))], " ")); ok && p.Is(program.Interpreter) {
		if why := l.imports(); why != "" {
			return name + ": " + why
		}
		p = module
	}
	switch {
	case strings.Contains(c.Argv[0].Text, "/"):
		return brief(c.Argv[0].Text) + " is a program by its path"
	case len(c.Argv) == 2 && slices.Contains(versions, c.Argv[1].Text): // any program may print its version, as it is confined
	case name != "git" && !p.Is(program.Looks):
		return brief(name) + " is not on the list"
	case len(l.dirs) == 0:
		return "where it runs is not known"
	case name == "cd":
		return l.cd(c.Argv[1:])
	case name != "git" && !p.LooksAt(words[1:]):
		return name + ": it may do more than look"
	}
	if why := l.ends(name, c.Argv[1:]); why != "" {
		return name + ": " + why
	}
	if name == "git" {
		if why := l.git.command(l, c.Argv[1:]); why != "" {
			return "git: " + why
		}
	}
	if out, ok := l.lists(c.Argv[1:]); ok && p.Is(program.Names) {
		l.listed = append(l.listed, out...)
	} else {
		for _, w := range c.Argv[1:] {
			if why := l.names(w, name == "git"); why != "" {
				return name + ": " + why
			}
		}
	}
	if script.IsBuiltin(name) && (name != "time" || words[1] == script.Timed) || l.c.env.image() {
		return ""
	}
	return once(l.programs, name, l.installed)
}

// lists returns the directories and files outside of the project that the words name, for a
// program that only lists names. It is not ok if the words may do more.
func (l *readOnlyCheck) lists(words []engine.Word) (out []string, ok bool) {
	home := l.c.env.variable("HOME")
	for _, w := range words {
		word := w.Text
		if rest, is := strings.CutPrefix(word, "~"); is && !w.Known && home != "" && (rest == "" || rest[0] == '/') && !strings.ContainsAny(rest, "$*?[{`") {
			word, w.Known = home+rest, true
		}
		if !w.Known || strings.HasPrefix(word, "-") && strings.ContainsAny(word, "/=") {
			return nil, false
		}
		for _, dir := range l.dirs {
			at := l.at(dir, word)
			real := disk.ResolveLinks(at)
			switch _, err := os.Lstat(at); {
			case err != nil || l.inside(real) || public(real):
				if l.path(at, word) != "" {
					return nil, false
				}
			case secret.Path(at) || secret.Path(real) || slices.Contains([]string{"/", "/tmp", "/var/tmp"}, real) || disk.InsideAny([]string{"/dev", "/proc", "/run", "/sys"}, real):
				return nil, false
			default:
				out = append(out, real)
			}
		}
	}
	return out, true
}

// opens reports whether a command may read the contents of files. Commands that only show names
// do not, nor do filters of their output. An option's value or a program's text may name a file,
// or a list of files.
func (l *readOnlyCheck) opens(c engine.Command) bool {
	name, _ := c.Program()
	switch {
	case name == "cd" || program.Find(name).Is(program.Names):
		return false
	case !l.beside(c) || slices.ContainsFunc(c.Argv, func(w engine.Word) bool { return !w.Known }):
		return true
	}
	return name != "echo" && name != "printf" && !strings.HasSuffix(name, "grep") &&
		slices.ContainsFunc(c.Argv[1:], func(w engine.Word) bool { return !counting().MatchString(w.Text) })
}

// counting finds short options and numbers, as of head -n 3.
var counting = text.Pattern(`^(-[a-zA-Z0-9]*|[0-9]+)$`)

// imports returns why an interpreter may run more than its own library: it
// looks for modules in its directory first.
func (l *readOnlyCheck) imports() string {
	for _, dir := range l.dirs {
		entries, err := os.ReadDir(dir)
		for _, e := range entries {
			below, _ := os.ReadDir(filepath.Join(dir, e.Name())) // also by a link
			if !module().MatchString(e.Name()) && !slices.ContainsFunc(below, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "__init__.") }) {
				continue
			}
			return "it may run " + brief(e.Name())
		}
		if err != nil {
			return "where it runs is not known"
		}
	}
	return ""
}

// module matches the names of Python modules.
var module = text.Pattern(`(?i)\.(py.*|so)$`)

// once returns find(key), and calls find once for each key.
func once(known map[string]string, key string, find func(string) string) string {
	said, ok := known[key]
	if !ok {
		said = find(key)
		known[key] = said
	}
	return said
}

// versions are the options by which programs print their version.
var versions = []string{"--version", "-version", "-V", "-v"}

// ends returns why a command would not end in time, "" if it ends.
func (l *readOnlyCheck) ends(name string, args []engine.Word) string {
	for _, w := range args {
		switch {
		case name == "tail" && following().MatchString(w.Text):
			l.c.follows = true
		case name == "sleep" && !short().MatchString(w.Text):
			return "for longer than a minute"
		}
	}
	return ""
}

var (
	following = text.Pattern(`^(-[a-zA-Z]*[fF]|--f|--retry)`)
	short     = text.Pattern(`^[0-5]?[0-9](\.[0-9]+)?s?$`)
)

// beside reports whether a command of a plain script is read-only even without the
// confinement to read-only.
func (l *readOnlyCheck) beside(c engine.Command) bool {
	name, _ := c.Program()
	if !program.Find(name).Is(program.Reads) {
		return false
	}
	if name == "sed" {
		args := c.Argv[1:]
		for len(args) > 0 && slices.Contains([]string{"-n", "-E", "-r"}, args[0].Text) {
			args = args[1:]
		}
		return len(args) > 0 && script.IsPrinting(args[0].Text) &&
			!slices.ContainsFunc(args[1:], func(w engine.Word) bool { return strings.HasPrefix(w.Text, "-") })
	}
	return !slices.ContainsFunc(c.Argv[1:], func(w engine.Word) bool {
		_, value, _ := strings.Cut(w.Text, "=")
		if value == "" && glued().MatchString(w.Text) {
			value = w.Text[2:]
		}
		return l.names(engine.Word{Text: value, Known: true}, false) != "" ||
			strings.HasSuffix(name, "grep") && recursive().MatchString(w.Text)
	})
}

var (
	recursive = text.Pattern(`^(-[^-]*[rRd]|--(r|d))`)
	glued     = text.Pattern(`^-[a-zA-Z].`) // -f.env
)

// cd adds the directory in which later commands may run. The earlier directories stay, as cd
// may fail or be part of a pipe.
func (l *readOnlyCheck) cd(args []engine.Word) string {
	if len(args) == 2 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) != 1 || !args[0].Known || strings.HasPrefix(args[0].Text, "-") || args[0].Text == "" {
		l.dirs = nil
		return "cd: where it leads is not known"
	}
	to := l.below(l.dirs, args[0].Text)
	if to == nil {
		l.dirs = nil
		return "cd: it leads out of the project"
	}
	for _, dir := range to {
		if !slices.Contains(l.dirs, dir) {
			l.dirs = append(l.dirs, dir)
		}
	}
	if len(l.dirs) > mostDirs {
		l.dirs = nil
		return "cd: it may lead to too many directories"
	}
	return ""
}

// below returns path relative to each of dirs, nil if a result is outside of the project.
func (l *readOnlyCheck) below(dirs []string, path string) (to []string) {
	for _, dir := range dirs {
		at := l.at(dir, path)
		if !l.inside(disk.ResolveLinks(at)) {
			return nil
		}
		to = append(to, at)
	}
	return to
}

// names returns why the file that a word names can't be read without approval, "" if it can.
// It skips unknown words: the sandbox protects the files that they expand to.
func (l *readOnlyCheck) names(w engine.Word, git bool) string {
	if !w.Known {
		return ""
	}
	pieces := []string{w.Text}
	if _, path, ok := strings.Cut(w.Text, ":"); ok && git {
		if secret.Path(path) {
			return "it reads what may hold secrets: " + brief(w.Text)
		}
		pieces = append(pieces, path)
	}
	for _, piece := range pieces {
		for _, dir := range l.dirs {
			if why := l.path(l.at(dir, piece), piece); why != "" {
				return why
			}
		}
	}
	return ""
}

func (l *readOnlyCheck) at(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// path returns why the file at a path can't be read without approval, "" if it can or is missing.
func (l *readOnlyCheck) path(at, word string) string {
	if word == "" || word == "/" {
		return ""
	}
	if _, err := os.Lstat(at); err != nil {
		return ""
	}
	real := disk.ResolveLinks(at)
	if public(real) && (public(at) || l.inside(at)) {
		return ""
	}
	inside := false
	for _, root := range l.c.env.Workspace.Roots() {
		for _, root := range []string{root, disk.ResolveLinks(root)} {
			for _, path := range []string{at, real} {
				if rel, err := filepath.Rel(root, path); err == nil && disk.Inside(root, path) {
					inside = inside || path == real
					if secret.Path(rel) || slices.ContainsFunc(strings.Split(filepath.ToSlash(rel),
						"/"), launch.Protected) {
						return "it reads what may hold secrets: " + brief(word)
					}
				}
			}
		}
	}
	if !inside {
		return "it reads outside of the project: " + brief(word)
	}
	return ""
}

// inside reports whether a path lies in the workspace.
func (l *readOnlyCheck) inside(path string) bool {
	return disk.InsideAny(l.c.env.Workspace.Roots(), path)
}

// public reports whether a path is in the system's directories and files that every user
// can read and that hold no secrets.
func public(path string) bool {
	if path == "/usr" || strings.HasPrefix(path, "/usr/") {
		return !strings.HasPrefix(path, "/usr/local/etc") && !secret.Path(path)
	}
	if slices.ContainsFunc([]string{"/bin", "/sbin", "/lib", "/lib64"},
		func(dir string) bool { return disk.Inside(dir, path) }) {
		return true
	}
	return slices.Contains([]string{"/dev/null", "/etc/os-release", "/etc/debian_version",
		"/etc/alpine-release", "/etc/lsb-release",
		"/etc/redhat-release", "/etc/issue", "/etc/shells", "/etc/timezone", "/proc/cpuinfo", "/proc/meminfo", "/proc/loadavg", "/proc/version"}, path)
}

// path returns the directories in which commands find programs.
func (env Tools) path() []string {
	path := "/usr/local/bin:/usr/bin:/bin"
	for _, kv := range env.Launcher.Config.Shell.Environ {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = value
		}
	}
	return filepath.SplitList(path)
}

// installed returns why a program does not count as the system's or the user's, "" if it
// does.
func (l *readOnlyCheck) installed(name string) string {
	for _, name := range []string{"bash", name} {
		file, why := l.find(name)
		switch {
		case why != "":
			return why
		case file == "" && name != "bash":
			return name + " is not installed"
		case file != "" && (l.inside(file) || l.inside(disk.ResolveLinks(file)) || l.inside(disk.ResolveLinks(filepath.Dir(file)))):
			return fmt.Sprintf("%s is a program of the project's (%s)", name, brief(file))
		}
	}
	return ""
}

// find returns the file of a program in PATH.
func (l *readOnlyCheck) find(name string) (file, why string) {
	for _, dir := range l.c.env.path() {
		if !filepath.IsAbs(dir) {
			return "", fmt.Sprintf("which %s runs depends on the directory", name)
		}
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return file, ""
		}
	}
	return "", ""
}

// brief returns a word for display, quoted if needed and shortened.
func brief(word string) string {
	word = text.Shorten(word, 60)
	if word == "" || strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fmt.Sprintf("%q", word)
	}
	return word
}

// image reports whether commands see the programs of a container's image.
func (env Tools) image() bool {
	return env.Launcher.Sandbox != nil && env.Launcher.Sandbox.State().Image()
}
