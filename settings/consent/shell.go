package consent

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/tools/shell/program"
	"gemline/tools/shell/script"
)

const (
	mostDirs    = 20    // that it goes to
	mostScripts = 100   // that are read
	mostSteps   = 10000 // parts of scripts, and directories that a pattern lists
	mostText    = 64 << 10
)

// text reads a script for a shell, which is bash or may be another. The order of its commands does not
// matter: each may run, in each directory that the script goes to, and a variable that a script sets
// is not known anywhere.
func (r *reader) text(source string, bash bool) {
	posix := r.posix
	defer func() {
		r.posix = posix
		if recover() != nil { // the parser's own fault must not be ours
			r.files.unsure("a script can't be read")
		}
	}()
	r.posix = !bash
	if len(source) > mostText { // which the parser's stack may not stand
		r.files.unsure("a script is too long")
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(source), "")
	if err != nil {
		r.files.unsure("a script can't be read as the shell would: %v", err)
		return
	}
	if why := script.Read(source).Evaluates; why != "" {
		r.files.unsure("a script may run what a value holds: %s", why)
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok {
			r.funcs[f.Name.Value] = true
		}
		return true
	})
	syntax.Walk(file, r.part)
}

// apart reads another script, which does not know the functions of the present script.
func (r *reader) apart(read func()) {
	funcs := r.funcs
	r.funcs = map[string]bool{}
	read()
	r.funcs = funcs
}

// part reads a part of a script.
func (r *reader) part(n syntax.Node) bool {
	if r.steps++; r.steps > mostSteps {
		r.files.unsure("it does too much to be read")
		return false
	}
	switch n := n.(type) {
	case *syntax.CallExpr:
		r.call(n)
	case *syntax.Redirect:
		r.redirect(n)
	case *syntax.Assign:
		r.assign(n)
	case *syntax.ParamExp:
		if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			r.files.steers(n.Param.Value, r.set)
		}
	case *syntax.WordIter:
		r.files.steers(n.Name.Value, r.set)
		for _, w := range n.Items {
			r.fields(w, true)
		}
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause:
		syntax.Walk(n, func(n syntax.Node) bool {
			if name, ok := n.(*syntax.Lit); ok {
				r.files.steers(name.Value, r.set)
			}
			return true
		})
	case *syntax.ArrayExpr: // declare reads the value of an array as elements
		r.files.evaluates = true
	case *syntax.FuncDecl:
		r.repeat(n.Body)
		return false
	case *syntax.WhileClause:
		r.repeat(slices.Concat(n.Cond, n.Do)...)
		return false
	case *syntax.ForClause:
		syntax.Walk(n.Loop, r.part)
		r.repeat(n.Do...)
		return false
	}
	return true
}

// repeat reads statements that may run more than once.
func (r *reader) repeat(list ...*syntax.Stmt) {
	was := r.repeats
	r.repeats = true
	for _, s := range list {
		syntax.Walk(s, r.part)
	}
	r.repeats = was
}

// output matches the names of devices that keep nothing, and of files that are open already.
var output = text.Pattern(`^/dev/(null|stdout|stderr|tty|fd/\d+)$`)

// redirect notes the files that are read and written.
func (r *reader) redirect(d *syntax.Redirect) {
	if d.N != nil {
		r.files.steers(strings.Trim(d.N.Value, "{}"), r.set)
	}
	switch d.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return
	case syntax.RdrIn:
		r.fields(d.Word, true)
		return
	}
	fields, known := r.fields(d.Word, false)
	r.files.acts = r.files.acts || !known
	for _, name := range fields {
		if strings.Trim(name, "0123456789-") == "" && d.Op == syntax.DplOut || output().MatchString(name) { // such as 2>&1
			continue
		}
		r.files.acts = true
		r.files.wrote = append(r.files.wrote, r.files.at(name)...)
	}
}

// assign notes the value of a variable that decides which files run.
func (r *reader) assign(a *syntax.Assign) {
	if a.Name == nil { // of declare or the like, which does what a variable is set to
		r.files.evaluates = true
		if flags := a.Value.Lit(); flags == "" || strings.Trim(flags, "-+xrgaAptfF") != "" {
			r.files.unsure("what a script declares can't be told")
		}
		return
	}
	if (!a.Naked || program.IsSteering(a.Name.Value)) && r.files.steers(a.Name.Value, r.set) && a.Value != nil {
		fields, _ := r.fields(&syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: a.Value.Parts}}}, true)
		r.files.steered(strings.Join(fields, " "))
	}
}

// fields returns what a word stands for, if that is known, wherever the command may be. Files that
// the word names count if count is true.
func (r *reader) fields(w *syntax.Word, count bool) (all []string, known bool) {
	known = true
	pattern, braces := false, 0
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp, *syntax.ExtGlob:
			known = false
		case *syntax.ParamExp:
			value, ok := r.set[n.Param.Value]
			known = known && ok && n.Index == nil && !n.Excl
			pattern = pattern || strings.ContainsAny(value, "*?[")
		case *syntax.SglQuoted:
			known = known && !(n.Dollar && r.posix)
		case *syntax.Lit:
			pattern = pattern || strings.ContainsAny(n.Value, "*?[")
			braces += strings.Count(n.Value, "{")
			known = known && braces < 3 && !(r.posix && braces > 0)
		}
		return known
	})
	if !known || pattern && !count {
		return nil, false
	}
	for i, dir := range r.files.dirs {
		env := maps.Clone(r.set)
		env["PWD"] = dir
		fields, err := expand.Fields(&expand.Config{Env: expand.FuncEnviron(func(name string) string { return env[name] }), ReadDir2: r.list}, w)
		for _, f := range fields {
			if count {
				r.files.names(f)
			}
			if count && pattern {
				r.files.directory(filepath.Dir(f))
			}
		}
		if err != nil || i > 0 && !slices.Equal(all, fields) {
			known = false
		}
		all = fields
	}
	return all, known
}

// list lists a directory for a pattern.
func (r *reader) list(dir string) ([]os.DirEntry, error) {
	if r.steps++; r.steps > mostSteps {
		return nil, errors.New("too many directories")
	}
	return os.ReadDir(dir)
}

// call reads a simple command.
func (r *reader) call(c *syntax.CallExpr) {
	var argv []string
	var unknown []bool
	for i, w := range c.Args {
		shown := len(argv) > 0 && !unknown[0] && !r.from.Reads && r.onlyReads(argv[0])
		writes := len(argv) > 0 && slices.Contains(writers, filepath.Base(argv[0]))
		fields, known := r.fields(w, !shown && !writes)
		if !known {
			fields = []string{fmt.Sprintf("(word %d)", i+1)}
		}
		for _, f := range fields {
			argv, unknown = append(argv, f), append(unknown, !known)
		}
	}
	switch {
	case len(argv) == 0:
	case unknown[0]:
		r.files.unsure("a variable or a command decides which program runs")
	case r.funcs[argv[0]] && r.found(argv[0]) == "" && program.Find(argv[0]).Names == nil:
	default:
		r.builtin(argv, unknown)
	}
}

// onlyReads reports whether a command only shows the files in its arguments.
func (r *reader) onlyReads(name string) bool {
	if r.funcs[name] {
		return false
	}
	switch name {
	case "echo", "printf", "test", "[":
		return true
	}
	if path := r.found(name); r.files.inside(path) || r.files.inside(disk.ResolveLinks(path)) {
		return false
	}
	name = filepath.Base(name)
	p := program.Find(name)
	return name == "gofmt" || p.Is(program.Reads) && harmless(name, p)
}

// exists reports whether something is at a path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// builtin reads a command of the shell's own, or another.
func (r *reader) builtin(argv []string, unknown []bool) {
	name, args := argv[0], argv[1:]
	sure := !slices.Contains(unknown, true)
	switch name {
	case "cd":
		if len(args) != 1 || !sure || strings.HasPrefix(args[0], "-") || r.repeats && !filepath.IsAbs(args[0]) {
			r.files.unsure("it goes to a directory that can't be told")
			return
		}
		for _, path := range r.files.at(args[0]) {
			switch {
			case slices.Contains(r.files.dirs, path), r.again && !exists(path):
			case r.again || len(r.files.dirs) == mostDirs || disk.ResolveLinks(path) != path:
				r.files.unsure("it goes to too many directories, or behind a link")
			default:
				r.files.dirs = append(r.files.dirs, path)
			}
		}
	case ".", "source":
		if len(args) == 0 || !sure {
			r.files.unsure("a variable or a command decides which file it reads as a script")
			return
		}
		r.run(args[0], sourced)
	case "trap":
		if !sure {
			r.files.unsure("what it traps can't be told")
		} else if len(args) > 0 {
			was := r.repeats
			r.repeats = true
			r.text(args[0], !r.posix)
			r.repeats = was
		}
	case "unset", "read", "getopts", "printf", "wait":
		for _, arg := range args {
			if arg = strings.TrimLeft(arg, "-abcdefghijklmnopqrstuvwxyz"); name != "unset" || arg == "PATH" { // such as -vPATH
				r.files.steers(arg, r.set)
			}
		}
	case ":", "true", "false", "echo", "exit", "return", "pwd", "test", "[": // show their words at most
	case "shift", "set", "umask", "break", "continue", "type", "kill", "times", "ulimit": // run nothing
		r.files.acts = r.files.acts || !sure
	default:
		r.start(argv, unknown)
	}
}
