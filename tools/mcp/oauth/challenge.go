package oauth

import "strings"

// A challenge is what a server says about the token that it wants.
type challenge struct {
	Metadata string // the address of the resource's metadata (RFC 9728)
	Scope    string
	Error    string
}

// parseChallenge reads the fields WWW-Authenticate of an answer. The first challenge of the
// scheme Bearer counts. What can't be read is passed over.
func parseChallenge(fields []string) challenge {
	for _, field := range fields {
		if params, ok := bearer(field); ok {
			return challenge{Metadata: params["resource_metadata"], Scope: params["scope"], Error: params["error"]}
		}
	}
	return challenge{}
}

// bearer returns the parameters of the scheme Bearer in a field, which may have several schemes.
func bearer(field string) (params map[string]string, ok bool) {
	for s := field; ; {
		s = strings.TrimLeft(s, " \t,")
		word := token(s)
		if word == "" {
			if s == "" {
				return params, ok
			}
			s = s[1:]
			continue
		}
		s = s[len(word):]
		value, isParam := strings.CutPrefix(strings.TrimLeft(s, " \t"), "=")
		switch {
		case isParam:
			var text string
			text, s = parameter(strings.TrimLeft(value, " \t"))
			if name := strings.ToLower(word); ok && params[name] == "" {
				params[name] = text
			}
		case ok: // the next scheme
			return params, true
		case strings.EqualFold(word, "Bearer"):
			params, ok = map[string]string{}, true
		}
	}
}

// token returns the word that s begins with.
func token(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
	if end < 0 {
		return s
	}
	return s[:end]
}

// parameter returns the value that s begins with, in quotation marks or without them, and what
// follows.
func parameter(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, " \t,")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:]
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
