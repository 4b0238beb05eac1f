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
)

const (
	mostDirs    = 20    // directories that a script enters
	mostScripts = 100   // scripts that are read
	mostSteps   = 10000 // statements, counted as often as loops and patterns repeat them
	mostValue   = 4096  // bytes of a variable, since expansions may multiply it
	mostText    = 64 << 10
)

// text reads a shell script, for bash or perhaps another shell.
func (r *reader) text(source string, bash bool) {
	posix := r.posix
	defer func() {
		r.posix = posix
		if recover() != nil { // a bug of the parser must not end the program
			r.files.unsure("a script can't be read")
		}
	}()
	r.posix = !bash
	if len(source) > mostText { // the recursive parser could exhaust the stack
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

// prepare finds the functions that a script defines, and the variables that it sets.
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
		r.evaluates = r.evaluates || evaluates(n)
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
			if sets(n) {
				times[n.Param.Value] += 2
				r.files.steers(n.Param.Value, r.set)
			}
		case *syntax.WordIter:
			times[n.Name.Value]++
			r.files.steers(n.Name.Value, r.set)
		case *syntax.CallExpr: // for example read and printf -v
			for _, w := range n.Args {
				name, _ := expand.Literal(&expand.Config{ProcSubst: func(*syntax.ProcSubst) (string, error) { return "", nil }}, w)
				times[strings.TrimPrefix(name, "-v")] += 2
			}
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause:
			syntax.Walk(n, func(n syntax.Node) bool {
				if name, ok := n.(*syntax.Lit); ok {
					times[name.Value] += 2
					r.files.steers(name.Value, r.set)
				}
				return true
			})
		}
		return true
	})
	for name, n := range times {
		if _, ok := r.known[name]; ok && !first { // an earlier statement may use it already
			r.files.unsure("a script that is read in sets a variable again")
		}
		delete(r.known, name) // unknown until it is set
		r.times[name] += n
	}
}

// evaluates reports whether the shell evaluates a text at n as a number, an index or the name of a
// variable. Such a text can run commands: a[$(date)] runs date. For simple commands, see builtin.
func evaluates(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		return true
	case *syntax.ArrayExpr: // declare parses the value of an array as elements
		return true
	case *syntax.ParamExp:
		return n.Index != nil || n.Slice != nil || n.Excl || sets(n) && special().MatchString(n.Param.Value) ||
			n.Exp != nil && n.Exp.Op == syntax.OtherParamOps
	case *syntax.Assign:
		return n.Index != nil || n.Name != nil && special().MatchString(n.Name.Value)
	case *syntax.WordIter:
		return special().MatchString(n.Name.Value)
	case *syntax.BinaryTest:
		return slices.Contains([]syntax.BinTestOperator{syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr}, n.Op)
	case *syntax.UnaryTest:
		return n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar
	case *syntax.Word: // {a[$i]}> sets a[$i]
		return len(n.Parts) > 0 && index().MatchString((&syntax.Word{Parts: n.Parts[:1]}).Lit())
	case *syntax.Redirect:
		return n.N != nil && strings.Contains(n.N.Value, "[")
	}
	return false
}

// index matches the beginning of a redirection such as {a[$i]}>.
var index = text.Pattern(`^\{\w+\[`)

// sets reports whether an expansion may set its variable.
func sets(n *syntax.ParamExp) bool {
	return n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull)
}

// special matches variables of the shell that evaluate their new value: numbers and arrays.
var special = text.Pattern(`^(S?RANDOM|SECONDS|LINENO|DIRSTACK|PIPESTATUS|FUNCNAME|GROUPS|MAPFILE|COPROC|(HIST|OPT|BASH|EPOCH|COMP).*)$`)

// oneWord reports whether a word always expands to a single word. Funcs are the script's functions.
func oneWord(w *syntax.Word, funcs map[string]bool) bool {
	one := true
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			one = one && !strings.ContainsAny(p.Value, "*?[{")
		case *syntax.SglQuoted, *syntax.DblQuoted:
		case *syntax.ParamExp:
			one = one && p.Short && (p.Param.Value == "?" || p.Param.Value == "#")
		case *syntax.CmdSubst:
			_, own := funcs["wc"]
			one = one && !own && len(p.Stmts) == 1 && countsOnce(p.Stmts[0].Cmd)
		default:
			one = false
		}
	}
	syntax.Walk(w, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		one = one && !(ok && p.Param.Value == "@")
		return one
	})
	return one
}

// countsOnce reports whether a command prints only a number.
func countsOnce(c syntax.Command) bool {
	call, ok := c.(*syntax.CallExpr)
	return ok && len(call.Assigns) == 0 && len(call.Args) == 2 && call.Args[0].Lit() == "wc" &&
		slices.Contains([]string{"-l", "-w", "-c", "-m"}, call.Args[1].Lit())
}

// compares reports whether test only compares its words, even if they are unknown. As an operator,
// an unknown word could be -v, which evaluates the next.
func compares(args []string, posix bool) bool {
	if len(args) > 1 && args[0] == "!" {
		args = args[1:]
	}
	switch len(args) {
	case 2:
		return strings.Contains(" -n -z -d -e -f -h -L -r -s -t -w -x ", " "+args[0]+" ")
	case 3: // a shell other than bash may evaluate a number
		return strings.Contains(" = == != ", " "+args[1]+" ") || !posix && strings.Contains(" -eq -ne -lt -le -gt -ge ", " "+args[1]+" ")
	}
	return len(args) < 2
}

// apart reads another script, without the variables and functions of this script.
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

// within reads statements that may be skipped or repeated.
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
		r.within(c.Cond, c.Do, c.Cond, c.Do) // twice, since the first pass may change the state
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

// loop reads a loop over words, once for each word.
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

// nested reads the commands within a word or a similar node.
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

// output matches devices that store nothing, and files that are already open.
var output = text.Pattern(`^/dev/(null|stdout|stderr|tty|fd/\d+)$`)

// redirect handles the files that a redirection reads or writes.
func (r *reader) redirect(d *syntax.Redirect) {
	if d.Hdoc != nil {
		r.nested(d.Hdoc)
	}
	if d.N != nil {
		r.files.steers(strings.Trim(d.N.Value, "{}"), r.set)
	}
	if d.Op == syntax.Hdoc || d.Op == syntax.DashHdoc {
		return
	}
	before := len(r.files.found.Files)
	fields, known := r.fields(d.Word, true)
	if d.Op == syntax.WordHdoc || d.Op == syntax.RdrIn {
		return
	}
	r.acts = r.acts || !known
	for _, name := range fields {
		if strings.Trim(name, "0123456789-") == "" && d.Op == syntax.DplOut || output().MatchString(name) { // for example 2>&1
			continue
		}
		r.acts = true
		r.files.wrote = append(r.files.wrote, r.files.at(name)...)
	}
	named := slices.DeleteFunc(r.files.found.Files[before:], func(name string) bool { return slices.Contains(r.files.wrote, name) })
	r.files.found.Files = r.files.found.Files[:before+len(named)] // a file that is also read is listed elsewhere
}

// assigns handles assignments of variables.
func (r *reader) assigns(list []*syntax.Assign) {
	for _, a := range list {
		r.nested(a)
		if a.Name == nil {
			r.evaluates = true // the shell evaluates the elements of an array
			if flags := a.Value.Lit(); flags == "" || strings.Trim(flags, "-+xrgaAptfF") != "" {
				r.files.unsure("what a script declares can't be told")
			}
			continue
		}
		name := a.Name.Value
		if (!a.Naked || program.IsSteering(name)) && r.files.steers(name, r.set) {
			if r.times[name] < 2 {
				r.known[name] = r.set[name]
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

// fields expands a word, if its value is known, in all possible directories. With count, files that
// the word names count.
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
	if !known || pattern && !count {
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

// list lists a directory, for the expansion of a pattern.
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
	r.nest++ // the assignments apply only to that command
	r.assigns(c.Assigns)
	r.nest--
	var argv []string
	var unknown []bool
	for i, w := range c.Args {
		shown := len(argv) > 0 && !unknown[0] && !r.from.Reads && r.onlyReads(argv[0])
		fields, known := r.fields(w, !shown)
		if !known {
			fields = []string{fmt.Sprintf("(word %d)", i+1)}
			if !oneWord(w, r.funcs) {
				fields = append(fields, fields[0])
			}
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
	case defined && r.found(argv[0]) == "" && program.Find(argv[0]).Names == nil: // it may be defined later, or not at all
	default:
		r.builtin(argv, unknown)
	}
}

// onlyReads reports whether a command only prints the files in its arguments.
func (r *reader) onlyReads(name string) bool {
	if _, defined := r.funcs[name]; defined {
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

// format matches formats of printf that set no variable, unlike -v and %n.
var format = text.Pattern(`^([^-%]|%[-.0-9]*[sbqcd%])([^%]|%[-.0-9]*[sbqcd%])*$`)

// builtin reads a builtin or another command.
func (r *reader) builtin(argv []string, unknown []bool) {
	name, args := argv[0], argv[1:]
	sure := !slices.Contains(unknown, true)
	for _, arg := range args {
		arg = strings.TrimLeft(arg, "-abcdefghijklmnopqrstuvwxyz") // for example -vPATH
		if name == "unset" && arg == "PATH" || slices.Contains([]string{"read", "getopts", "printf", "wait"}, name) {
			r.files.steers(arg, r.set)
		}
	}
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
			r.files.unsure("the trapped command can't be told")
		} else if len(args) > 0 {
			r.nest++
			r.text(args[0], !r.posix)
			r.nest--
		}
	case ":", "true", "false", "echo", "exit", "return", "pwd": // they print their words at most
	case "printf":
		plain := len(args) > 0 && !unknown[1] && format().MatchString(args[0])
		r.evaluates = r.evaluates || !plain || r.posix && strings.Contains(args[0], "d")
	case "test":
		r.evaluates = r.evaluates || !compares(args, r.posix)
	case "[":
		r.evaluates = r.evaluates || !strings.HasSuffix(strings.Join(args, " "), "]") || !compares(args[:len(args)-1], r.posix)
	case "read", "getopts":
		r.evaluates = r.evaluates || slices.ContainsFunc(args, func(arg string) bool {
			return arg != "-r" && !syntax.ValidName(arg) || special().MatchString(arg)
		})
	case "unset", "wait":
		r.evaluates = r.evaluates || !sure || strings.Contains(strings.Join(args, ""), "[")
	case "shift", "set", "umask", "break", "continue", "type", "kill", "times", "ulimit": // they run nothing
		r.acts = r.acts || !sure
	default:
		r.start(argv, unknown)
	}
}
