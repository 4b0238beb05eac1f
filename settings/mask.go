package settings

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"gemline/engine/redact"
)

// Hidden replaces a secret in output.
const Hidden = "********"

// mask returns the value v of the key at path with likely secrets masked: by the key's name, by the
// name of an expanded variable, or by the value itself. Written is v before expansion, or nil.
func mask(path []string, v, written any) any {
	return masked(path, v, written, func(path []string, text string, written any) any {
		raw, _ := written.(string)
		if secretPath(path) && text != "" || raw != text && fillsInSecret(raw) {
			return Hidden
		}
		return MaskText(text)
	}, func(_, shown any) any { return maskArgument(shown) })
}

// MaskWritten returns the unexpanded value of a key with likely secrets masked.
func MaskWritten(path []string, v any) any {
	return masked(path, v, nil, func(path []string, text string, _ any) any {
		if secretPath(path) {
			return onlyVariables(text)
		}
		return besideVariables(text, MaskText)
	}, func(item, _ any) any { return onlyVariables(item) })
}

// masked returns the value v of the key at path, with text applied to each text in it. For the
// value of a secret flag, argument replaces the result.
func masked(path []string, v, written any, text func(path []string, text string, written any) any, argument func(item, shown any) any) any {
	switch x := v.(type) {
	case map[string]any:
		raw, _ := written.(map[string]any)
		out := make(map[string]any, len(x))
		for name, item := range x {
			out[name] = masked(below(path, name), item, raw[name], text, argument)
		}
		return out
	case []any:
		raw, _ := written.([]any)
		out := make([]any, len(x))
		for i, item := range x {
			var was any
			if len(raw) == len(x) {
				was = raw[i]
			}
			if out[i] = masked(path, item, was, text, argument); i > 0 && asksForSecret(x[i-1]) {
				out[i] = argument(item, out[i])
			}
		}
		return out
	case string:
		return text(path, x, written)
	case nil, bool:
		return v
	}
	if secretPath(path) {
		return Hidden
	}
	return v
}

// EachHidden calls found for the values in v that a list of settings masks, with the name that is
// the reason, or "". It leaves out variables and headers, which have their own names.
func EachHidden(v any, found func(name, value string)) {
	switch x := v.(type) {
	case map[string]any:
		for name, item := range x {
			if text, ok := item.(string); ok && secretName(name) {
				found(name, text)
			} else if !carries(name) {
				EachHidden(item, found)
			}
		}
	case []any:
		for i, item := range x {
			if text, ok := item.(string); ok && i > 0 && asksForSecret(x[i-1]) && maskArgument(text) == Hidden {
				found(strings.TrimLeft(x[i-1].(string), "-"), text)
				continue
			}
			EachHidden(item, found)
		}
	case string:
		shown := strings.Split(MaskText(x), Hidden)
		rest := strings.TrimPrefix(x, shown[0])
		for _, next := range shown[1:] {
			value := rest
			if next != "" {
				value, _, _ = strings.Cut(rest, next)
			}
			found("", value)
			rest = strings.TrimPrefix(rest, value+next)
		}
	}
}

// MaskWords returns the words of a command with likely secrets masked.
func MaskWords(command []string) []string { return words(MaskWritten(nil, items(command))) }

// onlyVariables masks a string except the names of variables.
func onlyVariables(v any) any {
	s, ok := v.(string)
	if !ok {
		return Hidden
	}
	return besideVariables(s, func(string) string { return Hidden })
}

// besideVariables masks the texts before, between and behind the variables in s, and their defaults.
func besideVariables(s string, mask func(string) string) string {
	var b strings.Builder
	begin := 0 // of the text that is not masked yet
	for i := 0; i < len(s); i++ {
		whole, name, fallback, has := variable(s[i:])
		if name == "" {
			continue
		}
		if begin < i {
			b.WriteString(mask(s[begin:i]))
		}
		begin = i + len(whole)
		if i = begin - 1; has {
			whole = "${" + name + ":-" + mask(fallback) + "}"
		}
		b.WriteString(whole)
	}
	if begin < len(s) {
		b.WriteString(mask(s[begin:]))
	}
	return b.String()
}

// fillsInSecret reports whether a variable in s looks like a secret.
func fillsInSecret(s string) bool {
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 {
			return false
		}
		s = s[i:]
		if _, name, _, _ := variable(s); secretName(name) {
			return true
		}
		s = s[1:]
	}
}

// secretPath reports whether all values of a key are secrets.
func secretPath(path []string) bool {
	return len(path) > 0 && (slices.ContainsFunc(path, carries) || secretName(path[len(path)-1]))
}

// carries reports whether a name is a container for values that are passed on unchanged: variables
// and headers, which often hold keys.
func carries(name string) bool {
	return strings.EqualFold(name, "env") || strings.EqualFold(name, "headers")
}

// secretName reports whether a name is likely that of a secret.
func secretName(name string) bool {
	n := strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "", ".", "").Replace(name))
	ends := func(with string) bool { return strings.HasSuffix(n, with) }
	holds := func(part string) bool { return strings.Contains(n, part) }
	if slices.ContainsFunc([]string{"url", "uri", "path", "file", "name", "type", "enabled", "budget", "host"}, ends) {
		return false
	}
	return n == "sig" || n == "pass" || n == "auth" || slices.ContainsFunc([]string{"key", "token", "pwd", "signature"}, ends) ||
		slices.ContainsFunc([]string{"apikey", "secret", "password", "passwd", "passphrase",
			"authorization", "credential", "cookie", "privatekey", "accesskey"}, holds)
}

// asksForSecret reports whether an argument is a flag whose value, the next argument, is likely a
// secret.
func asksForSecret(v any) bool {
	s, ok := v.(string)
	return ok && strings.HasPrefix(s, "-") && !strings.Contains(s, "=") && secretName(strings.TrimLeft(s, "-"))
}

func maskArgument(v any) any {
	if s, ok := v.(string); ok && strings.HasPrefix(s, "-") {
		return v
	}
	return Hidden
}

// MaskText masks likely secrets within a text: the user and password of a URL, random parts of its
// path, values of flags, variables, headers and parameters with the name of a secret, and
// well-known forms of keys.
func MaskText(s string) string {
	if len(s) < 8 && !strings.ContainsAny(s, "=:@ ") {
		return s
	}
	p := secretPatterns()
	s = p.user.ReplaceAllString(s, "${1}"+Hidden+"@")
	s = p.address.ReplaceAllStringFunc(s, func(address string) string {
		host, path, _ := strings.Cut(address[len("://"):], "/")
		for _, run := range redact.RandomRuns(path) {
			path = strings.ReplaceAll(path, run, Hidden)
		}
		return "://" + host + "/" + path
	})
	s = redact.Shapes(s, Hidden)
	s = p.bearer.ReplaceAllString(s, "${1}"+Hidden)
	for _, pattern := range []*regexp.Regexp{p.pair, p.flag, p.header} {
		s = replaceNamed(pattern, s)
	}
	return s
}

// replaceNamed masks the third group of a pattern's matches, if the first group is the name of a
// secret.
func replaceNamed(pattern *regexp.Regexp, s string) string {
	var b strings.Builder
	done := 0
	for _, m := range pattern.FindAllStringSubmatchIndex(s, -1) {
		if secretName(s[m[2]:m[3]]) && s[m[6]:m[7]] != "Bearer" {
			b.WriteString(s[done:m[6]] + Hidden)
			done = m[7]
		}
	}
	return b.String() + s[done:]
}

type patterns struct{ user, address, pair, flag, header, bearer *regexp.Regexp }

var secretPatterns = sync.OnceValue(func() patterns {
	return patterns{
		user:    regexp.MustCompile(`([A-Za-z][\w+.-]*://)[^\s/?#"'@]*(?:@[^\s/?#"'@]*)*@`),
		address: regexp.MustCompile(`://[^\s/?#"']+/[^\s?#"']*`),
		pair:    regexp.MustCompile(`([\w.-]+)(\s?=\s?|%3[dD])["']?([^\s&;"',]+)`),
		flag:    regexp.MustCompile(`(?:^|\s)--?([\w-]+)(\s+)["']?([^\s"'-][^\s"']*)`),
		header:  regexp.MustCompile(`([\w-]+)(["']?:\s*)["']?([^\s"'/][^"'\n]*)`),
		bearer:  regexp.MustCompile(`(\b(?i:bearer|basic)\s+)[\w.~+/=-]{6,}`),
	}
})
