package consent

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/tools/shell/program"
)

// A Start describes how a program of a project starts.
type Start struct {
	Texts []string // command lines for a shell; or
	Argv  []string // a program and its arguments
	Dir   string   // the working directory
	Env   []string // NAME=value, set by the project
	Vars  []string // NAME=value, set by gemline

	// Reads makes files count that commands such as cat only print. If a file's content may later
	// run, the file always counts.
	Reads bool

	// Roots are the directories that a model may write to, the project first. User returns a
	// variable of the user's environment.
	Roots []string
	User  func(name string) string
}

// Started holds the files of a project that run, or that the commands name.
type Started struct {
	Files  []string
	Dirs   []string // any file in them may run
	Unsure string   // why more files may run, "" if the list is complete

	outside []string // files outside of the project that run or that the commands name
	env     []string // variables that the project sets
}

// Add adds the files of another program.
func (s *Started) Add(more Started) {
	s.Files, s.Dirs, s.env = append(s.Files, more.Files...), append(s.Dirs, more.Dirs...), append(s.env, more.env...)
	s.outside = append(s.outside, more.outside...)
	s.Unsure = cmp.Or(s.Unsure, more.Unsure)
}

// Fingerprint returns the fingerprint of the files, the variables and parts.
func (s Started) Fingerprint(parts ...string) string {
	return Fingerprint(s.Files, append(append(slices.Clip(s.env), parts...), s.Unsure)...)
}

// ProtectedPaths returns the paths that nobody may change while the program may run with all
// rights, inside and outside of the project.
func (s Started) ProtectedPaths() []string { return slices.Concat(s.Files, s.Dirs, s.outside) }

// Find returns the files that start.
func (s Start) Find() Started {
	r := &reader{from: s, files: files{dirs: []string{disk.ResolveLinks(s.Dir)}}, set: map[string]string{}}
	r.files.roots = lists.Map(s.Roots, disk.ResolveLinks)
	r.set["PWD"] = r.files.dirs[0]
	for _, name := range []string{"HOME", "PATH"} {
		if value := s.user(name); value != "" {
			r.set[name] = value
		}
	}
	for _, kv := range append(slices.Clone(s.Vars), s.Env...) {
		name, value, _ := strings.Cut(kv, "=")
		r.set[name] = value
	}
	r.files.found.env = s.Env
	r.environment()
	for _, text := range s.Texts {
		r.apart(func() { r.text(text, true) })
	}
	if len(s.Argv) > 0 {
		r.apart(func() { r.start(s.Argv, make([]bool, len(s.Argv))) })
	}
	for _, name := range r.files.wrote {
		if slices.Contains(r.files.ran, name) || r.evaluates && slices.Contains(r.files.found.Files, name) {
			r.files.unsure("it writes %s itself, and may run its contents", r.files.short(name))
		}
	}
	if !s.Reads && (r.files.found.Unsure != "" || r.acts || r.evaluates || slices.ContainsFunc(r.files.wrote, r.files.inside)) {
		s.Reads = true // the printed content of a file may run
		return s.Find()
	}
	for _, list := range []*[]string{&r.files.found.Files, &r.files.found.outside} {
		*list = slices.DeleteFunc(*list, func(name string) bool {
			return slices.Contains(r.files.wrote, name) && !slices.Contains(r.files.ran, name)
		})
	}
	return r.files.found
}

// user returns a variable of the user's environment.
func (s Start) user(name string) string {
	if s.User == nil {
		return ""
	}
	return s.User(name)
}

// A reader finds the files that start.
type reader struct {
	from  Start
	files files
	set   map[string]string // variables at the start

	// State of the current script:
	known map[string]string // variables
	times map[string]int    // how often each is set
	funcs map[string]bool   // functions, and whether each is certainly defined
	later []*syntax.Stmt    // commands that may run in a directory entered later
	posix bool              // the shell may not be bash
	nest  int               // the depth of code that may be skipped or repeated

	// Possible uses of file contents and other unknown words in the script:
	acts      bool // it stores them where another program runs them, or changes files that it names
	evaluates bool // the shell evaluates them, and so runs commands in them

	scripts, steps int // counts of read scripts and statements
}

// environment handles variables that decide which files programs load.
func (r *reader) environment() {
	const plain = " PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 "
	for _, kv := range r.from.Env {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "PATH":
		case name == "BASH_ENV" || name == "ENV":
			r.apart(func() { r.run(value, byShell) })
		case program.IsSteering(name) && !strings.Contains(plain, " "+name+" "):
			r.files.unsure("its %s may have other files loaded", name)
			r.files.steered(value)
		default:
			for _, part := range parts(value) {
				if r.files.leadsIn(part) && !strings.Contains(value, "://") {
					r.files.unsure("its %s names %s, and its use of that can't be told", name, part)
				}
			}
		}
	}
	for _, name := range []string{"PYTHONPATH", "PYTHONHOME", "NODE_PATH", "NODE_OPTIONS", "LD_LIBRARY_PATH", "LD_PRELOAD", "PERL5LIB", "RUBYLIB", "BASH_ENV", "ENV"} {
		value := r.from.user(name)
		for _, part := range append(filepath.SplitList(value), parts(value)...) {
			if r.files.leadsIn(part) {
				r.files.unsure("your %s leads into the project", name)
			}
		}
	}
	for _, dir := range r.path() {
		if !filepath.IsAbs(dir) || r.files.inside(disk.ResolveLinks(dir)) {
			r.files.unsure("programs are looked for in %s, which the PATH names", cmp.Or(dir, "."))
			r.files.steered(dir)
		}
	}
}

// parts returns the parts of a variable that may be paths.
func parts(value string) []string {
	return strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(":;,= ", c) })
}

// path returns the directories of PATH.
func (r *reader) path() []string {
	if value, ok := r.set["PATH"]; ok {
		return strings.Split(value, string(os.PathListSeparator))
	}
	return nil
}

// found returns the file of a program's name, "" if there is none.
func (r *reader) found(name string) string {
	places := r.files.at(name)
	if !strings.Contains(name, "/") {
		places = nil
		for _, dir := range r.path() {
			places = append(places, r.files.at(filepath.Join(cmp.Or(dir, "."), name))...)
		}
	}
	for _, path := range places {
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			return path
		}
	}
	return ""
}

// A manner says how a script is run.
type manner int

const (
	executed manner = iota // as a program
	byShell                // by a shell that may not be bash
	byBash
	sourced // by the running shell
)

// run reads a script, or a program of the project.
func (r *reader) run(name string, how manner) {
	there := false
	for _, path := range r.files.at(name) {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		there = true
		r.files.add(path)
		r.files.ran = append(r.files.ran, path)
		if how == sourced {
			r.script(path, how)
		} else {
			r.apart(func() { r.script(path, how) })
		}
	}
	if !there {
		r.files.unsure("%s is not there", name)
	}
}

// mostScript is the longest script that is read, in bytes.
const mostScript = 256 << 10

// script reads a file that runs. As a program, its first line names the interpreter.
func (r *reader) script(path string, how manner) {
	if r.scripts++; r.scripts > mostScripts {
		r.files.unsure("it runs too many scripts")
		return
	}
	b, err := disk.Read(path, mostScript)
	first, _, _ := strings.Cut(string(b), "\n")
	first, does := strings.CutPrefix(first, "#!")
	words := strings.Fields(first)
	if len(words) > 1 && filepath.Base(words[0]) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return w == "-S" })
	}
	switch {
	case how == executed && binary(path):
	case err != nil:
		r.files.unsure("%s can't be read: %v", r.files.short(path), err)
	case how == sourced:
		r.text(string(b), !r.posix)
	case how != executed || !does:
		r.text(string(b), how == byBash)
	case len(words) == 0:
		r.files.unsure("the first line of %s names no program", r.files.short(path))
	default:
		argv := append(words, path)
		r.start(argv, make([]bool, len(argv)))
	}
}

// binary reports whether a file is a machine program, which no interpreter reads.
func binary(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 16)
	n, _ := io.ReadFull(f, head)
	head, _, _ = bytes.Cut(head[:n], []byte("\n")) // a shell runs a file without a NUL in its first line
	return bytes.ContainsRune(head, 0) && slices.ContainsFunc([]string{"\x7fELF", "MZ", "\xcf\xfa\xed\xfe"},
		func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) })
}

// shell reports whether a program is a shell whose scripts this package reads.
func shell(name string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "ash", "ksh"}, filepath.Base(name))
}

// harmless reports whether a program runs none of the files in its arguments: it reads them,
// changes them in place, or is in a short list.
func harmless(name string, p *program.Program) bool {
	switch {
	case p.Is(program.Launches):
		return false
	case p.Is(program.Reads):
		return len(p.Options) == 0 && p.Grammar == ""
	case p.Is(program.Writes):
		return p.Writes == "each"
	case p.Is(program.Removes), p.Is(program.Changes):
		return true
	}
	return slices.Contains([]string{"mktemp", "gofmt", "notify-send", "logger"}, name)
}

// start finds the files that a program and its arguments run, and notes unknown words.
func (r *reader) start(argv []string, unknown []bool) {
	name := filepath.Base(argv[0])
	args, un := argv[1:], unknown[1:]
	for i, arg := range args {
		if !un[i] && (r.from.Reads || !r.onlyReads(argv[0])) {
			r.files.names(arg)
		}
	}
	if name == "tee" || name == "touch" || name == "rm" {
		for _, arg := range args {
			r.files.wrote = append(r.files.wrote, r.files.at(arg)...)
		}
	}
	r.acts = r.acts || name == "tee" || name == "uniq" && len(args) > 1 || !r.onlyReads(argv[0]) && slices.Contains(un, true)
	path, p := r.found(argv[0]), program.Find(name)
	if path != "" && (r.files.inside(path) || r.files.inside(disk.ResolveLinks(path))) {
		if r.run(path, executed); p.Names != nil && binary(path) { // for example Python in a project's environment
			r.files.unsure("what %s runs can't be told", r.files.short(path))
		}
		return
	}
	byPath := strings.Contains(argv[0], "/") // PATH decides for other programs
	if byPath && path != "" {
		r.files.add(path)
	}
	switch {
	case byPath && path == "":
		r.files.unsure("%s is not there", argv[0])
	case shell(name):
		r.shell(name, args, un)
	case strings.HasPrefix(name, "python") && strings.Trim(name, "python.0123456789") == "":
		r.python(name, args, un)
	case name == "node" || name == "nodejs":
		r.node(args, un)
	case name == "command" && len(args) > 0 && strings.EqualFold(args[0], "-v"):
	case slices.Contains([]string{"command", "exec", "nohup", "env"}, name) && len(args) > 0:
		r.wrapped(name, argv, unknown)
	case name == "git" && len(args) > 0:
		c, _ := p.Command(args[0]) // elsewhere may be another repository, whose configuration makes git run programs
		if !c.Is(program.Looks) && !c.Is(program.Lists) || !slices.Equal(r.files.dirs, r.files.roots[:1]) {
			r.files.unsure("git %s may run programs of the project", args[0])
		}
	case name == "date", name == "uniq", name == "exec", harmless(name, p):
	default:
		r.files.unsure("what %s runs of the project can't be told", name)
		if byPath {
			r.run(path, executed)
		}
	}
}

// wrapped handles a program whose arguments are another program.
func (r *reader) wrapped(name string, argv []string, unknown []bool) {
	for i, arg := range argv[1:] {
		if unknown[i+1] || strings.HasPrefix(arg, "-") {
			break
		}
		if v, _, ok := strings.Cut(arg, "="); ok && name == "env" {
			if _, ok := r.set[v]; ok || program.IsSteering(v) {
				break
			}
			continue
		}
		if name == "command" { // the program may be a builtin of the shell
			r.builtin(argv[i+1:], unknown[i+1:])
		} else {
			r.start(argv[i+1:], unknown[i+1:])
		}
		return
	}
	r.files.unsure("what %s runs can't be told", name)
}

// shell handles the arguments of a shell.
func (r *reader) shell(name string, args []string, unknown []bool) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case unknown[i]:
			r.files.unsure("a variable or a command says what %s runs", name)
		case arg == "-o" && i+1 < len(args) && !unknown[i+1]:
			i++
			continue
		case strings.HasPrefix(arg, "-") && strings.Trim(arg[1:], "euxvfc") == "" && len(arg) > 1:
			if !strings.Contains(arg, "c") {
				continue
			}
			if i+1 < len(args) && !unknown[i+1] {
				r.apart(func() { r.text(args[i+1], name == "bash") })
				return
			}
			r.files.unsure("a variable or a command says what %s runs", name)
		case strings.HasPrefix(arg, "-"):
			r.files.unsure("what %s runs with %s can't be told", name, arg)
		default:
			how := byShell
			if name == "bash" {
				how = byBash
			}
			r.run(arg, how)
		}
		return
	}
	r.files.unsure("%s runs its input", name)
}

// Patterns of statements in other languages that load or run files.
var (
	pythonLoads = text.Pattern(`\b(sys\.path|importlib|runpy|exec|eval|compile|import|__import__|\w*subprocess\w*|exec[lv]\w*|spawn\w*|posix_spawn\w*|popen|system|fileConfig|load_extension|enable_load_extension)\b`)
	pythonOwn   = text.Pattern(`(?m)\b(?:from\s+` + pythonModule + `\s+import\b|import\s+` + pythonModule + `(?:[ \t]*,[ \t]*` + pythonModule + `)*[ \t]*(?:\r?$|[;#]))`)
	nodeLoads   = text.Pattern(`\b(require|import|eval|Function|createRequire|process\.(binding|dlopen)|getBuiltinModule)\b`)
	nodeOwn     = text.Pattern(`(?:require\(\s*|import\(\s*|\bimport\s[\w\s{},*$]*from\s*|\bimport\s*)['"](?:node:)?(?:fs|fs/promises|path|os|util|url|crypto|http|https|net|readline|events|stream|buffer|timers|process|assert)['"]`)
)

// pythonModule matches modules that load and run nothing. Other modules may be the project's, even
// with -I: an installation may contain links to the project.
const pythonModule = `(?:__future__|abc|argparse|ast|asyncio|base64|bisect|calendar|collections|contextlib|copy|csv|dataclasses|datetime|decimal|difflib|email|enum|errno|fnmatch|fractions|functools|getpass|glob|hashlib|heapq|hmac|html|http|io|itertools|json|locale|logging|math|mimetypes|operator|os|pathlib|platform|pprint|queue|random|re|secrets|select|shlex|shutil|signal|socket|sqlite3|ssl|stat|statistics|string|struct|sys|tempfile|textwrap|threading|time|tomllib|traceback|types|typing|unicodedata|urllib|uuid|warnings|xml|zlib)(?:\.\w+)*(?:[ \t]+as[ \t]+\w+)?`

// python handles the arguments of Python.
func (r *reader) python(name string, args []string, unknown []bool) {
	alone := false
	for i, arg := range args {
		if unknown[i] {
			break
		}
		if letters, ok := strings.CutPrefix(arg, "-"); ok && letters != "" && strings.Trim(letters, "IBEsSuOqb") == "" {
			alone = alone || strings.Contains(letters, "I")
			continue
		}
		if strings.HasPrefix(arg, "-") {
			break
		}
		path := r.files.other(arg, pythonLoads(), func(s string) string { return pythonOwn().ReplaceAllString(s, "") })
		if !alone {
			r.files.unsure("%s also loads modules from beside %s; with -I it does not", name, r.files.short(path))
			r.files.directory(filepath.Dir(path))
		}
		return
	}
	r.files.unsure("what %s loads can't be told", name)
}

// node handles the arguments of Node.
func (r *reader) node(args []string, unknown []bool) {
	if len(args) == 0 || unknown[0] || strings.HasPrefix(args[0], "-") {
		r.files.unsure("what node loads can't be told")
		return
	}
	r.files.other(args[0], nodeLoads(), func(s string) string { return nodeOwn().ReplaceAllString(s, "") })
}
