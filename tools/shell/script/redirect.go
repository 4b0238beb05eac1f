package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gemline/engine"
	"gemline/engine/text"
)

// redirect reads a redirection and returns the text that it gives to the standard
// input, if that text is known.
func (v *visitor) redirect(r *syntax.Redirect) (in *string) {
	if _, ok := harmless(r); ok {
		return nil
	}
	if text, ok := document(r); ok {
		return &text
	}
	v.loosen("it redirects to something other than /dev/null")
	v.s.strict = v.s.strict || r.Op != syntax.RdrIn || r.N != nil || v.process(r.Word)
	if r.N != nil && strings.Contains(r.N.Value, "[") {
		v.opaque("arithmetic with a variable can run commands")
	}
	w := v.word(r.Word)
	if strings.HasPrefix(w.text, "/dev/tcp/") || strings.HasPrefix(w.text, "/dev/udp/") {
		v.opaque("it opens a connection: %s", w.text)
	}
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut:
		if w.text != "/dev/null" && !v.process(r.Word) {
			v.write(w)
		}
	case syntax.DplOut:
		if strings.Trim(w.text, "0123456789-") != "" || !w.known {
			v.write(w)
		}
	case syntax.RdrIn:
		v.s.strict = v.s.strict || !w.known
		v.s.Reads = append(v.s.Reads, w.text)
		v.s.Inputs = append(v.s.Inputs, engine.Word{Text: w.text, Known: w.known})
	case syntax.DplIn:
	case syntax.Hdoc, syntax.DashHdoc:
		v.ends(r)
		if v.word(r.Hdoc); r.N == nil || r.N.Value == "0" {
			return body(r)
		}
	case syntax.WordHdoc:
		if w.known && (r.N == nil || r.N.Value == "0") {
			return &w.text
		}
	default:
		v.unknown(r)
	}
	return nil
}

// ends checks the end of a here-document. The shell ends it at the first line equal to the
// delimiter; the parser may choose a later line, if a substitution is open.
func (v *visitor) ends(r *syntax.Redirect) {
	if r.Hdoc == nil {
		return
	}
	from, to := r.Hdoc.Pos().Offset(), r.Hdoc.End().Offset()
	if from > to || to > uint(len(v.src)) {
		v.unknown(r)
		return
	}
	substitutes := slices.ContainsFunc(r.Hdoc.Parts, func(p syntax.WordPart) bool {
		_, bare := p.(*syntax.Lit)
		return !bare
	})
	if !substitutes {
		return
	}
	word := literal(r.Word).text
	for i, l := range slices.Backward(strings.Split(v.src[from:to], "\n")) {
		if strings.Contains(l, "<<") || strings.TrimLeft(l, "\t") == word && i < strings.Count(v.src[from:to], "\n") {
			v.opaque("a here-document may end in more than one place")
			return
		}
	}
}

// document returns the text of a here-document for the standard input, if the text is known.
func document(r *syntax.Redirect) (text string, ok bool) {
	if r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc || r.N != nil && r.N.Value != "0" {
		return "", false
	}
	body, end := body(r), literal(r.Word)
	if body == nil || !end.known || !delimiter().MatchString(end.text) || slices.Contains(strings.Split(*body, "\n"), end.text) {
		return "", false
	}
	return *body, true
}

// delimiter matches simple delimiters of here-documents.
var delimiter = text.Pattern(`^\w+$`)

// printed returns the output of a substitution that only prints a here-document, if the text
// is known.
func printed(p syntax.WordPart) (text string, ok bool) {
	c, ok := p.(*syntax.CmdSubst)
	if !ok || c.Backquotes || c.TempFile || c.ReplyVar || len(c.Stmts) != 1 {
		return "", false
	}
	s := c.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) != 1 ||
		len(call.Assigns) > 0 || len(call.Args) != 1 || call.Args[0].Lit() != "cat" {
		return "", false
	}
	text, ok = document(s.Redirs[0])
	return strings.TrimRight(text, "\n"), ok
}

// body returns the content of a here-document after expansion, if known.
func body(r *syntax.Redirect) *string {
	if r.Hdoc == nil {
		return new(string)
	}
	text := ""
	for _, p := range r.Hdoc.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			return nil
		}
		text += l.Value
	}
	if quoted := r.Word.Lit() == "" || strings.Contains(r.Word.Lit(), `\`); !quoted && strings.Contains(text, `\`) {
		return nil // the shell removes backslashes
	}
	if r.Op == syntax.DashHdoc {
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			lines[i] = strings.TrimLeft(l, "\t")
		}
		text = strings.Join(lines, "\n")
	}
	return &text
}
