package safe

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/shell/script"
)

// A Place is where commands would run.
type Place struct {
	Dir     string   // absolute
	Roots   []string // directories whose files may be shown
	Environ []string // NAME=value
}

// A Finding is what is known of a command.
type Finding struct {
	Why  string   // what keeps it from being safe; empty if it is
	Argv []string // what is to be run for it: its program by the path that was judged
}

// Judge says of each command of a plain script whether it is safe, there and
// behind those before it.
func Judge(commands []engine.Command, p Place) []Finding {
	j := judge{Place: p, real: map[string]string{}, found: map[string]found{}}
	j.roots = make([]string, len(p.Roots))
	for i, root := range p.Roots {
		j.roots[i] = j.resolve(root)
	}
	j.dirs = []string{j.resolve(p.Dir)}
	findings := make([]Finding, len(commands))
	shell := j.shell()
	for i, c := range commands {
		if findings[i] = j.command(c); findings[i].Why == "" && shell != "" {
			findings[i].Why = shell
		}
		if findings[i].Why != "" {
			findings[i].Argv = j.by(c.Words())
		}
	}
	return findings
}

// shell says why what runs the commands would be something of the project's.
func (j *judge) shell() string {
	for _, name := range []string{"bash", "sh"} {
		for _, dir := range j.programs() {
			file := filepath.Join(dir, name)
			if info, err := os.Stat(file); !filepath.IsAbs(dir) || err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
				continue
			}
			if j.inside(j.resolve(file)) || j.inside(j.resolve(dir)) {
				return "the shell would be one of the project's: " + brief(file)
			}
			return ""
		}
	}
	return ""
}

// programs returns the directories in which programs are looked for.
func (j *judge) programs() []string {
	if slices.ContainsFunc(j.Environ, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }) {
		return filepath.SplitList(j.variable("PATH"))
	}
	return []string{"/usr/local/bin", "/usr/bin", "/bin"}
}

// variable returns what the environment sets a variable to.
func (j *judge) variable(name string) (value string) {
	for _, kv := range j.Environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// A judge goes through the commands of a script.
type judge struct {
	Place
	roots []string // real paths
	dirs  []string // real paths of where the next command may run; nil if nobody knows

	real  map[string]string // of directories
	found map[string]found
	git   map[string]string // what is wrong with the repositories of directories, and with the environment
}

// most is how many directories a script may be in.
const most = 8

func (j *judge) command(c engine.Command) Finding {
	argv := c.Words()
	switch {
	case len(argv) < len(c.Argv) || len(argv) == 0 || len(c.Env) > 0 || c.Inside != "":
		return Finding{Why: "it is not a plain command"}
	case len(j.dirs) == 0:
		return Finding{Why: "where it runs is not known"}
	}
	name, args := argv[0], argv[1:]
	if name == "cd" {
		return Finding{Why: j.cd(args), Argv: argv}
	}
	var u usage
	var why string
	switch p, listed := programs[name]; {
	case name == "git":
		u, why = j.gitCommand(args)
	case !listed:
		return Finding{Why: brief(name) + " is not on the list"}
	default:
		u, why = j.use(p, args)
	}
	if why != "" {
		return Finding{Why: name + ": " + why}
	}
	if script.Builtin(name) {
		return Finding{Argv: append([]string{name}, u.args...)}
	}
	path, why := j.look(name)
	return Finding{Why: why, Argv: append([]string{path}, u.args...)}
}

// cd notes where the commands behind it may run: there, or where they did if
// it fails or belongs to a pipe.
func (j *judge) cd(args []string) string {
	if len(args) == 2 && args[0] == "--" {
		args = args[1:]
	}
	switch {
	case len(args) != 1 || strings.HasPrefix(args[0], "-") || args[0] == "":
		j.dirs = nil
		return "cd: where it leads is not known"
	case slices.ContainsFunc(j.Environ, func(kv string) bool { return strings.HasPrefix(kv, "CDPATH=") }):
		j.dirs = nil
		return "cd: CDPATH decides where it leads"
	}
	dirs := slices.Clone(j.dirs)
	for _, dir := range j.dirs {
		to := args[0]
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		// The shell keeps the names of links in mind and others do not, so
		// below the roots there may be none.
		if why := j.path(args[0]); why != "" || !j.inside(j.resolve(to)) || !j.straight(to) {
			j.dirs = nil
			return "cd: it leads out of the project, or through a symlink"
		}
		if to = j.resolve(to); !slices.Contains(dirs, to) {
			dirs = append(dirs, to)
		}
	}
	if len(dirs) > most {
		j.dirs = nil
		return "cd: too many directories"
	}
	j.dirs = dirs
	return ""
}

// A found is where a program was looked for.
type found struct{ path, why string }

// by returns the words of a command with its program by the path where the shell
// finds it now. What is found in a directory that depends on another stays.
func (j *judge) by(argv []string) []string {
	if len(argv) == 0 || strings.Contains(argv[0], "/") || script.Builtin(argv[0]) {
		return argv
	}
	for _, dir := range j.programs() {
		if !filepath.IsAbs(dir) {
			break
		}
		file := filepath.Join(dir, argv[0])
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return append([]string{file}, argv[1:]...)
		}
	}
	return argv
}

// look returns the path of the program called name.
func (j *judge) look(name string) (path, why string) {
	f, ok := j.found[name]
	if !ok {
		f.path, f.why = j.search(name)
		j.found[name] = f
	}
	return f.path, f.why
}

func (j *judge) search(name string) (path, why string) {
	for _, dir := range j.programs() {
		if !filepath.IsAbs(dir) {
			return "", fmt.Sprintf("which %s runs depends on the directory", name)
		}
		ours := system(j.resolve(dir)) && !j.inside(j.resolve(dir))
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			continue
		}
		real, err := filepath.EvalSymlinks(file)
		switch {
		case !ours || err != nil || !system(real) || j.inside(real):
			return "", fmt.Sprintf("%s is not a system program (%s)", name, brief(file))
		case slices.Contains(stand, filepath.Base(real)), strings.Contains(real, "/corepack/"):
			return "", fmt.Sprintf("%s is a multi-call program (%s)", name, brief(real))
		}
		return file, ""
	}
	return "", name + " is not installed"
}

// stand are programs that stand in for others.
var stand = []string{"busybox", "toybox", "rustup", "corepack", "asdf", "mise", "volta"}

// system reports whether a path leads to what comes with the system, which
// nobody but its administrator puts there.
func system(path string) bool {
	return slices.ContainsFunc([]string{"/usr/", "/bin/", "/sbin/", "/opt/", "/nix/store/", "/snap/", "/home/linuxbrew/.linuxbrew/"},
		func(dir string) bool { return strings.HasPrefix(path+"/", dir) })
}

// brief returns a word as it is shown, and not much of it.
func brief(word string) string {
	word = text.Shorten(word, 60)
	if word == "" || strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fmt.Sprintf("%q", word)
	}
	return word
}
