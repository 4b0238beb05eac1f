package journal

import (
	"bytes"
	"encoding/json"
	"gemline/engine/text"
)

// fields calls f with the keys and values at the outermost level of the JSON
// object b. Values are slices of b that have not been looked into; they may
// turn out not to be JSON. It reports whether b is one whole object as far as
// its quotes and brackets tell.
func fields(b []byte, f func(key string, value []byte)) bool {
	return glance(b, func(key string, value []byte) bool { f(key, value); return true })
}

// glance is fields until f returns false. From there on it believes that b is
// whole if it ends like an object.
func glance(b []byte, f func(key string, value []byte) bool) bool {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	for i = space(b, i+1); i < len(b) && b[i] != '}'; {
		if b[i] != '"' {
			return false
		}
		end := i + text.Quoted(b[i:])
		if end < i {
			return false
		}
		key := b[i+1 : end-1]
		if i = space(b, end); i >= len(b) || b[i] != ':' {
			return false
		}
		i = space(b, i+1)
		if end = skip(b, i); end < 0 {
			return false
		}
		if !f(string(key), b[i:end]) {
			return bytes.HasSuffix(bytes.TrimRight(b[end:], " \t\r\n"), []byte("}"))
		}
		if i = space(b, end); i < len(b) && b[i] == ',' {
			i = space(b, i+1)
		} else if i >= len(b) || b[i] != '}' {
			return false
		}
	}
	return i < len(b) && space(b, i+1) == len(b)
}

// elements calls f with the elements of the JSON array b, as far as it is one.
func elements(b []byte, f func(value []byte)) {
	i := space(b, 0)
	if i >= len(b) || b[i] != '[' {
		return
	}
	for i = space(b, i+1); i < len(b) && b[i] != ']'; {
		end := skip(b, i)
		if end < 0 {
			return
		}
		f(b[i:end])
		if i = space(b, end); i >= len(b) || b[i] != ',' {
			return
		}
		i = space(b, i+1)
	}
}

// space returns the index of the first byte of b from i on that is not white.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skip returns the index behind the value that begins at i, or -1.
func skip(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		if n := text.Quoted(b[i:]); n > 0 {
			return i + n
		}
		return -1
	case '{', '[':
		return skipNested(b, i)
	}
	start := i
	for i < len(b) && bytes.IndexByte([]byte(",]} \t\r\n"), b[i]) < 0 {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			n := text.Quoted(b[i:])
			if n < 0 {
				return -1
			}
			i += n
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// word returns the string that the JSON value b is, or nothing.
func word(b []byte) string {
	if s, ok := text.Unquote(b); ok {
		return s
	}
	var s string
	if json.Unmarshal(b, &s) != nil {
		return ""
	}
	return s
}

// start returns the beginning of the string that the JSON value b is: all of
// it if it is short.
func start(b []byte) string {
	const enough = 2000 // bytes
	if len(b) <= enough {
		return word(b)
	}
	if b[0] != '"' {
		return ""
	}
	cut := append(make([]byte, 0, enough+1), b[:enough]...)
	for n := range 12 { // the cut may have gone through an escape
		if s := word(append(cut[:enough-n], '"')); s != "" {
			return s
		}
	}
	return ""
}
