package jsonc

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// A style is how something new is written.
type style struct {
	flat    bool   // on one line
	indent  string // before the line it begins on
	unit    string // one level more
	newline string
	colon   string // behind a colon, and behind a comma on one line
}

// styleAt returns the style of the text around an offset: its line endings,
// and how far its lines are indented.
func (d *Document) styleAt(offset int) style {
	s := style{unit: "  ", newline: "\n", colon: " "}
	end := bytes.LastIndexByte(d.text[:offset], '\n')
	if end < 0 {
		if end = bytes.IndexByte(d.text[offset:], '\n'); end >= 0 {
			end += offset
		}
	}
	if end > 0 && d.text[end-1] == '\r' {
		s.newline = "\r\n"
	}
	for v := range d.root.All() {
		o, ok := v.Value.(*hujson.Object)
		if !ok || len(o.Members) == 0 || !startsLine(o.Members[0].Name.BeforeExtra) {
			continue
		}
		outer, inner := d.indentAt(v.StartOffset), d.indentAt(o.Members[0].Name.StartOffset)
		if unit, deeper := strings.CutPrefix(inner, outer); deeper && unit != "" {
			s.unit = unit
			break
		}
	}
	return s
}

// indentAt returns the blanks at the beginning of the line of an offset.
func (d *Document) indentAt(offset int) string {
	line := d.text[bytes.LastIndexByte(d.text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// member returns a member of an object.
func (s style) member(name, raw []byte) string {
	return string(name) + ":" + s.colon + s.print(raw)
}

// print returns JSON that has no blanks in the style.
func (s style) print(raw []byte) string {
	if !s.flat {
		var b bytes.Buffer
		if json.Indent(&b, raw, s.indent, s.unit) != nil {
			return string(raw) // a number that the standard library does not know
		}
		return strings.ReplaceAll(b.String(), "\n", s.newline)
	}
	var b strings.Builder
	quoted := false
	for i := 0; i < len(raw); i++ {
		b.WriteByte(raw[i])
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
			b.WriteByte(raw[i])
		case !quoted && (c == ':' || c == ','):
			b.WriteString(s.colon)
		}
	}
	return b.String()
}

// startsLine reports whether what follows these blanks and comments begins a
// line.
func startsLine(before hujson.Extra) bool { return bytes.Contains(before, []byte("\n")) }

// blanks returns extra if it is nothing but blanks on one line, and otherwise
// what else is usual.
func blanks(extra hujson.Extra, usual string) string {
	if len(bytes.Trim(extra, " \t")) > 0 {
		return usual
	}
	return string(extra)
}

// trivia returns the end of the comments that follow on the line of from, and
// whether the last of them runs to the end of its line.
func trivia(text []byte, from int) (past int, slashes bool) {
	past = from
	for {
		rest := bytes.TrimLeft(text[past:], " \t")
		n := comment(rest)
		if n == 0 {
			return past, false
		}
		if past = len(text) - len(rest) + n; rest[1] == '/' {
			return past - (n - len(bytes.TrimRight(rest[:n], "\r"))), true
		}
	}
}
