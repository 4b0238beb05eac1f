package jsonc

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// A style is the format of new text, taken from the first key of the file.
type style struct {
	unit    string // one level of indentation
	newline string
	colon   string // after a colon, and after a comma on the same line
}

func (d *Document) style() style {
	s := style{unit: "  ", newline: "\n", colon: " "}
	if end := bytes.IndexByte(d.text, '\n'); end > 0 && d.text[end-1] == '\r' {
		s.newline = "\r\n"
	}
	if o := d.root.Value.(*hujson.Object); len(o.Members) > 0 {
		first := o.Members[0]
		if indent := d.indentAt(first.Name.StartOffset); startsLine(first.Name.BeforeExtra) && indent != "" {
			s.unit = indent
		}
		s.colon = blanks(first.Value.BeforeExtra, " ")
	}
	return s
}

// indentAt returns the indentation of the line of an offset.
func (d *Document) indentAt(offset int) string {
	line := d.text[bytes.LastIndexByte(d.text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// value formats compact JSON in the style: on one line if flat is set, otherwise on several lines.
// The caller has indented the first line.
func (s style) value(raw []byte, flat bool, indent string) hujson.Literal {
	if flat && s.colon == "" {
		return raw
	}
	unit, lines := s.unit, strings.NewReplacer("\n", s.newline)
	if flat { // a line end in a text is always escaped
		indent, unit, lines = "", "", strings.NewReplacer(",\n", ", ", "\n", "")
	}
	var b bytes.Buffer
	json.Indent(&b, raw, indent, unit) // raw is valid
	return hujson.Literal(lines.Replace(b.String()))
}

// startsLine reports whether the text after these blanks and comments begins a line.
func startsLine(before hujson.Extra) bool { return bytes.Contains(before, []byte("\n")) }

// blanks returns extra if it is only blanks on one line, otherwise usual.
func blanks(extra hujson.Extra, usual string) string {
	if len(bytes.Trim(extra, " \t")) > 0 {
		return usual
	}
	return string(extra)
}

// trivia returns the end of the comments on the first line of extra, and whether the
// last of them runs to the end of its line.
func trivia(extra []byte) (past int, slashes bool) {
	for {
		rest := bytes.TrimLeft(extra[past:], " \t")
		n := comment(rest)
		if n == 0 {
			return past, false
		}
		if past = len(extra) - len(rest) + n; rest[1] == '/' {
			return past - (n - len(bytes.TrimRight(rest[:n], "\r"))), true
		}
	}
}
