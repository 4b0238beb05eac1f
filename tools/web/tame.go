package web

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits on parts of a page, as the cost of parser and library varies widely between pages
// of the same size.
const (
	mostMarkup = 1 << 20 // bytes of HTML, without elements that are not read
	mostTags   = 50_000
	mostTag    = 8 << 10   // bytes of a tag; longer ones lose their attributes
	mostOpen   = 8         // elements such as <b>, which the parser opens again in each block
	mostWeight = 1_000_000 // of a tree
	mostCells  = 20_000    // of a table
)

// reopened are the unclosed elements that the parser opens again in later blocks, by the
// rules of HTML.
var reopened = map[atom.Atom]bool{
	atom.A: true, atom.B: true, atom.Big: true, atom.Code: true, atom.Em: true, atom.Font: true, atom.I: true, atom.Nobr: true,
	atom.S: true, atom.Small: true, atom.Strike: true, atom.Strong: true, atom.Tt: true, atom.U: true,
}

// tamed returns the beginning of a page that can be parsed quickly, without scripts and the
// like, and whether it was cut. A tangled page should not be parsed.
func tamed(page string) (markup string, cut, tangled bool) {
	var b strings.Builder
	tags, open := 0, 0
	skip, inside := atom.Atom(0), 0 // the skipped element, and its nesting depth
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return b.String(), false, tangled
		}
		raw := string(z.Raw()) // before TagName, which changes it
		if kind == html.CommentToken || kind == html.DoctypeToken {
			continue
		}
		tag := atom.Atom(0)
		if kind != html.TextToken {
			name, _ := z.TagName()
			if tag = atom.Lookup(name); len(raw) > mostTag {
				raw = "<" + string(name) + ">"
			}
			tags++
		}
		switch {
		case skip != 0:
			if tag == skip && opens(kind, tag) {
				inside++
			} else if tag == skip && kind == html.EndTagToken {
				inside--
			}
			if inside == 0 {
				skip = 0
			}
			continue
		case opens(kind, tag) && (tag == atom.Script || tag == atom.Style || tag == atom.Template || tag == atom.Svg):
			skip, inside = tag, 1
			continue
		case tag == atom.Img:
			continue
		case kind == html.StartTagToken && reopened[tag]:
			if open++; open > mostOpen {
				tangled = true
			}
		case kind == html.EndTagToken && reopened[tag]:
			open = max(0, open-1)
		}
		if b.Len()+len(raw) > mostMarkup || tags > mostTags {
			if room := mostMarkup - b.Len(); kind == html.TextToken && room > 0 {
				b.WriteString(strings.ToValidUTF8(raw[:min(room, len(raw))], ""))
			}
			return b.String(), true, tangled
		}
		b.WriteString(raw)
	}
}

// opens reports whether a tag begins an element with an end tag. HTML ignores a slash at
// the end of a tag; only in foreign elements such as svg it closes the element.
func opens(kind html.TokenType, tag atom.Atom) bool {
	return kind == html.StartTagToken || kind == html.SelfClosingTagToken && tag != atom.Svg
}
