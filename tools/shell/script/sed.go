package script

import "strings"

// Prints reports whether a script for sed prints, deletes, quits and
// substitutes, and nothing else. Only what every sed reads in one way is.
func Prints(script string) bool {
	if strings.Contains(script, "\n") {
		return false
	}
	for rest := script; ; {
		rest = strings.TrimLeft(rest, " ;")
		if rest == "" {
			return true
		}
		ok := true
		if rest, ok = address(rest); !ok {
			return false
		}
		if after, two := strings.CutPrefix(rest, ","); two {
			if rest, ok = address(strings.TrimLeft(after, " +~")); !ok {
				return false
			}
		}
		rest = strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(rest, " "), "!"), " ")
		if rest == "" {
			return false
		}
		verb := rest[0]
		rest = rest[1:]
		switch {
		case strings.IndexByte("pdq=", verb) >= 0:
		case verb == 's':
			if rest, ok = substitution(rest); !ok {
				return false
			}
		default:
			return false
		}
		if rest = strings.TrimLeft(rest, " "); rest != "" && rest[0] != ';' {
			return false
		}
	}
}

// address returns what is behind an address, if there is one: a number, the
// last line, or a pattern.
func address(s string) (rest string, ok bool) {
	switch {
	case strings.HasPrefix(s, "$"):
		return s[1:], true
	case strings.HasPrefix(s, "/"):
		if s, ok = field(s[1:], '/', true); !ok {
			return "", false
		}
		return strings.TrimPrefix(s, "I"), true
	}
	return strings.TrimLeft(s, "0123456789~"), true
}

// substitution returns what is behind the pattern, the replacement and the
// flags of an s.
func substitution(s string) (rest string, ok bool) {
	if s == "" || strings.IndexByte("/|#,:!@%_", s[0]) < 0 {
		return "", false
	}
	delimiter := s[0]
	if s, ok = field(s[1:], delimiter, true); !ok {
		return "", false
	}
	if s, ok = field(s, delimiter, false); !ok {
		return "", false
	}
	return strings.TrimLeft(s, "gpiI0123456789"), true
}

// field returns what is behind the delimiter that ends a field. In a pattern a
// set of characters has to end in the field, too: some say that a delimiter in
// a set ends nothing.
func field(s string, delimiter byte, pattern bool) (rest string, ok bool) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == delimiter:
			return s[i+1:], true
		case s[i] == '\\':
			if i++; i == len(s) || s[i] == delimiter {
				return "", false // which means one thing here and another there
			}
		case s[i] == '[' && pattern:
			set := s[i+1:]
			end, named := strings.IndexByte(set, ']'), strings.HasPrefix(set, "[:")
			if named {
				end = strings.Index(set, ":]]")
			}
			if end < 1 || strings.HasPrefix(set, "^]") || strings.IndexByte(set[:end], delimiter) >= 0 || !named && strings.ContainsAny(set[:end], "[\\") {
				return "", false
			}
		}
	}
	return "", false
}
