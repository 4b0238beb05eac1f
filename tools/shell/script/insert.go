package script

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gemline/engine/text"
	"gemline/tools/shell/program"
)

// Insert returns a command line with values in the place of marks. Each value is data for
// the shell, also within quotes. A mark in code, such as a here-document, backquotes,
// arithmetic or the text behind sh -c, is an error. An empty value outside of quotes is no
// word.
func Insert(line string, marks *regexp.Regexp, value func(mark string) string) (string, error) {
	in := inserting{value: value}
	in.line = marks.ReplaceAllStringFunc(line, func(mark string) string {
		in.marks = append(in.marks, mark)
		return stand + strconv.Itoa(len(in.marks)-1) + "x"
	})
	if in.marks == nil {
		return line, nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(in.line), "")
	if err != nil {
		return "", fmt.Errorf("%q can't be read: %w", line, err)
	}
	syntax.Walk(file, in.node)
	slices.SortFunc(in.spans, func(a, b span) int { return a.from - b.from })
	if len(in.spans) != len(in.marks) {
		return "", fmt.Errorf("in %q a value could be run; let %s be a word of its own", line, in.marks[0])
	}
	var b strings.Builder
	at := 0
	for _, s := range in.spans {
		b.WriteString(in.line[at:s.from] + s.text)
		at = s.to
	}
	return b.String() + in.line[at:], nil
}

// stand is the prefix of the placeholder for a mark while a line is parsed.
const stand = "gemlinemark"

var stands = text.Pattern(stand + `(\d+)x`)

// A span is a part of a line, and its replacement.
type span struct {
	from, to int
	text     string
}

// inserting finds the places of values in a line.
type inserting struct {
	line  string
	marks []string
	value func(mark string) string
	spans []span
}

// node handles a part of the line in which words may hold values.
func (in *inserting) node(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.CmdSubst:
		return !n.Backquotes
	case *syntax.Redirect:
		if n.Hdoc == nil {
			in.word(n.Word)
		}
	case *syntax.WordIter:
		for _, w := range n.Items {
			in.word(w)
		}
	case *syntax.CaseClause:
		in.word(n.Word)
	case *syntax.CallExpr:
		for _, a := range n.Assigns {
			if a.Value != nil && a.Index == nil {
				in.word(a.Value)
			}
		}
		in.call(n.Args)
	}
	return true
}

// call puts values into the words of a command. Where it is not known which program runs, and
// in a word that a program reads as code, a value must be the whole word.
func (in *inserting) call(args []*syntax.Word) {
	var argv []string
	for _, w := range args {
		argv = append(argv, literal(w).text)
	}
	if len(argv) == 0 || namesVariable(argv) {
		return
	}
	programs, texts := program.Programs(argv), program.CodeWords(argv)
	sure := argv[0] != "eval" && literal(args[0]).known &&
		!slices.ContainsFunc(programs, func(i int) bool { return !literal(args[i]).known })
	for i, w := range args {
		whole := stands().FindString(argv[i]) == argv[i]
		if whole || sure && !texts[i] && !slices.Contains(programs, i) {
			in.word(w)
		}
	}
}

// namesVariable reports whether a command takes names of variables: bash runs commands in
// the index of a name.
func namesVariable(argv []string) bool {
	switch argv[0] {
	case "unset", "read", "mapfile", "readarray", "getopts", "wait":
		return true
	case "test", "[", "printf":
		return slices.ContainsFunc(argv[1:], func(a string) bool { return strings.HasPrefix(a, "-v") || a == "-R" })
	}
	return false
}

// text returns a part of the line.
func (in *inserting) text(n syntax.Node) string { return in.line[n.Pos().Offset():n.End().Offset()] }

// word puts values into a word.
func (in *inserting) word(w *syntax.Word) {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			in.fill(p, "")
		case *syntax.SglQuoted:
			if !p.Dollar {
				in.fill(p, "'")
			}
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if l, ok := inner.(*syntax.Lit); ok && in.text(p) == `"`+in.text(l)+`"` {
					in.fill(p, `"`)
				} else if ok && !p.Dollar {
					in.fill(l, `"`)
				}
			}
		}
	}
}

// fill puts values into a part of a word, which is in the given quotes.
func (in *inserting) fill(part syntax.Node, quote string) {
	start, text := int(part.Pos().Offset()), in.text(part)
	for _, at := range stands().FindAllStringSubmatchIndex(text, -1) {
		n, _ := strconv.Atoi(text[at[2]:at[3]])
		value := in.value(in.marks[n])
		from, to := start+at[0], start+at[1]
		switch {
		case quote != "" && text == quote+text[at[0]:at[1]]+quote:
			from, to, value = start, start+len(text), Quote(value)
		case value != "":
			value = quote + Quote(value) + quote
		}
		in.spans = append(in.spans, span{from, to, value})
	}
}
