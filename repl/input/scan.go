package input

import "strings"

// A Ref is an @path in a text.
type Ref struct {
	Name       string // without the @, quotes and escapes
	Spelling   string // its spelling, unless it is the name behind an @
	start, end int    // text[start:end] is the reference; text[start] is the @
	rest       string // the text up to the next blank
	literal    bool   // written with quotes or escapes: nothing in it is a wildcard
	Mail       bool   // it follows a letter or digit, as in an address
	guess      bool   // in a prompt of one line: Name may be part of a file's name
}

// refs returns the references in text, in order, without overlaps. Text inside !{...} belongs to
// the shell; a code fence or a diff contains no reference.
func refs(text string) []Ref {
	if !strings.Contains(text, "@") {
		return nil
	}
	spans, err := braces(text)
	if err != nil {
		spans = nil
	}
	pasted := quoted(text)
	single := !strings.Contains(strings.TrimSpace(text), "\n")
	var found []Ref
	for i := 0; i < len(text); {
		if len(pasted) > 0 && i >= pasted[0].start {
			i, pasted = max(i, pasted[0].end), pasted[1:]
			continue
		}
		for len(spans) > 0 && spans[0].start < i {
			spans = spans[1:]
		}
		if len(spans) > 0 && i == spans[0].start {
			i, spans = spans[0].end, spans[1:]
			continue
		}
		if text[i] != '@' || i > 0 && text[i-1] == '\\' {
			i++
			continue
		}
		limit := len(text)
		if len(spans) > 0 {
			limit = spans[0].start
		}
		r := scanRef(text[:limit], i)
		if r.guess = single; r.end > i+1 {
			found = append(found, r)
		}
		i = r.end
	}
	return found
}

// scanRef returns the reference whose @ is text[start]. It is empty if no name follows.
func scanRef(text string, start int) Ref {
	r := Ref{start: start, Mail: start > 0 && isWord(text[start-1])}
	var name strings.Builder
	i := start + 1
scan:
	for i < len(text) {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && text[i+1] != '\n' && text[i+1] != '\r':
			name.WriteByte(text[i+1])
			r.literal = true
			i += 2
		case c == '"':
			n := strings.IndexAny(text[i+1:], "\"\r\n")
			if n < 0 || text[i+1+n] != '"' {
				name.WriteByte(c) // without an end, the quote is part of the name
				i++
				break
			}
			name.WriteString(text[i+1 : i+1+n])
			r.literal = true
			i += n + 2
		case strings.IndexByte(breaks, c) >= 0:
			break scan
		case c == '.' && (i+1 == len(text) || strings.IndexByte(blanks, text[i+1]) >= 0):
			break scan
		default:
			name.WriteByte(c)
			i++
		}
	}
	r.end, r.Name = i, name.String()
	if r.Name == "" {
		r.end = start + 1
		return r
	}
	r.rest = text[i:]
	if n := strings.IndexAny(r.rest, blanks); n >= 0 {
		r.rest = r.rest[:n]
	}
	return r
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_'
}

// A span is a piece of a text, such as a !{command}.
type span struct {
	start, end int // text[start:end] is the whole piece
	command    string
}

// braces returns the commands in text, in order. Braces inside a command must
// be balanced. A !{ after a backslash or in a literal span, and a !{} without a command, are
// text.
func braces(text string, literal ...span) ([]span, error) {
	var found []span
	for i := 0; ; {
		n := strings.Index(text[i:], "!{")
		if n < 0 {
			return found, nil
		}
		start := i + n
		if start > 0 && text[start-1] == '\\' || inside(literal, start) {
			i = start + 2
			continue
		}
		end := Closing(text, start+2)
		if end < 0 {
			return nil, mistake("!{ at character %d has no closing brace; write \\!{ if no command is meant", len([]rune(text[:start]))+1)
		}
		if command := strings.TrimSpace(text[start+2 : end]); command != "" {
			found = append(found, span{start: start, end: end + 1, command: command})
		}
		i = end + 1
	}
}

// Closing returns the index of the brace that closes the brace before start, or -1.
func Closing(text string, start int) int {
	for i, depth := start, 1; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
