package settings

import (
	"errors"
	"strings"
)

// maxExpanded is how long a value may become by the variables in it.
const maxExpanded = 64 << 10

// expand replaces $NAME, ${NAME} and ${NAME:-default} in the strings of v,
// which stays as it is. A variable that is not set, without a default, stays
// as written.
func expand(v any, lookup func(string) (string, bool)) (any, error) {
	switch x := v.(type) {
	case string:
		return expandText(x, lookup)
	case []any:
		out := make([]any, len(x))
		for i, item := range x {
			var err error
			if out[i], err = expand(item, lookup); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

func expandText(s string, lookup func(string) (string, bool)) (string, error) {
	if !strings.Contains(s, "$") {
		return s, nil
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 {
			b.WriteString(s)
			return b.String(), nil
		}
		b.WriteString(s[:i])
		s = s[i:]
		whole, name, fallback, has := variable(s)
		value, set := "", false
		if name != "" {
			value, set = lookup(name)
		}
		switch {
		case set:
		case has:
			value = fallback
		default:
			value = whole
		}
		if b.WriteString(value); b.Len() > maxExpanded {
			return "", errors.New("is too long once its variables are filled in")
		}
		s = s[len(whole):]
	}
}

// variable reads the variable at the start of s, which is a dollar sign: all
// of its text, its name, and its default if it has one. Text that is none has
// no name.
func variable(s string) (whole, name, fallback string, has bool) {
	if n := word(s[1:]); n > 0 {
		return s[:1+n], s[1 : 1+n], "", false
	}
	if !strings.HasPrefix(s, "${") {
		return s[:1], "", "", false
	}
	n := 2 + word(s[2:])
	end := strings.IndexByte(s, '}')
	if n == 2 || end < 0 {
		return s[:1], "", "", false
	}
	if end == n {
		return s[:end+1], s[2:n], "", false
	}
	if strings.HasPrefix(s[n:], ":-") {
		return s[:end+1], s[2:n], s[n+2 : end], true
	}
	return s[:1], "", "", false
}

// word returns how many bytes at the start of s belong to a name.
func word(s string) int {
	for i := 0; i < len(s); i++ {
		b := s[i]
		if (b < '0' || b > '9') && (b|0x20 < 'a' || b|0x20 > 'z') && b != '_' {
			return i
		}
	}
	return len(s)
}
