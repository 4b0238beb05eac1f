package journal

import (
	"encoding/json"

	"gemline/engine/text"
)

// eachField calls f with the keys and values at the outermost level of the JSON
// object b. Values are slices of b that have not been looked into; they may
// turn out not to be JSON. It reports whether b is one whole object as far as
// its quotes and brackets tell.
func eachField(b []byte, f func(key, value []byte)) bool {
	end := walkFields(b, skipSpace(b, 0), func(key []byte, at int) int {
		end := skipValue(b, at)
		if end >= 0 {
			f(key, b[at:end])
		}
		return end
	})
	return isEnd(b, end)
}

// isEnd reports whether nothing but white space is in b from end on, which is -1 for a value
// that has none.
func isEnd(b []byte, end int) bool { return end >= 0 && skipSpace(b, end) == len(b) }

// walkFields calls f with the keys of the JSON object that begins at i, and where the value
// of each begins. f returns the index behind the value, as walkFields does behind the
// object, or -1.
func walkFields(b []byte, i int, f func(key []byte, at int) int) int {
	if i >= len(b) || b[i] != '{' {
		return -1
	}
	for i = skipSpace(b, i+1); i < len(b) && b[i] != '}'; {
		end := i + text.Quoted(b[i:])
		if end < i {
			return -1
		}
		key := b[i+1 : end-1]
		if i = skipSpace(b, end); i >= len(b) || b[i] != ':' {
			return -1
		}
		if i = f(key, skipSpace(b, i+1)); i < 0 {
			return -1
		}
		if i = skipSpace(b, i); i < len(b) && b[i] == ',' {
			i = skipSpace(b, i+1)
		} else if i >= len(b) || b[i] != '}' {
			return -1
		}
	}
	if i >= len(b) {
		return -1
	}
	return i + 1
}

// eachElement calls f with the elements of the JSON array b, as far as it is one.
func eachElement(b []byte, f func(value []byte)) {
	walkElements(b, skipSpace(b, 0), func(at int) int {
		end := skipValue(b, at)
		if end >= 0 {
			f(b[at:end])
		}
		return end
	})
}

// walkElements is [walkFields] of an array.
func walkElements(b []byte, i int, f func(at int) int) int {
	if i >= len(b) || b[i] != '[' {
		return -1
	}
	for i = skipSpace(b, i+1); i < len(b) && b[i] != ']'; {
		if i = f(i); i < 0 {
			return -1
		}
		if i = skipSpace(b, i); i < len(b) && b[i] == ',' {
			i = skipSpace(b, i+1)
		} else if i >= len(b) || b[i] != ']' {
			return -1
		}
	}
	if i >= len(b) {
		return -1
	}
	return i + 1
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
	for ; i < len(b); i++ {
		switch b[i] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			if i == start {
				return -1
			}
			return i
		case '"', '[', '{':
			return -1
		}
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

// stringPrefix returns the beginning of the JSON string b, or the whole string if short.
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
