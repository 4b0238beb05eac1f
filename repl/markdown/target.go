package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/util"
)

// target measures the address of a link, with its brackets, that s begins
// with. It returns 0 if there is none, and more if that can't be told yet.
func target(s []byte) (n int, more bool) {
	i := spaces(s, 1)
	switch {
	case i == len(s):
		return 0, true
	case s[i] == ')':
		return i + 1, false
	}
	j := address(s, i)
	switch {
	case j < 0:
		return 0, false
	case j == len(s):
		return 0, true
	}
	if i = spaces(s, j); i == len(s) {
		return 0, true
	}
	if s[i] == ')' {
		return i + 1, false
	}
	if i = title(s, i); i < 0 {
		return 0, false
	}
	if i = spaces(s, i); i == len(s) {
		return 0, true
	}
	if s[i] != ')' {
		return 0, false
	}
	return i + 1, false
}

func spaces(s []byte, i int) int {
	for i < len(s) && util.IsSpace(s[i]) {
		i++
	}
	return i
}

// address returns where the address that begins at s[i] ends: len(s) if it may
// go on, -1 if it is none.
func address(s []byte, i int) int {
	angled, depth := s[i] == '<', 0
	for start := i; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			if i+1 == len(s) {
				return len(s)
			}
			if util.IsPunct(s[i+1]) {
				i++
			}
		case angled && c == '>':
			return i + 1
		case angled && c == '\n':
			return -1
		case angled:
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case c == ')', util.IsSpace(c):
			if i == start {
				return -1
			}
			return i
		}
	}
	return len(s)
}

// title returns where the title that begins at s[i] ends: len(s) if it may go
// on, -1 if it is none.
func title(s []byte, i int) int {
	end := s[i]
	switch end {
	case '(':
		end = ')'
	case '"', '\'':
	default:
		return -1
	}
	for j := i + 1; j < len(s); j++ {
		switch c := s[j]; {
		case c == '\\':
			if j+1 == len(s) {
				return len(s)
			}
			if util.IsPunct(s[j+1]) {
				j++
			}
		case c == end:
			return j + 1
		case c == '(' && end == ')':
			return -1
		}
	}
	return len(s)
}

// angle measures the address or the piece of HTML that begins with the < of s.
// It returns 0 if there is none, and more if that can't be told yet.
func angle(s []byte) (n int, more bool) {
	if n, more := autolink(s); n > 0 || more {
		return n, more
	}
	if len(s) == 1 {
		return 0, true
	}
	switch {
	case s[1] == '?':
		return until(s, 2, "?>")
	case s[1] == '!':
		return declaration(s)
	case s[1] == '/':
		return tag(s, 2)
	}
	return tag(s, 1)
}

// autolink measures an address in angle brackets.
func autolink(s []byte) (n int, more bool) {
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '<', util.IsSpace(c):
			return 0, false
		case c == '>':
			if n := util.FindEmailIndex(s[1:]); n >= 0 && n == i-1 {
				return i + 1, false
			}
			if n := util.FindURLIndex(s[1:]); n >= 0 && n == i-1 {
				return i + 1, false
			}
			return 0, false
		}
	}
	return 0, true
}

func until(s []byte, from int, end string) (n int, more bool) {
	if i := bytes.Index(s[min(from, len(s)):], []byte(end)); i >= 0 {
		return from + i + len(end), false
	}
	return 0, true
}

// declaration measures what begins with <!
func declaration(s []byte) (n int, more bool) {
	const cdata = "<![CDATA["
	switch {
	case len(s) < 3, bytes.HasPrefix([]byte(cdata), s), string(s) == "<!-":
		return 0, true
	case bytes.HasPrefix(s, []byte(cdata)):
		return until(s, len(cdata), "]]>")
	case s[2] >= 'A' && s[2] <= 'Z':
		return until(s, 2, ">")
	case !bytes.HasPrefix(s, []byte("<!--")):
		return 0, false
	}
	for _, empty := range []string{"<!-->", "<!--->"} {
		if bytes.HasPrefix(s, []byte(empty)) {
			return len(empty), false
		}
	}
	if len(s) < len("<!--->") {
		return 0, true
	}
	return until(s, 4, "-->")
}

// tag measures a tag whose name begins at s[i].
func tag(s []byte, i int) (n int, more bool) {
	if i < len(s) && !letter(s[i]) {
		return 0, false
	}
	for i < len(s) && (letter(s[i]) || digit(s[i]) || s[i] == '-') {
		i++
	}
	for i < len(s) {
		j := spaces(s, i)
		switch {
		case j == len(s):
			return 0, true
		case s[j] == '>':
			return j + 1, false
		case s[j] == '/' && s[1] != '/':
			if j+1 == len(s) {
				return 0, true
			}
			if s[j+1] == '>' {
				return j + 2, false
			}
			return 0, false
		case j == i, s[1] == '/':
			return 0, false
		}
		if i = attribute(s, j); i < 0 {
			return 0, false
		}
	}
	return 0, true
}

// attribute returns where the attribute that begins at s[i] ends: len(s) if it
// may go on, -1 if it is none.
func attribute(s []byte, i int) int {
	if !letter(s[i]) && s[i] != '_' && s[i] != ':' {
		return -1
	}
	for i < len(s) && (letter(s[i]) || digit(s[i]) || bytes.IndexByte([]byte(":._-"), s[i]) >= 0) {
		i++
	}
	j := spaces(s, i)
	switch {
	case j == len(s):
		return len(s)
	case s[j] != '=':
		return i
	}
	if j = spaces(s, j+1); j == len(s) {
		return len(s)
	}
	if q := s[j]; q == '"' || q == '\'' {
		n := bytes.IndexByte(s[j+1:], q)
		if n < 0 {
			return len(s)
		}
		return j + 1 + n + 1
	}
	k := j
	for k < len(s) && s[k] > ' ' && bytes.IndexByte([]byte("\"'=<>`"), s[k]) < 0 {
		k++
	}
	if k == j {
		return -1
	}
	return k
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
