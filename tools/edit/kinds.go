package edit

import (
	"iter"
	"sort"
	"strings"
	"unicode/utf8"

	"gemline/engine/charset"
)

// kindred maps similar quotation marks, dashes and blanks, which people and models confuse,
// to the plain character.
var kindred = strings.NewReplacer(
	"\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'", "\u2032", "'", "\u02bc", "'", "\uff07", "'",
	"\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u201f", `"`, "\u2033", `"`, "\uff02", `"`,
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2015", "-", "\u2212", "-",
	"\u00a0", " ", "\u2000", " ", "\u2001", " ", "\u2002", " ", "\u2003", " ", "\u2004", " ", "\u2005", " ", "\u2006", " ",
	"\u2007", " ", "\u2008", " ", "\u2009", " ", "\u200a", " ", "\u202f", " ", "\u205f", " ", "\u3000", " ")

// simple returns text with plain characters in the place of similar ones. An undecodable
// byte becomes its replacement character on display.
func simple(text string) string { return kindred.Replace(charset.Readable(text)) }

// A plainText is a text in which plain characters or line endings replace others, one for one.
type plainText struct {
	text      string
	at, shift []int // from the offset at[i] of text on, the offset in the original is shift[i] bytes larger
}

func plain(original string) plainText {
	p := plainText{text: simple(original)}
	if len(p.text) == len(original) {
		return p
	}
	a, b := 0, 0
	for a < len(original) {
		_, n := utf8.DecodeRuneInString(original[a:])
		_, m := utf8.DecodeRuneInString(p.text[b:])
		a, b = a+n, b+m
		if n != m {
			p.at, p.shift = append(p.at, b), append(p.shift, a-b)
		}
	}
	return p
}

// offset converts an offset of the plain text to an offset of the original.
func (p plainText) offset(i int) int {
	if k := sort.SearchInts(p.at, i+1); k > 0 {
		return i + p.shift[k-1]
	}
	return i
}

// kinds finds old by the other strategies, with plain quotation marks, dashes and blanks in
// both. If with repeats a character of old, the text's variant stays.
func kinds(text, old, with string) iter.Seq[span] {
	p, q := plain(text), plain(old)
	if p.text == text && q.text == old {
		return none
	}
	return func(yield func(span) bool) {
		for _, find := range []func(text, old, with string) iter.Seq[span]{exact, flexible} {
			found := false
			for sp := range find(p.text, q.text, with) {
				found = true
				sp.start, sp.end = p.offset(sp.start), p.offset(sp.end)
				how := *sp.how
				how.with = keepKinds(text[sp.start:sp.end], old, how.with)
				sp.how = &how
				if !yield(sp) {
					return
				}
			}
			if found {
				return
			}
		}
	}
}

// mostKept limits the length of texts whose characters are compared.
const mostKept = 1 << 14

// keepKinds returns with, the replacement of old, with the characters that it shares with
// old taken from found, the text where old was found.
func keepKinds(found, old, with string) string {
	if len(found)+len(old)+len(with) > mostKept {
		return with
	}
	is, was, will := inked(found), inked(old), inked(with)
	if len(is) != len(was) {
		return with
	}
	keys := func(all []ink) (list []string) {
		for _, c := range all {
			list = append(list, simple(c.text))
		}
		return list
	}
	var b strings.Builder
	i, j, done := 0, 0, 0 // done is how much of with is written
	for _, c := range append(compare(keys(was), keys(will)), change{len(was), len(was), len(will), len(will)}) {
		for ; j < c.b0; i, j = i+1, j+1 {
			b.WriteString(with[done:will[j].at])
			done = will[j].at + len(will[j].text)
			if will[j].text == was[i].text { // the replacement keeps the character
				b.WriteString(is[i].text)
			} else {
				b.WriteString(will[j].text)
			}
		}
		i, j = c.a1, c.b1
	}
	return b.String() + with[done:]
}

// An ink is a character other than leading or trailing white space of a line.
type ink struct {
	text string
	at   int
}

// inked returns the characters of text without leading and trailing white space of lines.
func inked(text string) (all []ink) {
	at := 0
	for line := range strings.Lines(text) {
		body := strings.TrimSpace(line)
		for i, r := range body {
			all = append(all, ink{text: string(r), at: at + strings.Index(line, body) + i})
		}
		at += len(line)
	}
	return all
}
