package export

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"

	"gemline/engine/text"
)

// markdown returns the document as Markdown.
func (d *document) markdown() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", literal(d.Title))
	for _, f := range d.facts() {
		fmt.Fprintf(&b, "- %s: %s\n", f[0], literalFact(f[1]))
	}
	for n, t := range d.turns {
		fmt.Fprintf(&b, "\n## Turn %d: %s\n", n+1, literal(t.title))
		for _, it := range t.items {
			it.markdown(&b)
		}
	}
	return []byte(b.String())
}

// markdown writes an item.
func (it *item) markdown(b *strings.Builder) {
	switch {
	case it.call:
		fmt.Fprintf(b, "\nTool %s: %s\n\n%s", literal(it.who), it.state, fenced("json", it.args))
		if it.result != "" {
			fmt.Fprintf(b, "\nResult:\n\n%s", fenced("text", it.result))
		}
	case it.who == "Gemini":
		fmt.Fprintf(b, "\n**%s:**\n\n%s", it.who, answerMarkdown(it.said))
	default:
		fmt.Fprintf(b, "\n**%s:**\n\n%s", it.who, fenced("text", it.said))
	}
}

// literal escapes a line for a Markdown document: each character of possible markup gets a
// backslash.
func literal(line string) string {
	return punctuation().ReplaceAllString(text.PrintableLine(line), `\$0`)
}

// literalFact is literal for an id, a number or a time, which contain no markup.
func literalFact(value string) string {
	if plainFact().MatchString(value) {
		return value
	}
	return literal(value)
}

var plainFact = text.Pattern(`^[0-9A-Za-z]+([-: ][0-9A-Za-z]+)*$`)

var punctuation = text.Pattern("[\\\\`*_{}\\[\\]()#+!<>&|~$^=:@-]")

// fenced returns text between fences that none of its lines contains.
func fenced(language, s string) string {
	return text.Fenced(text.Printable(strings.TrimRight(s, "\n")), language) + "\n"
}

// answerMarkdown returns an answer as a part of a document: unchanged if it is harmless, else
// with markup escaped, or as a block of text if escaping does not suffice.
func answerMarkdown(answer string) string {
	answer = text.Printable(strings.Trim(answer, "\n")) + "\n"
	if !readable(answer) {
		return fenced("markdown", answer)
	}
	for pass := range 4 { // escaping may turn text into other markup
		if harmless(answer) {
			return answer
		}
		answer = escaped(answer, pass > 0)
	}
	if harmless(answer) {
		return answer
	}
	return fenced("markdown", answer)
}

// harmless reports whether an answer has no HTML, no image, no link but to pages and mail
// addresses, no heading as high as a turn's, and no block that would continue after it.
func harmless(answer string) bool {
	const next = "\n## x\n"
	src := []byte(answer + next)
	ok := true
	doc := parse(src)
	end, last := doc.LastChild().(*ast.Heading)
	if !last || end.Level != deepest {
		return false
	}
	ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.HTMLBlock, *ast.RawHTML, *ast.Image:
			ok = false
		case *ast.Heading:
			ok = ok && (n.Level > deepest || n == end)
		case *ast.Link:
			_, fine := address(n.Destination)
			ok = ok && fine
		case *ast.LinkReferenceDefinition:
			ok = false // a definition would apply to other answers, too
		}
		return ast.WalkContinue, nil
	})
	return ok
}

// heads matches the marks of a heading.
var heads = text.Pattern(`(?m)^((?:[ \t>]|[-*+][ \t]|[0-9]+[.)][ \t])*)(#{1,6})([ \t]|$)`)

// escaped returns an answer with lowered headings. Outside of code it escapes HTML, images and,
// if links is set, links.
func escaped(answer string, links bool) string {
	src := []byte(answer)
	code := make([]bool, len(src)+1)
	lines := map[int]bool{} // lines that underline a heading
	ast.Walk(parse(src), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			for i := range n.Lines().Len() {
				seg := n.Lines().At(i)
				mark(code, seg.Start, seg.Stop)
			}
		case *ast.CodeSpan:
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					mark(code, t.Segment.Start, t.Segment.Stop)
				}
			}
		case *ast.Heading:
			if k := n.Lines().Len(); k > 0 {
				seg := n.Lines().At(k - 1)
				if i := bytes.IndexByte(src[seg.Stop-1:], '\n'); i >= 0 && !heads().Match(lineAt(src, seg.Start)) {
					lines[seg.Stop+i] = true
				}
			}
		}
		return ast.WalkContinue, nil
	})
	var b strings.Builder
	at := 0
	for _, line := range bytes.SplitAfter(src, []byte("\n")) {
		if m := heads().FindSubmatchIndex(line); m != nil && !code[at+m[4]] {
			level := min(m[5]-m[4]+deepest, 6)
			b.Write(line[:m[4]])
			b.WriteString(strings.Repeat("#", level))
			line, at = line[m[5]:], at+m[5]
		} else if i := bytes.IndexAny(line, "=-"); lines[at] && i >= 0 {
			b.Write(line[:i])
			b.WriteByte('\\')
			line, at = line[i:], at+i
		}
		for i, c := range line {
			switch next := line[i+1:]; {
			case code[at+i]:
				b.WriteByte(c)
			case c == '<':
				b.WriteString("&lt;")
			case c == '!' && bytes.HasPrefix(next, []byte("[")):
				b.WriteString("&#33;")
			case links && c == ']' && (bytes.HasPrefix(next, []byte(":")) || bytes.HasPrefix(next, []byte("("))):
				b.WriteString("&#93;")
			default:
				b.WriteByte(c)
			}
		}
		at += len(line)
	}
	return b.String()
}

// mark marks the bytes in code[from:to] as code.
func mark(code []bool, from, to int) {
	for i := from; i < to; i++ {
		code[i] = true
	}
}

// lineAt returns the line of src that holds the byte at.
func lineAt(src []byte, at int) []byte {
	from := bytes.LastIndexByte(src[:at], '\n') + 1
	line, _, _ := bytes.Cut(src[from:], []byte("\n"))
	return line
}
