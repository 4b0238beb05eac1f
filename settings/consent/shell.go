package consent

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"gemline/tools/shell/program"
)

const (
	deepest     = 20  // scripts in scripts
	mostScripts = 100 // that are read
	mostValues  = 200 // that a loop goes through
)

// text reads a script for a shell, which is bash or may be another.
func (r *reader) text(source string, bash bool) {
	posix, depth := r.posix, r.depth
	defer func() {
		r.posix, r.depth = posix, depth
		if recover() != nil { // the parser's own fault must not be ours
			r.files.unsure("a script can't be read")
		}
	}()
	r.posix = !bash
	r.depth++
	if r.scripts++; r.scripts > mostScripts || r.depth > deepest {
		r.files.unsure("it runs too many scripts")
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
	times := map[string]int{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			r.funcs[n.Name.Value] = true
		case *syntax.Assign:
			if n.Name != nil && !n.Naked {
				times[n.Name.Value]++
			}
		case *syntax.WordIter:
			times[n.Name.Value]++
		case *syntax.CallExpr: // such as read and printf -v
			for _, w := range n.Args {
				times[w.Lit()] += 2
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
		delete(r.known, name) // until it is set
		r.twice[name] = r.twice[name] || n > 1
	}
}

// apart reads another script, which does not know the variables and functions of this one.
func (r *reader) apart(read func()) {
	known, funcs, twice := r.known, r.funcs, r.twice
	r.known, r.funcs, r.twice = maps.Clone(r.set), map[string]bool{}, map[string]bool{}
	read()
	r.known, r.funcs, r.twice = known, funcs, twice
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
		r.within(c.Cond, c.Do, c.Cond, c.Do) // again, with what it has set
	case *syntax.ForClause:
		r.loop(c)
	case *syntax.CaseClause:
		r.nested(c.Word)
		for _, item := range c.Items {
			r.within(item.Stmts)
		}
	case *syntax.FuncDecl:
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
	if !ok || len(words.Items) == 0 || r.twice[words.Name.Value] {
		r.nested(c.Loop)
		r.within(c.Do, c.Do)
		return
	}
	var values []string
	for _, w := range words.Items {
		fields, known := r.fields(w)
		if !known {
			r.within(c.Do)
			return
		}
		values = append(values, fields...)
	}
	if len(values) > mostValues {
		r.files.unsure("a loop has more than %d values", mostValues)
		values = values[:mostValues]
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
	if d.Word == nil || d.Op == syntax.Hdoc || d.Op == syntax.DashHdoc {
		return
	}
	fields, known := r.fields(d.Word)
	if !known || d.Op == syntax.WordHdoc || d.Op == syntax.DplIn || d.Op == syntax.DplOut {
		return
	}
	for _, name := range fields {
		if d.Op != syntax.RdrIn {
			r.files.wrote = append(r.files.wrote, r.files.at(name)...)
		}
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
			if a.Value != nil && strings.Contains(a.Value.Lit(), "n") {
				r.files.unsure("a variable stands for another")
			}
			continue
		}
		name := a.Name.Value
		if program.IsSteering(name) {
			r.files.unsure("a script sets %s, which decides what runs", name)
			if before, ok := r.set[name]; ok && !r.twice[name] {
				r.known[name] = before
			}
			if a.Value != nil {
				fields, _ := r.fields(&syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: a.Value.Parts}}})
				r.files.steered(strings.Join(fields, " "))
			}
			delete(r.known, name)
		}
		if a.Naked || a.Append || a.Index != nil || a.Array != nil || r.nest > 0 || r.twice[name] {
			continue
		}
		value := ""
		if a.Value != nil {
			fields, known := r.fields(&syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: a.Value.Parts}}})
			if !known || len(fields) != 1 {
				continue
			}
			value = fields[0]
		}
		r.known[name] = value
	}
}

// fields returns what a word stands for, if that is known, wherever the command may be.
func (r *reader) fields(w *syntax.Word) (all []string, known bool) {
	r.nested(w)
	known = true
	pattern := false
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp, *syntax.ExtGlob:
			known = false
		case *syntax.ParamExp:
			_, ok := r.known[n.Param.Value]
			known = known && ok && n.Index == nil && !n.Excl && !r.twice[n.Param.Value]
		case *syntax.SglQuoted:
			known = known && !(n.Dollar && r.posix)
		case *syntax.Lit:
			pattern = pattern || strings.ContainsAny(n.Value, "*?[")
			known = known && !(r.posix && strings.Contains(n.Value, "{"))
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
		fields, err := expand.Fields(&expand.Config{Env: env, ReadDir2: os.ReadDir}, w)
		for _, f := range fields {
			r.files.names(f)
			if pattern {
				r.files.directory(filepath.Dir(f), dir)
			}
		}
		if err != nil || i > 0 && !slices.Equal(all, fields) {
			known = false
		}
		all = fields
	}
	return all, known
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
		fields, known := r.fields(w)
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
	case r.funcs[argv[0]]:
	default:
		r.builtin(argv, unknown)
	}
}

// builtin reads a command of the shell's own, or another.
func (r *reader) builtin(argv []string, unknown []bool) {
	name, args := argv[0], argv[1:]
	sure := !slices.Contains(unknown, true)
	switch name {
	case "cd":
		switch {
		case len(args) != 1 || !sure || args[0] == "-":
			r.files.unsure("it goes to a directory that can't be told")
		default:
			for _, path := range r.files.at(args[0]) {
				if !slices.Contains(r.files.dirs, path) && len(r.files.dirs) < deepest {
					r.files.dirs = append(r.files.dirs, path)
				}
			}
		}
	case ".", "source":
		if len(args) == 0 || !sure {
			r.files.unsure("a variable or a command decides which file it reads as a script")
			return
		}
		r.run(args[0], sourced)
	case "trap":
		if len(args) > 0 && !unknown[1] {
			r.text(args[0], !r.posix)
		} else if len(args) > 0 {
			r.files.unsure("what it traps can't be told")
		}
	case ":", "true", "false", "exit", "return", "shift", "set", "unset", "local", "read", "wait", "umask", "break",
		"continue", "getopts", "echo", "printf", "test", "[", "pwd", "type", "kill", "times", "ulimit": // run nothing
	default:
		r.start(argv, unknown)
	}
}
