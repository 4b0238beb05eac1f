package journal

import (
	"bytes"
	"encoding/json"
	"gemline/engine/text"
)

// eachField calls f with the keys and values at the outermost level of the JSON
// object b. Values are slices of b that have not been looked into; they may
// turn out not to be JSON. It reports whether b is one whole object as far as
// its quotes and brackets tell.
func eachField(b []byte, f func(key string, value []byte)) bool {
	return scanFields(b, func(key string, value []byte) bool { f(key, value); return true })
}

// scanFields is eachField until f returns false. From there on it believes that b is
// whole if it ends like an object.
func scanFields(b []byte, f func(key string, value []byte) bool) bool {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	for i = skipSpace(b, i+1); i < len(b) && b[i] != '}'; {
		if b[i] != '"' {
			return false
		}
		end := i + text.Quoted(b[i:])
		if end < i {
			return false
		}
		key := b[i+1 : end-1]
		if i = skipSpace(b, end); i >= len(b) || b[i] != ':' {
			return false
		}
		i = skipSpace(b, i+1)
		if end = skipValue(b, i); end < 0 {
			return false
		}
		if !f(string(key), b[i:end]) {
			return bytes.HasSuffix(bytes.TrimRight(b[end:], " \t\r\n"), []byte("}"))
		}
		if i = skipSpace(b, end); i < len(b) && b[i] == ',' {
			i = skipSpace(b, i+1)
		} else if i >= len(b) || b[i] != '}' {
			return false
		}
	}
	return i < len(b) && skipSpace(b, i+1) == len(b)
}

// eachElement calls f with the elements of the JSON array b, as far as it is one.
func eachElement(b []byte, f func(value []byte)) {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '[' {
		return
	}
	for i = skipSpace(b, i+1); i < len(b) && b[i] != ']'; {
		end := skipValue(b, i)
		if end < 0 {
			return
		}
		f(b[i:end])
		if i = skipSpace(b, end); i >= len(b) || b[i] != ',' {
			return
		}
		i = skipSpace(b, i+1)
	}
}

// skipSpace returns the index of the first byte of b from i on that is not white.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skipValue returns the index behind the value that begins at i, or -1.
func skipValue(b []byte, i int) int {
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

// decodeString returns the string that the JSON value b is, or nothing.
func decodeString(b []byte) string {
	if s, ok := text.Unquote(b); ok {
		return s
	}
	var s string
	if json.Unmarshal(b, &s) != nil {
		return ""
	}
	return s
}

// stringPrefix returns the beginning of the string that the JSON value b is: all of
// it if it is short.
func stringPrefix(b []byte) string {
	const enough = 2000 // bytes
	if len(b) <= enough {
		return decodeString(b)
	}
	if b[0] != '"' {
		return ""
	}
	cut := append(make([]byte, 0, enough+1), b[:enough]...)
	for n := range 12 { // the cut may have gone through an escape
		if s := decodeString(append(cut[:enough-n], '"')); s != "" {
			return s
		}
	}
	return ""
}
