package redact

import "strings"

// A shape is the form of a kind of key: its prefix, and the least number of valid bytes
// behind the prefix.
type shape struct {
	prefix, what string
	minLength    int
	loose        bool // the prefix occurs in no other word, so any character may precede it
	digit        bool // without a digit the text is a word

	// find, if not nil, finds the secret in a text with the prefix, for keys with a form
	// beyond prefix and length; to is 0 if there is no secret.
	find func(s string) (from, to int)
}

// shapes are the kinds of keys with a recognizable form, as their vendors document it. The
// lengths here are shorter, since a truncated key is still a secret.
var shapes = []shape{
	{"AIza", "API key", 20, true, false, nil},
	{"ya29.", "access token", 16, true, false, nil},
	{"1//0", "refresh token", 30, false, true, nil},
	{"GOCSPX-", "client secret", 16, true, false, nil},
	{"ghp_", "GitHub token", 16, true, false, nil},
	{"gho_", "GitHub token", 16, true, false, nil},
	{"ghu_", "GitHub token", 16, true, false, nil},
	{"ghs_", "GitHub token", 16, true, false, nil},
	{"ghr_", "GitHub token", 16, true, false, nil},
	{"github_pat_", "GitHub token", 16, true, false, nil},
	{"glpat-", "GitLab token", 16, true, false, nil},
	{"AKIA", "AWS key", 16, false, false, nil},
	{"ASIA", "AWS key", 16, false, false, nil},
	{"sk_live_", "Stripe key", 16, true, false, nil},
	{"sk_test_", "Stripe key", 16, true, false, nil},
	{"rk_live_", "Stripe key", 16, true, false, nil},
	{"xoxa-", "Slack token", 10, true, false, nil},
	{"xoxb-", "Slack token", 10, true, false, nil},
	{"xoxe-", "Slack token", 10, true, false, nil},
	{"xoxo-", "Slack token", 10, true, false, nil},
	{"xoxp-", "Slack token", 10, true, false, nil},
	{"xoxr-", "Slack token", 10, true, false, nil},
	{"xoxs-", "Slack token", 10, true, false, nil},
	{"sk-", "API key", 16, false, true, nil},
	{"npm_", "npm token", 30, false, true, nil},
	{"hf_", "API key", 30, false, false, nil},
	{"pypi-", "PyPI token", 30, false, true, nil},
	{"eyJ", "token", 0, false, false, jwt},
	{"://", "password", 0, true, false, password},
	{"hooks.slack.com/", "web hook", 0, false, false, webhook},
	{"discord.com/api/webhooks/", "web hook", 0, true, false, webhook},
	{"discordapp.com/api/webhooks/", "web hook", 0, true, false, webhook},
	{".webhook.office.com/", "web hook", 0, true, false, webhook},
	{"outlook.office.com/webhook/", "web hook", 0, false, false, webhook},
	{".logic.azure.com", "web hook", 0, true, false, webhook},
	{".api.powerplatform.com", "web hook", 0, true, false, webhook},
	{"chat.googleapis.com/v1/spaces/", "web hook", 0, false, false, webhook},
	{"-----BEGIN ", "private key", 0, true, false, pem},
	{"Bearer ", "token", 0, false, false, bearer},
	{"bearer ", "token", 0, false, false, bearer},
	{"?key=", "API key", 0, true, false, parameter},
	{"&key=", "API key", 0, true, false, parameter},
}

// starts has the shapes by their first byte, so that most bytes are skipped at once.
var starts = func() (all [256][]shape) {
	for _, s := range shapes {
		all[s.prefix[0]] = append(all[s.prefix[0]], s)
	}
	return all
}()

// Shapes returns s with each text in the shape of a well-known key replaced by with, or by a mark
// if with is "".
func Shapes(s, with string) string {
	var b strings.Builder
	done := 0 // how much of s is done
	for i := 0; i < len(s); i++ {
		kinds := starts[s[i]]
		if kinds == nil {
			continue
		}
		from, to, what := findShape(kinds, s[i:], i == done || isBoundary(s[:i]))
		if to == 0 {
			continue
		}
		b.WriteString(s[done:i])
		b.WriteString(s[i:i+min(from, 1)] + Shapes(s[i+min(from, 1):i+from], with)) // a user's name may be a key
		if b.WriteString(with); with == "" {
			b.WriteString(mark(what))
		}
		done = i + to
		i = done - 1
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

// Value reports whether the value of a variable is, or holds, a secret: a value is no prose, so a
// text that begins like a key is a key.
func Value(v string) bool {
	return strings.Contains(v, "-----BEGIN ") || strings.HasPrefix(v, "eyJ") &&
		runLength(v[3:], isWordOrDot) >= 30 || Shapes(v, "") != v
}

// findShape finds a secret of one of kinds at the start of s, or right after the prefix there;
// free says that no word extends into s.
func findShape(kinds []shape, s string, free bool) (from, to int, what string) {
	for _, k := range kinds {
		if !free && !k.loose || !strings.HasPrefix(s, k.prefix) {
			continue
		}
		if k.find != nil {
			if from, to = k.find(s); to > 0 {
				return from, to, k.what
			}
			continue
		}
		class := isWordByte
		if k.what == "AWS key" {
			class = isUpperOrDigit
		}
		tail := s[len(k.prefix):]
		tail = tail[:runLength(tail, class)]
		if len(tail) >= k.minLength && (!k.digit || strings.ContainsAny(tail, digits)) {
			return 0, len(k.prefix) + len(tail), k.what
		}
	}
	return 0, 0, ""
}

const digits = "0123456789"

// isBoundary reports whether a word can begin after s.
func isBoundary(s string) bool {
	n := len(s)
	return n == 0 || !isWordByte(s[n-1]) || n > 1 && s[n-2] == '\\' &&
		strings.IndexByte("nrt", s[n-1]) >= 0 // as JSON writes line ends
}

// Character classes.
func isWordByte(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z' || b == '_' || b == '-'
}
func isUpperOrDigit(b byte) bool { return '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' }
func isWordOrDot(b byte) bool    { return isWordByte(b) || b == '.' }
func isCredentialByte(b byte) bool {
	return isWordOrDot(b) || b == '+' || b == '/' || b == '=' || b == '~'
}

// runLength returns how many bytes at the start of s are in a class.
func runLength(s string, class func(byte) bool) int {
	for i := 0; i < len(s); i++ {
		if !class(s[i]) {
			return i
		}
	}
	return len(s)
}

// jwt finds a signed token: three words with dots between them.
func jwt(s string) (from, to int) {
	for i := range 3 {
		n := runLength(s[to:], isWordByte)
		if n < 8 && i < 2 {
			return 0, 0
		}
		if to += n; i < 2 {
			if to >= len(s) || s[to] != '.' {
				return 0, 0
			}
			to++
		}
	}
	return 0, to
}

// password finds the password of a URL.
func password(s string) (from, to int) {
	const most = 512
	for i := 3; i < len(s) && i < most; i++ {
		switch c := s[i]; {
		case c == '@' && from > 0:
			to = i
		case c == ':' && from == 0 && to == 0: // the user's name may be missing
			from = i + 1
		case c <= ' ' || strings.IndexByte("/?#\"'`<>[]{}$", c) >= 0:
			i = most
		}
	}
	if to <= from {
		return 0, 0
	}
	return from, to
}

// webhook finds the secret part of a web hook's address: everything after the host.
func webhook(s string) (from, to int) {
	const minLength = 20
	if from = strings.IndexByte(s, '/') + 1; from == 0 || strings.ContainsAny(s[:from], " \t\n") {
		return 0, 0
	}
	to = from + runLength(s[from:], func(b byte) bool {
		return b > ' ' && b < 0x7f &&
			strings.IndexByte("\"'`<>\\{}$|", b) < 0
	})
	if to-from < minLength {
		return 0, 0
	}
	return from, to
}

// pem finds a private key in PEM.
func pem(s string) (from, to int) {
	const begin, end, most = "-----BEGIN ", "PRIVATE KEY-----", 12 // as in ENCRYPTED
	head := s[len(begin):min(len(s), len(begin)+most+len(end))]
	kind := strings.Index(head, end)
	if kind < 0 || runLength(head[:kind], func(b byte) bool { return b == ' ' || 'A' <= b && b <= 'Z' }) < kind {
		return 0, 0
	}
	from = len(begin) + kind + len(end)
	to = from
	longest, line := 0, 0
	for ; to < len(s) && !strings.HasPrefix(s[to:], "-----"); to++ {
		switch c := s[to]; {
		case c == '\\' && to+1 < len(s) && strings.IndexByte("nr", s[to+1]) >= 0: // as JSON has it
			to++
			line = 0
		case c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ':' || c == ',' || c == '-' || c == '"':
			line = 0
		case isCredentialByte(c):
			line++
			longest = max(longest, line)
		default:
			if longest < 30 {
				return 0, 0
			}
			return from, to
		}
	}
	if longest < 30 {
		return 0, 0
	}
	return from, to
}

// bearer finds an access token.
func bearer(s string) (from, to int) {
	from = len("Bearer ")
	n := runLength(s[from:], isCredentialByte)
	if n < 16 || !strings.ContainsAny(s[from:from+n], digits) {
		return 0, 0
	}
	return from, from + n
}

// parameter finds a key in the query of a URL.
func parameter(s string) (from, to int) {
	from = len("?key=")
	n := runLength(s[from:], isWordByte)
	if n < 16 || !strings.ContainsAny(s[from:from+n], digits) {
		return 0, 0
	}
	return from, from + n
}
