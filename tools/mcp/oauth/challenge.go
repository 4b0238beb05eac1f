package oauth

import (
	"strings"

	"gemline/engine/text"
)

// A challenge is a server's description of the required token.
type challenge struct {
	Metadata string // the address of the resource's metadata (RFC 9728)
	Scope    string
	Error    string
}

// words matches the name of a scheme, or a parameter with its value, quoted or not. escaped
// matches a backslash with the next character.
var (
	words = text.Pattern("(?s)([\\w!#$%&'*+.^`|~-]+)(?:[ \t]*(=)[ \t]*" +
		`(?:"((?:[^"\\]|\\.)*)"?|([^ \t,]*)))?`)
	escaped = text.Pattern(`(?s)\\(.)`)
)

// parseChallenge reads the fields WWW-Authenticate of an answer. The first challenge of the
// scheme Bearer counts. Unreadable fields are passed over.
func parseChallenge(fields []string) challenge {
	params := map[string]string{}
	for _, field := range fields {
		bearer := false
		for _, m := range words().FindAllStringSubmatch(field, -1) {
			if m[2] == "" && bearer { // the next scheme
				break
			}
			name := strings.ToLower(m[1])
			bearer = bearer || m[2] == "" && name == "bearer"
			if bearer && params[name] == "" {
				params[name] = escaped().ReplaceAllString(m[3], "$1") + m[4]
			}
		}
		if bearer {
			break
		}
	}
	return challenge{Metadata: params["resource_metadata"], Scope: params["scope"], Error: params["error"]}
}
