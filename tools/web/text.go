package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"gemline/engine/text"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// Media returns the type of the page, such as "text/html", without parameters. Without a
// specific type from the server, the content decides.
func (p *Page) Media() string {
	t, _, err := mime.ParseMediaType(p.Type)
	if err != nil || t == "application/octet-stream" || t == "unknown/unknown" {
		t, _, _ = mime.ParseMediaType(http.DetectContentType(p.Body))
	}
	return t
}

// Text returns the page as text for reading: HTML as Markdown, other text as it is, in
// UTF-8. A page that is not text, or has no text, is an error.
func (p *Page) Text() (string, error) {
	kind := p.Media()
	switch {
	case len(bytes.TrimSpace(p.Body)) == 0:
		return "", errors.New("the page is empty")
	case kind == "text/html", kind == "application/xhtml+xml":
		text := p.markdown()
		if text == "" {
			return "", errors.New("the page has no text; scripts may make it, which do not run here")
		}
		return text, nil
	case textual(kind):
		text := p.decoded()
		if strings.ContainsRune(text, 0) {
			return "", fmt.Errorf("it claims to be %s, and is not text", kind)
		}
		return text, nil
	}
	return "", fmt.Errorf("it is %s, which is not text", kind)
}

func textual(kind string) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") ||
		strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+yaml") {
		return !strings.HasPrefix(kind, "image/") || kind == "image/svg+xml"
	}
	switch strings.TrimPrefix(strings.TrimPrefix(kind, "application/"), "x-") {
	case "json", "ndjson", "jsonlines", "xml", "yaml", "toml", "javascript", "ecmascript", "typescript", "sh", "sql", "tex", "latex", "rtf", "patch", "perl", "python", "httpd-php":
		return strings.HasPrefix(kind, "application/")
	}
	return false
}

// decoded returns the page in UTF-8.
func (p *Page) decoded() string {
	encoding, _, certain := charset.DetermineEncoding(p.Body, p.Type)
	if !certain && utf8.Valid(p.Body) {
		return string(p.Body)
	}
	text, err := encoding.NewDecoder().Bytes(p.Body)
	if err != nil {
		text = p.Body
	}
	return strings.TrimPrefix(strings.ToValidUTF8(string(text), "\uFFFD"), "\ufeff")
}

// markdown returns an HTML page as Markdown, or as bare text if the conversion fails.
func (p *Page) markdown() string {
	text, whole := p.decoded(), ""
	markup, cut, tangled := tamed(text)
	if cut {
		whole = "\n\n(the page goes on)"
	}
	if tangled {
		return words(markup) + whole
	}
	doc, err := html.Parse(strings.NewReader(markup))
	if err != nil {
		return words(markup) + whole
	}
	prune(doc)
	if weight(doc, 1) > mostWeight {
		return words(markup) + whole
	}
	out, err := convert(doc, p.URL.Scheme+"://"+p.URL.Host)
	if err != nil {
		return words(markup) + whole
	}
	return strings.TrimSpace(string(out)) + whole
}

// convert converts doc to Markdown by the library. A panic of the library becomes an error.
func convert(doc *html.Node, base string) (out []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	return newConverter().ConvertNode(doc, converter.WithDomain(base))
}

func newConverter() *converter.Converter {
	return converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(), table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))))
}

// unread are the elements without readable text.
var unread = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Template: true, atom.Noscript: true, atom.Iframe: true, atom.Object: true,
	atom.Embed: true, atom.Svg: true, atom.Canvas: true, atom.Audio: true, atom.Video: true, atom.Img: true, atom.Picture: true,
	atom.Input: true, atom.Select: true, atom.Button: true,
}

// unseen matches styles of invisible elements. The model does not get text that users can't
// see.
var unseen = text.Pattern(`(?i)(display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0\s*(;|$))`)

// prune removes unread elements from a tree, and table spans, which the library would
// expand enormously.
func prune(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if c.Type == html.CommentNode || c.Type == html.ElementNode && (unread[c.DataAtom] || hidden(c)) {
			n.RemoveChild(c)
		} else {
			prune(c)
		}
		c = next
	}
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "colspan" || a.Key == "rowspan" })
	if n.DataAtom == atom.Table && cells(n) > mostCells {
		flatten(n)
	}
}

func hidden(n *html.Node) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
		return a.Key == "hidden" || a.Key == "style" && unseen().MatchString(a.Val)
	})
}

// cells returns the number of cells in a table whose rows are all as wide as the widest.
func cells(table *html.Node) int {
	rows, widest := 0, 0
	for n := range table.Descendants() {
		if n.DataAtom != atom.Tr {
			continue
		}
		rows++
		width := 0
		for range n.ChildNodes() {
			width++
		}
		widest = max(widest, width)
	}
	return rows * widest
}

// flatten converts the parts of a table to blocks.
func flatten(table *html.Node) {
	table.DataAtom, table.Data = atom.Div, "div"
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Table, atom.Caption, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th:
			n.DataAtom, n.Data = atom.Div, "div"
		}
	}
}

// weight returns the number of elements and texts in a tree, weighted by depth.
func weight(n *html.Node, depth int) int {
	sum := depth
	for c := range n.ChildNodes() {
		sum += weight(c, depth+1)
	}
	return sum
}

// words returns the plain text of a tamed page.
func words(page string) string {
	var b bytes.Buffer
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				b.WriteString("\n(the rest can't be read)")
			}
			return text.Words(b.String())
		case html.TextToken:
			b.Write(z.Text())
			b.WriteByte(' ')
		}
	}
}
