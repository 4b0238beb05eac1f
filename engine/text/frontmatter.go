package text

import (
	"slices"
	"strings"
)

// FrontMatter splits a text into what stands between two lines of three hyphens at its
// beginning, whose first line is the second one of the text, and what follows it. Lines
// end in \n then. It reports false, and all of the text, if it does not begin so.
func FrontMatter(source string) (head, body string, ok bool) {
	source = strings.TrimPrefix(strings.ReplaceAll(source, "\r\n", "\n"), "\ufeff")
	rest, ok := strings.CutPrefix(source, "---\n")
	if !ok {
		return "", source, false
	}
	head, body, ok = strings.Cut("\n"+rest+"\n", "\n---\n")
	if !ok {
		return "", source, false
	}
	return strings.TrimPrefix(head, "\n"), strings.TrimSuffix(body, "\n"), true
}

// QuoteFrontMatter returns front matter that is no YAML with quotes around the words behind
// a key that YAML would take for more, as where a description holds a colon. Indented lines
// that follow such a value belong to it.
func QuoteFrontMatter(head string) string {
	var out []string
	lines := strings.Split(head, "\n")
	for i := 0; i < len(lines); i++ {
		key, value, ok := strings.Cut(lines[i], ":")
		value = strings.TrimSpace(value)
		if !ok || key == "" || value == "" || !isWord(key) || !strings.HasPrefix(lines[i], key+": ") ||
			strings.ContainsAny(value[:min(1, len(value))], "|>[{&*!") {
			out = append(out, lines[i])
			continue
		}
		n := i + 1
		for n < len(lines) && strings.HasPrefix(lines[n], " ") {
			n++
		}
		rest := lines[i+1 : n]
		if whole := strings.Join(append([]string{value}, rest...), "\n"); !wantsQuotes(whole) {
			out = append(out, lines[i])
			continue
		}
		for _, line := range rest {
			value += " " + strings.TrimSpace(line)
		}
		out = append(out, key+": '"+strings.ReplaceAll(unquoted(value), "'", "''")+"'")
		i = n - 1
	}
	return strings.Join(out, "\n")
}

// isWord reports whether s is the name of a key.
func isWord(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}) && s[0] != '-'
}

// wantsQuotes reports whether YAML takes a plain value for more than words.
func wantsQuotes(value string) bool {
	quoted := value != "" && (value[0] == '"' || value[0] == '\'')
	return quoted && unquoted(value) == value || !quoted && (strings.Contains(value+"\n", ": ") ||
		strings.Contains(value+"\n", ":\n") || strings.Contains(value, " #") || strings.ContainsAny(value[:min(1, len(value))], "@`%"))
}

// unquoted returns what stands between the quotes around s, or s.
func unquoted(s string) string {
	if n := len(s); n > 1 && slices.Contains([]byte("'\""), s[0]) && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}
