package gitconfig

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// mostBytes limits the bytes read of a configuration.
const mostBytes = 256 << 10

// An Entry is a setting.
type Entry struct {
	Section string // in small letters
	Name    string // the subsection, such as x in [remote "x"]
	Key     string // in small letters
	Value   string
}

// String returns the key as git writes it.
func (e Entry) String() string {
	if e.Name == "" {
		return e.Section + "." + e.Key
	}
	return e.Section + "." + e.Name + "." + e.Key
}

// Parse parses a configuration. Ambiguous syntax is an error, as is syntax that git rejects.
func Parse(text string) (list []Entry, err error) {
	if len(text) > mostBytes {
		return nil, fmt.Errorf("is longer than %d bytes", mostBytes)
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !utf8.ValidString(text) || strings.ContainsFunc(text,
		func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' || r == 0x7f || r == '\uFEFF' }) {
		return nil, fmt.Errorf("is not plain text")
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n" // as git reads the end
	}
	p := &parser{rest: text}
	for p.rest != "" {
		before := p.rest
		if !p.item(&list) {
			return nil, fmt.Errorf("can't be read in line %d", 1+strings.Count(text[:len(text)-len(before)], "\n"))
		}
	}
	return list, nil
}

// A parser holds the remaining text, and the current section.
type parser struct {
	rest          string
	section, name string
}

// next reads the next character; 0 at the end.
func (p *parser) next() byte {
	if p.rest == "" {
		return 0
	}
	c := p.rest[0]
	p.rest = p.rest[1:]
	return c
}

// item reads a blank, a comment, a heading or a setting.
func (p *parser) item(list *[]Entry) bool {
	switch c := p.rest[0]; {
	case blank(c):
		p.next()
		return true
	case c == '#' || c == ';':
		p.line()
		return true
	case c == '[':
		p.next()
		return p.heading()
	case letter(c) && p.section != "":
		return p.setting(list)
	}
	return false
}

func (p *parser) line() {
	_, p.rest, _ = strings.Cut(p.rest, "\n")
}

// word reads letters, digits and hyphens, and dots if points is true.
func (p *parser) word(points bool) string {
	n := 0
	for letter(p.rest[n]) || '0' <= p.rest[n] && p.rest[n] <= '9' || p.rest[n] == '-' || points && p.rest[n] == '.' {
		n++
	}
	word := strings.ToLower(p.rest[:n])
	p.rest = p.rest[n:]
	return word
}

// heading reads the text behind the bracket of a heading.
func (p *parser) heading() bool {
	word := p.word(true)
	if strings.Contains(word+".", "..") {
		return false
	}
	// [a.b] is an older way to write [a "b"].
	p.section, p.name, _ = strings.Cut(word, ".")
	c := p.next()
	if c == ']' {
		return p.section != ""
	}
	if c != ' ' && c != '\t' || p.section == "" {
		return false
	}
	p.rest = strings.TrimLeft(p.rest, " \t")
	if p.next() != '"' {
		return false
	}
	var own strings.Builder
	for {
		switch c := p.next(); c {
		case '\n', 0:
			return false
		case '"':
			if own.Len() == 0 {
				return false
			}
			p.name = strings.TrimPrefix(p.name+"."+own.String(), ".")
			return p.next() == ']'
		case '\\':
			if c = p.next(); c == '\n' || c == 0 {
				return false
			}
			own.WriteByte(c)
		default:
			own.WriteByte(c)
		}
	}
}

// setting reads a key and its value.
func (p *parser) setting(list *[]Entry) bool {
	e := Entry{Section: p.section, Name: p.name, Key: p.word(false)}
	p.rest = strings.TrimLeft(p.rest, " \t")
	ok := true
	switch p.next() {
	case '\n': // a key alone is true
	case '=':
		e.Value, ok = p.value()
	default:
		return false
	}
	*list = append(*list, e)
	return ok
}

// value reads a value to the end of its line, or lines.
func (p *parser) value() (string, bool) {
	var b strings.Builder
	quoted, spaces := false, 0
	for {
		c := p.next()
		switch {
		case c == 0 || c == '\n':
			return b.String(), !quoted
		case !quoted && (c == ' ' || c == '\t'):
			if b.Len() > 0 {
				spaces++
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			p.line()
			return b.String(), true
		}
		b.WriteString(strings.Repeat(" ", spaces))
		spaces = 0
		switch c {
		case '"':
			quoted = !quoted
		case '\\':
			c, ok := escaped[p.next()]
			if !ok {
				return "", false
			}
			b.WriteString(c)
		default:
			b.WriteByte(c)
		}
	}
}

// escaped maps a character behind a backslash to its meaning.
var escaped = map[byte]string{'\n': "", 't': "\t", 'b': "\b", 'n': "\n", '\\': `\`, '"': `"`}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func blank(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' }
