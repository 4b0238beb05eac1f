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
	"gemline/tools/shell/program"
)

const (
	mostDirs    = 20    // that it goes to
	mostScripts = 100   // that are read
	mostSteps   = 10000 // statements, each as often as a loop or a pattern has it
	mostValue   = 4096  // bytes of a variable, which others may repeat
	mostText    = 64 << 10
)

// text reads a script for a shell, which is bash or may be another.
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
	r.prepare(file)
	r.stmts(file.Stmts)
}

// prepare notes which functions a script defines, and which variables it sets.
func (r *reader) prepare(file *syntax.File) {
	first := r.times == nil
	if first {
		r.times = map[string]int{}
	}
	if r.nest > 0 {
		r.later = append(r.later, file.Stmts...)
	}
	times := map[string]int{}
	syntax.Walk(file, func(n syntax.Node) bool {
		r.shows = r.shows || evaluates(n)
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if _, known := r.funcs[n.Name.Value]; !known {
				r.funcs[n.Name.Value] = false
			}
		case *syntax.Assign:
			if !n.Naked {
				times[n.Name.Value]++
			}
		case *syntax.DeclClause: // local X hides the other X
			for _, a := range n.Args {
				if a.Name != nil && a.Naked && n.Variant.Value != "export" && n.Variant.Value != "readonly" {
					times[a.Name.Value] += 2
				}
			}
		case *syntax.ParamExp:
			if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				times[n.Param.Value] += 2
			}
		case *syntax.WordIter:
			times[n.Name.Value]++
		case *syntax.CallExpr: // such as read and printf -v
			for _, w := range n.Args {
				name, _ := expand.Literal(&expand.Config{ProcSubst: func(*syntax.ProcSubst) (string, error) { return "", nil }}, w)
				times[strings.TrimPrefix(name, "-v")] += 2
			}
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause:
			syntax.Walk(n, func(n syntax.Node) bool {
				if name, ok := n.(*syntax.Lit); ok {
					times[name.Value] += 2
				}
				return true
			})
		}
		return true
	})
	for name, n := range times {
		if _, ok := r.known[name]; ok && !first { // and what is read already may use it
			r.files.unsure("a script that is read in sets a variable again")
		}
		delete(r.known, name) // until it is set
		r.times[name] += n
	}
}

// evaluates reports whether the shell reads a text at n as a number, an index or the name of a
// variable. It runs commands in such a text: a[$(date)] runs date.
func evaluates(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		return true
	case *syntax.ParamExp:
		return n.Index != nil || n.Slice != nil || n.Excl || n.Exp != nil && n.Exp.Op == syntax.OtherParamOps
	case *syntax.Assign:
		return n.Index != nil
	case *syntax.ArrayElem:
		return n.Index != nil
	case *syntax.BinaryTest:
		return slices.Contains([]syntax.BinTestOperator{syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr}, n.Op)
	case *syntax.UnaryTest:
		return n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar
	case *syntax.CallExpr: // words that are not quoted may hold -v
		i := slices.IndexFunc(n.Args, func(w *syntax.Word) bool {
			return slices.Contains([]string{"test", "[", "printf", "read", "unset"}, w.Lit())
		})
		return i >= 0 && slices.ContainsFunc(n.Args[i:], func(w *syntax.Word) bool {
			return w.Lit() == "-v" || slices.ContainsFunc(w.Parts, expands)
		})
	}
	return false
}

// expands reports whether a part of a word may become several words.
func expands(part syntax.WordPart) bool {
	switch part.(type) {
	case *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		return false
	}
	return true
}

// apart reads another script, which does not know the variables and functions of this one.
func (r *reader) apart(read func()) {
	known, funcs, times, later := r.known, r.funcs, r.times, r.later
	r.known, r.funcs, r.times, r.later = maps.Clone(r.set), map[string]bool{}, nil, nil
	read()
	r.known, r.funcs, r.times, r.later = known, funcs, times, later
}

// stmts reads statements.
func (r *reader) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		r.stmt(s)
	}
}

// within reads statements that may be passed over, or run more than once.
func (r *reader) within(lists ...[]*syntax.Stmt) {
	r.nest++
	for _, list := range lists {
		r.stmts(list)
	}
	r.nest--
}

// stmt reads a statement.
func (r *reader) stmt(s *syntax.Stmt) {
	if r.steps++; r.steps > mostSteps {
		r.files.unsure("it does too much to be read")
		return
	}
	for _, redirect := range s.Redirs {
		r.redirect(redirect)
	}
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		r.call(c)
	case *syntax.BinaryCmd:
		r.stmt(c.X)
		r.within([]*syntax.Stmt{c.Y})
	case *syntax.Block:
		r.stmts(c.Stmts)
	case *syntax.Subshell:
		r.within(c.Stmts)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			r.within(c.Cond, c.Then)
		}
	case *syntax.WhileClause:
		r.within(c.Cond, c.Do, c.Cond, c.Do) // again, where that has led it
	case *syntax.ForClause:
		r.loop(c)
	case *syntax.CaseClause:
		r.nested(c.Word)
		for _, item := range c.Items {
			for _, w := range item.Patterns {
				r.nested(w)
			}
			r.within(item.Stmts)
		}
	case *syntax.FuncDecl:
		r.funcs[c.Name.Value] = r.nest == 0 || r.funcs[c.Name.Value]
		if !slices.Contains(r.later, c.Body) {
			r.later = append(r.later, c.Body)
		}
		r.within([]*syntax.Stmt{c.Body})
	case *syntax.TimeClause:
		if c.Stmt != nil {
			r.stmt(c.Stmt)
		}
	case *syntax.DeclClause:
		r.assigns(c.Args)
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		r.nested(c)
	default:
		r.files.unsure("a script holds something that is not read here")
	}
}

// loop reads a loop over words with each of these.
func (r *reader) loop(c *syntax.ForClause) {
	words, ok := c.Loop.(*syntax.WordIter)
	known := ok && len(words.Items) > 0 && r.times[words.Name.Value] < 2
	var values, fields []string
	for i := 0; known && i < len(words.Items); i++ {
		fields, known = r.fields(words.Items[i], true)
		values = append(values, fields...)
	}
	if !known {
		r.nested(c.Loop)
		r.within(c.Do, c.Do)
		return
	}
	for _, value := range values {
		r.known[words.Name.Value] = value
		r.within(c.Do)
	}
	delete(r.known, words.Name.Value)
}

// nested reads the commands that stand within a word, or the like.
func (r *reader) nested(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.within(n.Stmts)
			return false
		case *syntax.ProcSubst:
			r.within(n.Stmts)
			return false
		}
		return true
	})
}

// redirect notes what is read from and written to.
func (r *reader) redirect(d *syntax.Redirect) {
	if d.Hdoc != nil {
		r.nested(d.Hdoc)
	}
	if d.Op == syntax.Hdoc || d.Op == syntax.DashHdoc {
		return
	}
	fields, known := r.fields(d.Word, true)
	if d.Op == syntax.WordHdoc || d.Op == syntax.RdrIn {
		return
	}
	r.shows = r.shows || !known
	for _, name := range fields {
		if d.Op == syntax.DplOut && strings.Trim(name, "0123456789-") == "" { // such as 2>&1
			continue
		}
		r.shows = r.shows || !strings.HasPrefix(name, "/dev/")
		r.files.wrote = append(r.files.wrote, r.files.at(name)...)
	}
}

// assigns notes what variables are set to.
func (r *reader) assigns(list []*syntax.Assign) {
	for _, a := range list {
		if a.Value != nil {
			r.nested(a.Value)
		}
		if a.Array != nil {
			r.nested(a.Array)
		}
		if a.Name == nil {
			if flags := a.Value.Lit(); flags == "" || strings.Trim(flags, "-+xrgaAptfF") != "" {
				r.files.unsure("what a script declares can't be told")
			}
			continue
		}
		name := a.Name.Value
		if before, ok := r.set[name]; ok && !a.Naked || program.IsSteering(name) {
			r.files.unsure("a script sets %s, which decides what runs", name)
			if r.times[name] < 2 {
				r.known[name] = before
			}
			if a.Value != nil {
				fields, _ := r.fields(&syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: a.Value.Parts}}}, true)
				r.files.steered(strings.Join(fields, " "))
			}
			delete(r.known, name)
		}
		if a.Naked || a.Append || a.Index != nil || a.Array != nil || r.nest > 0 || r.times[name] > 1 {
			continue
		}
		value := ""
		if a.Value != nil {
			fields, known := r.fields(&syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: a.Value.Parts}}}, true)
			if !known || len(fields[0]) > mostValue {
				continue
			}
			value = fields[0]
		}
		r.known[name] = value
	}
}

// fields returns what a word stands for, if that is known, wherever the command may be. Files that
// the word names count if count is true.
func (r *reader) fields(w *syntax.Word, count bool) (all []string, known bool) {
	r.nested(w)
	known = true
	pattern, braces := false, 0
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp, *syntax.ExtGlob:
			known = false
		case *syntax.ParamExp:
			value, ok := r.known[n.Param.Value]
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
	if !known {
		return nil, false
	}
	for i, dir := range r.files.dirs {
		env := expand.FuncEnviron(func(name string) string {
			if name == "PWD" {
				return dir
			}
			return r.known[name]
		})
		fields, err := expand.Fields(&expand.Config{Env: env, ReadDir2: r.list}, w)
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
	if len(c.Args) == 0 {
		r.assigns(c.Assigns)
		return
	}
	r.nest++ // what is set is set for that command alone
	r.assigns(c.Assigns)
	r.nest--
	var argv []string
	var unknown []bool
	for i, w := range c.Args {
		shown := len(argv) > 0 && !unknown[0] && r.onlyReads(argv[0])
		fields, known := r.fields(w, !shown)
		if !known {
			fields = []string{fmt.Sprintf("(word %d)", i+1)}
		}
		for _, f := range fields {
			argv, unknown = append(argv, f), append(unknown, !known)
		}
	}
	if len(argv) == 0 {
		return
	}
	function, defined := r.funcs[argv[0]]
	switch {
	case unknown[0]:
		r.files.unsure("a variable or a command decides which program runs")
	case function:
	case defined && r.found(argv[0]) == "" && program.Find(argv[0]).Names == nil: // later, or perhaps
	default:
		r.builtin(argv, unknown)
	}
}

// onlyReads reports whether a command only shows the files in its arguments, and [Start.Reads] does
// not make these count.
func (r *reader) onlyReads(name string) bool {
	if _, defined := r.funcs[name]; defined || r.from.Reads {
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

// builtin reads a command of the shell's own, or another.
func (r *reader) builtin(argv []string, unknown []bool) {
	name, args := argv[0], argv[1:]
	sure := !slices.Contains(unknown, true)
	switch name {
	case "cd":
		if len(args) != 1 || !sure || strings.HasPrefix(args[0], "-") {
			r.files.unsure("it goes to a directory that can't be told")
			return
		}
		for _, path := range r.files.at(args[0]) {
			switch {
			case slices.Contains(r.files.dirs, path):
			case len(r.files.dirs) == mostDirs || disk.ResolveLinks(path) != path:
				r.files.unsure("it goes to too many directories, or behind a link")
			default:
				r.files.dirs = append(r.files.dirs, path)
				r.within(r.later)
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
			r.nest++
			r.text(args[0], !r.posix)
			r.nest--
		}
	case ":", "true", "false", "exit", "return", "shift", "set", "unset", "read", "wait", "umask", "break",
		"continue", "getopts", "echo", "printf", "test", "[", "pwd", "type", "kill", "times", "ulimit": // run nothing
	default:
		r.start(argv, unknown)
	}
}
