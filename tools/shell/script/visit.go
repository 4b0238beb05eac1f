package script

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/shell/program"
)

func (v *visitor) stmts(all []*syntax.Stmt) {
	for _, s := range all {
		v.stmt(s)
	}
}

// nested reads statements that run in a shell, a loop or a condition.
func (v *visitor) nested(all []*syntax.Stmt) {
	v.loosen("it is not a plain list of commands")
	if v.depth++; !v.deep() {
		v.stmts(all)
	}
	v.depth--
}

// repeat reads statements that may run more than once.
func (v *visitor) repeat(lists ...[]*syntax.Stmt) {
	was := v.loop
	v.loop = true
	for _, l := range lists {
		v.nested(l)
	}
	v.loop = was
}

func (v *visitor) stmt(s *syntax.Stmt) {
	if s == nil {
		return
	}
	if s.Negated {
		v.loosen("it is not a plain list of commands")
	}
	if s.Background || s.Coprocess || s.Disown {
		v.lower(engine.Readable, "it is not a plain list of commands")
	}
	var in *string // the standard input, if known
	for _, r := range s.Redirs {
		if text := v.redirect(r); text != nil {
			in = text
		}
	}
	switch c := s.Cmd.(type) {
	case nil:
		v.lower(engine.Readable, "it is only a redirection")
	case *syntax.CallExpr:
		v.call(c, in)
	case *syntax.BinaryCmd:
		v.stmt(c.X)
		v.stmt(c.Y)
		if c.Op != syntax.AndStmt && c.Op != syntax.OrStmt && c.Op != syntax.Pipe {
			v.lower(engine.Readable, "it is not a plain list of commands")
		}
	default:
		v.compound(c)
	}
}

// compound reads a command that contains others, or evaluates arithmetic.
func (v *visitor) compound(c syntax.Command) {
	v.loosen("it is not a plain list of commands")
	switch c := c.(type) {
	case *syntax.Subshell:
		v.nested(c.Stmts)
	case *syntax.Block:
		v.nested(c.Stmts)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			v.nested(c.Cond)
			v.nested(c.Then)
		}
	case *syntax.WhileClause:
		if !c.Until && len(c.Cond) == 1 && reads(c.Cond[0]) {
			v.repeat(c.Cond, c.Do)
			return
		}
		v.lower(engine.Readable, "it is a loop that nothing ends")
		v.repeat(c.Cond, c.Do)
	case *syntax.ForClause:
		v.loopOver(c.Loop)
		v.repeat(c.Do)
	case *syntax.CaseClause:
		v.word(c.Word)
		for _, i := range c.Items {
			v.words(i.Patterns)
			v.nested(i.Stmts)
		}
	case *syntax.FuncDecl:
		v.lower(engine.Readable, "it is not a plain list of commands")
		v.repeat([]*syntax.Stmt{c.Body})
	case *syntax.ArithmCmd:
		v.lower(engine.Readable, "it is not a plain list of commands")
		v.arithm(c.X)
	case *syntax.TestClause:
		v.test(c.X)
	case *syntax.DeclClause:
		v.declare(c)
	case *syntax.LetClause:
		v.lower(engine.Readable, "it is not a plain list of commands")
		for _, x := range c.Exprs {
			v.arithm(x)
		}
	case *syntax.TimeClause:
		// Behind | it is no reserved word, but a program.
		v.record(engine.Command{Argv: []engine.Word{{Text: "time", Known: true},
			{Text: Timed}}, Wrapper: v.inside})
		v.nested([]*syntax.Stmt{c.Stmt})
	case *syntax.CoprocClause:
		// Shells differ about which word is the coprocess's name.
		v.opaque("it runs a coprocess")
		v.nested([]*syntax.Stmt{c.Stmt})
	default:
		v.unknown(c)
	}
}

// reads reports whether a statement is the read command of a loop over lines.
func reads(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && !s.Negated && len(s.Redirs) == 0 && len(c.Args) > 0 && c.Args[0].Lit() == "read"
}

// Timed stands for the command that the shell's own time runs; the command is recorded by
// itself.
const Timed = "(command)"

// loopOver reads the items of a loop.
func (v *visitor) loopOver(l syntax.Loop) {
	switch l := l.(type) {
	case *syntax.WordIter:
		v.words(l.Items)
		v.set(l.Name.Value, word{})
	case *syntax.CStyleLoop:
		v.lower(engine.Readable, "it is not a plain list of commands")
		v.arithm(l.Init)
		v.arithm(l.Cond)
		v.arithm(l.Post)
	default:
		v.unknown(l)
	}
}

// unknown makes the script opaque for a kind of syntax that is not handled.
func (v *visitor) unknown(n syntax.Node) {
	v.opaque("it holds syntax that is not known: %s", v.written(n))
}

// process reports whether w is a process substitution and nothing else.
func (v *visitor) process(w *syntax.Word) bool {
	if w == nil || len(w.Parts) != 1 {
		return false
	}
	_, ok := w.Parts[0].(*syntax.ProcSubst)
	return ok
}

func (v *visitor) words(all []*syntax.Word) []word {
	words := make([]word, len(all))
	for i, w := range all {
		words[i] = v.word(w)
	}
	return words
}

// word reads the commands in w and returns w as a word.
func (v *visitor) word(w *syntax.Word) word {
	if w == nil {
		return word{known: true}
	}
	v.parts(w.Parts)
	l := literal(w)
	if !l.known {
		l.text = v.written(w)
		if indexed().MatchString(l.text) {
			v.opaque("arithmetic with a variable can run commands: %s", l.text)
		}
		v.loosen("a word has an expansion: %s", l.text)
	}
	return l
}

// indexed matches the beginning of a word that may belong to the following redirection, as
// in {x[$y]}>file, where the parser finds an argument.
var indexed = text.Pattern(`^\{\w+\[`)

func (v *visitor) parts(all []syntax.WordPart) {
	for _, p := range all {
		switch p := p.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		case *syntax.DblQuoted:
			for i, q := range p.Parts {
				if text, ok := printed(q); ok {
					v.s.prints = append(v.s.prints, len(v.s.Commands))
					v.command([]word{{text: "cat", known: true}}, nil, &text)
				} else {
					v.parts(p.Parts[i : i+1])
				}
			}
		case *syntax.ParamExp:
			v.param(p)
		case *syntax.CmdSubst:
			v.substitute(p, p.Stmts)
		case *syntax.ProcSubst:
			v.substitute(p, p.Stmts)
		case *syntax.ArithmExp:
			v.s.strict = true
			v.arithm(p.X)
		default:
			v.unknown(p)
		}
	}
}

// substitute reads the commands of a substitution. bash reprints them before it runs them.
// Then it loses the text behind a here-document, and the quotes of $'…' if it first parsed
// the commands as arithmetic.
func (v *visitor) substitute(n syntax.Node, all []*syntax.Stmt) {
	v.loosen("it has a command substitution")
	simple := false
	if len(all) == 1 {
		_, simple = all[0].Cmd.(*syntax.CallExpr)
	}
	if from, to := n.Pos().Offset(), n.End().Offset(); from < to && to <= uint(len(v.src)) {
		text := v.src[from:to]
		if !simple && strings.Contains(text, "<<") {
			v.opaque("a here-document stands among the commands of a substitution")
		}
		if strings.HasPrefix(text[1:], "((") {
			v.opaque("what stands between two brackets may be taken for a calculation: %s", text)
		}
	}
	v.nested(all)
}

// param reads the expansion of a variable.
func (v *visitor) param(p *syntax.ParamExp) {
	if p.Index != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil {
		v.lower(engine.Readable, "a word has an expansion: %s", v.written(p))
	}
	v.loosen("a word has an expansion: %s", v.written(p))
	if v.depth++; v.deep() {
		return
	}
	defer func() { v.depth-- }()
	if p.Excl && p.Names == 0 || p.Param == nil || p.Flags != nil || p.NestedParam != nil ||
		len(p.Modifiers) > 0 || p.Width {
		v.opaque("a variable names another: %s", v.written(p))
	}
	if !allElements(p.Index) {
		v.arithm(p.Index)
	}
	if p.Slice != nil {
		v.arithm(p.Slice.Offset)
		v.arithm(p.Slice.Length)
	}
	if p.Repl != nil {
		v.word(p.Repl.Orig)
		v.word(p.Repl.With)
	}
	if p.Exp != nil {
		if p.Exp.Op == syntax.OtherParamOps {
			v.opaque("the value of a variable is expanded again: %s", v.written(p))
		}
		v.word(p.Exp.Word)
		if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
			v.set(p.Param.Value, word{})
		}
	}
}

// allElements reports whether x is the index @ or *.
func allElements(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}

// arithm reads an arithmetic expression. The shell also evaluates the values of variables,
// commands in them included, so a variable makes the script opaque.
func (v *visitor) arithm(x syntax.ArithmExpr) {
	if v.depth++; v.deep() {
		return
	}
	defer func() { v.depth-- }()
	switch x := x.(type) {
	case nil:
	case *syntax.BinaryArithm:
		v.arithm(x.X)
		v.arithm(x.Y)
	case *syntax.UnaryArithm:
		v.arithm(x.X)
	case *syntax.ParenArithm:
		v.arithm(x.X)
	case *syntax.Word:
		if w := v.word(x); !w.known || strings.Trim(w.text, "0123456789") != "" {
			if !isNumber(x) {
				v.opaque("arithmetic with a variable can run commands: %s", w.text)
			}
		}
	default:
		v.unknown(x)
	}
}

// isNumber reports whether w is a value that is always a number.
func isNumber(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.ArithmExp:
		return true
	case *syntax.ParamExp:
		return p.Length || p.Param != nil && strings.ContainsAny(p.Param.Value, "#?$!") &&
			p.Exp == nil && p.Index == nil && !p.Excl && p.Slice == nil && p.Repl == nil
	}
	return false
}

// test reads the words between [[ and ]].
func (v *visitor) test(x syntax.TestExpr) {
	if v.depth++; v.deep() {
		return
	}
	defer func() { v.depth-- }()
	switch x := x.(type) {
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{x.X, x.Y} {
				if w, ok := side.(*syntax.Word); ok {
					v.arithm(w)
				} else {
					v.unknown(x)
				}
			}
			return
		}
		v.test(x.X)
		v.test(x.Y)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			if w, ok := x.X.(*syntax.Word); !ok || !name(v.word(w)) {
				v.opaque("arithmetic with a variable can run commands: %s", v.written(x))
			}
			return
		}
		v.test(x.X)
	case *syntax.ParenTest:
		v.test(x.X)
	case *syntax.Word:
		v.word(x)
	default:
		v.unknown(x)
	}
}

// name reports whether w is the name of a variable and no more.
func name(w word) bool {
	return w.known && w.text != "" && strings.IndexFunc(w.text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}

// declare reads export, declare and their like.
func (v *visitor) declare(c *syntax.DeclClause) {
	v.lower(engine.Readable, "it sets a variable")
	argv := []engine.Word{{Text: c.Variant.Value, Known: true}}
	for _, a := range c.Args {
		if a.Name != nil {
			set, known := v.assign(a)
			argv = append(argv, engine.Word{Text: set, Known: known})
			continue
		}
		w := v.word(a.Value)
		argv = append(argv, w.engine())
		if !w.known || strings.ContainsAny(w.text, "=[") {
			v.opaque("which variable it sets is known only when it runs (%s)", w.text)
		}
		// Other options create a reference to a variable, evaluate arithmetic, or export a
		// function.
		if len(w.text) > 0 && strings.ContainsRune("-+", rune(w.text[0])) &&
			strings.Trim(w.text[1:], "-"+program.Find("declare").Flags) != "" || c.Variant.Value == "nameref" {
			v.opaque("it sets a variable that is run as a script: %s %s", c.Variant.Value, w.text)
		}
	}
	v.record(engine.Command{Argv: argv, Wrapper: v.inside})
}

// assign reads an assignment and returns it as NAME=value, and whether that is
// known.
func (v *visitor) assign(a *syntax.Assign) (set string, known bool) {
	v.loosen("it sets a variable")
	if a.Index != nil {
		v.arithm(a.Index)
	}
	if a.Index != nil || a.Array != nil || a.Append {
		v.s.strict = true
	}
	value := word{known: true}
	if a.Array != nil {
		value = word{text: v.written(a.Array)}
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				v.arithm(e.Index)
			}
			v.word(e.Value)
		}
	} else if a.Value != nil {
		value = v.word(a.Value)
	}
	if a.Naked {
		return a.Name.Value, a.Index == nil
	}
	v.set(a.Name.Value, value)
	return a.Name.Value + "=" + value.text, value.known && a.Index == nil && !a.Append
}

// call reads a simple command.
func (v *visitor) call(c *syntax.CallExpr, in *string) {
	var env []string
	for _, a := range c.Assigns {
		set, _ := v.assign(a)
		env = append(env, set)
	}
	if len(c.Args) > 0 && reserved[c.Args[0].Lit()] {
		v.opaque("it holds %s where a command stands", c.Args[0].Lit())
	}
	v.command(v.words(c.Args), env, in)
}
