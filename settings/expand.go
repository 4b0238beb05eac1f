package settings

import (
	"errors"
	"strings"
)

const (
	maxExpanded = 64 << 10 // how long a value may become by the variables in it
	maxFilled   = 8 << 20  // how long all values of a file may become together
)

// A filler replaces $NAME, ${NAME} and ${NAME:-default} in strings. A variable
// that is not set, without a default, stays as written.
type filler struct {
	lookup  func(string) (string, bool)
	filled  int // how many bytes the values that changed have by now
	problem func(path []string, message string)
}

// tree fills in the strings below an object, in place. A value that becomes
// too long is taken out.
func (f *filler) tree(path []string, tree map[string]any) {
	for name, v := range sorted(tree) {
		at := below(path, name)
		out, err := f.value(at, v)
		if err != nil {
			f.problem(at, shown(JoinKey(at))+" "+err.Error())
			delete(tree, name)
			continue
		}
		tree[name] = out
	}
}

func (f *filler) value(path []string, v any) (any, error) {
	switch x := v.(type) {
	case string:
		out, err := expandText(x, f.lookup)
		if out != x {
			f.filled += len(out)
		}
		if f.filled > maxFilled {
			err = errTooLong
		}
		return out, err
	case []any:
		for i, item := range x {
			var err error
			if x[i], err = f.value(path, item); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		f.tree(path, x)
	}
	return v, nil
}

var errTooLong = errors.New("is too long once its variables are filled in")

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
			return "", errTooLong
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
