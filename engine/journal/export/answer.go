package export

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A longer or deeper nested answer is shown as text: the parser's time may grow faster than the
// square of the length.
const (
	mostBytes = 256 << 10
	mostDepth = 40
)

// deepest is the level of a turn's heading; headings in answers get lower levels.
const deepest = 2

// markdown reads answers.
var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.NewTable(), extension.Strikethrough),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(tame{}, 1))))
})

// readable reports whether an answer is read as Markdown.
func readable(answer string) bool {
	if len(answer) > mostBytes {
		return false
	}
	for line := range strings.Lines(answer) {
		markers, bars := 0, 0
		for i, r := range line {
			if strings.ContainsRune(">-*+", r) && strings.Trim(line[:i], " \t>-*+.)0123456789") == "" {
				markers++
			}
			if r == '|' || r == '[' || r == '*' || r == '_' || r == '`' {
				bars++
			}
		}
		if markers > mostDepth && strings.Trim(line, " \t\r\n-*_") != "" || bars > 1000 {
			return false
		}
	}
	return true
}

// parse reads an answer.
func parse(src []byte) ast.Node { return markdown().Parser().Parse(text.NewReader(src)) }

// answerHTML returns an answer as HTML.
func answerHTML(answer string) ([]byte, bool) {
	if !readable(answer) {
		return nil, false
	}
	src := []byte(strings.Map(func(r rune) rune {
		if unfit(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(answer, "\uFFFD")))
	var b bytes.Buffer
	if err := markdown().Renderer().Render(&b, src, parse(src)); err != nil {
		return nil, false
	}
	return b.Bytes(), true
}

// tame renders the elements that the default renderer would pass through unescaped.
type tame struct{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (tame) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHTMLBlock, shownBlock)
	r.Register(ast.KindRawHTML, shownInline)
	r.Register(ast.KindImage, shownImage)
	r.Register(ast.KindLink, link)
	r.Register(ast.KindAutoLink, autoLink)
	r.Register(ast.KindHeading, lowered)
}

// write writes text.
func write(w util.BufWriter, s []byte) { w.Write(util.EscapeHTML(s)) }

// shownBlock shows a block of HTML as text.
func shownBlock(w util.BufWriter, src []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.HTMLBlock)
	if !entering {
		return ast.WalkContinue, nil
	}
	w.WriteString("<pre>")
	write(w, n.Lines().Value(src))
	if n.HasClosure() {
		write(w, n.ClosureLine.Value(src))
	}
	w.WriteString("</pre>\n")
	return ast.WalkSkipChildren, nil
}

// shownInline shows an element of HTML as text.
func shownInline(w util.BufWriter, src []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		write(w, node.(*ast.RawHTML).Segments.Value(src))
	}
	return ast.WalkSkipChildren, nil
}

// shownImage shows the address of an image. The image itself would be fetched.
func shownImage(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString("[image: ")
		return ast.WalkContinue, nil
	}
	w.WriteString(", ")
	write(w, node.(*ast.Image).Destination)
	w.WriteString("]")
	return ast.WalkContinue, nil
}

// link renders links to pages and mail addresses as links, and all others as text.
func link(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	at, ok := address(node.(*ast.Link).Destination)
	switch {
	case ok && entering:
		w.WriteString(`<a href="` + at + `">`)
	case ok:
		w.WriteString("</a>")
	case !entering:
		w.WriteString(" (")
		write(w, node.(*ast.Link).Destination)
		w.WriteString(")")
	}
	return ast.WalkContinue, nil
}

// autoLink does the same for a bare address.
func autoLink(w util.BufWriter, src []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.AutoLink)
	to := n.URL(src)
	if n.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(to), []byte("mailto:")) {
		to = append([]byte("mailto:"), to...)
	}
	at, ok := address(to)
	if ok {
		w.WriteString(`<a href="` + at + `">`)
	}
	write(w, n.Label(src))
	if ok {
		w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}

// address returns the target of a link, escaped for an attribute, if it is a page or a mail
// address.
func address(to []byte) (at string, ok bool) {
	to = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(to)))
	u, err := url.Parse(string(to))
	if err != nil || !slices.Contains([]string{"http", "https", "mailto"}, u.Scheme) {
		return "", false
	}
	return string(util.EscapeHTML(util.URLEscape([]byte(u.String()), false))), true
}

// lowered writes a heading with a level below the turn's heading.
func lowered(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	level := string(rune('0' + min(node.(*ast.Heading).Level+deepest, 6)))
	if entering {
		w.WriteString("<h" + level + ">")
	} else {
		w.WriteString("</h" + level + ">\n")
	}
	return ast.WalkContinue, nil
}
