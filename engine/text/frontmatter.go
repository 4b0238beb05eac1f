package text

import (
	"slices"
	"strings"
)

// FrontMatter splits a text into head, the lines between two lines of three hyphens at the
// beginning, after blank lines at most, and body, the rest. Lines then end in \n. If the text
// has no front matter, ok is false, and body is the whole text.
func FrontMatter(source string) (head, body string, ok bool) {
	source = strings.TrimPrefix(strings.ReplaceAll(source, "\r\n", "\n"), "\ufeff")
	start := strings.TrimLeft(source, " \n")
	blank := strings.Repeat("\n", strings.Count(source[:len(source)-len(start)], "\n")) // so that lines keep their numbers
	rest, ok := strings.CutPrefix(start, "---\n")
	if !ok {
		return "", source, false
	}
	head, body, ok = strings.Cut("\n"+rest+"\n", "\n---\n")
	if !ok {
		return "", source, false
	}
	return blank + strings.TrimPrefix(head, "\n"), strings.TrimSuffix(body, "\n"), true
}

// QuoteFrontMatter repairs front matter that is invalid YAML: it quotes plain values that YAML
// would read as syntax, such as a description with a colon. Indented lines behind a quoted value
// become part of the value.
func QuoteFrontMatter(head string) string {
	var out []string
	lines := strings.Split(head, "\n")
	for i, l := range lines { // a tab indents nothing in YAML
		rest := strings.TrimLeft(l, " \t")
		lines[i] = strings.ReplaceAll(l[:len(l)-len(rest)], "\t", "  ") + rest
	}
	for i := 0; i < len(lines); i++ {
		key, value, ok := strings.Cut(lines[i], ":")
		value = strings.TrimSpace(value)
		if !ok || key == "" || value == "" || !isWord(key) || !strings.HasPrefix(lines[i], key+": ") ||
			structured().MatchString(value) {
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

// structured matches a value that is no plain text: the head of a block, a list, an object.
var structured = Pattern(`^(?:[|>][-+0-9]*(?:\s+#.*)?|\[.*\]|\{.*\}|[\[{][^\]}]*)$`)

// isWord reports whether s is the name of a key.
func isWord(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}) && s[0] != '-'
}

// wantsQuotes reports whether YAML would read syntax in a plain value.
func wantsQuotes(value string) bool {
	quoted := value != "" && (value[0] == '"' || value[0] == '\'')
	if quoted {
		inner := unquoted(value)
		return inner == value || value[0] == '\'' && strings.Contains(strings.ReplaceAll(inner, "''", ""), "'") ||
			value[0] == '"' && strings.Contains(escapes().ReplaceAllString(inner, ""), `"`)
	}
	return strings.HasPrefix(value, "- ") || strings.Contains(value+"\n", ": ") ||
		strings.Contains(value+"\n", ":\n") || strings.Contains(value, " #") ||
		strings.ContainsAny(value[:min(1, len(value))], "@`%|>[{&*!")
}

// escapes are the characters behind a backslash.
var escapes = Pattern(`\\.`)

// unquoted returns s without quotes around it.
func unquoted(s string) string {
	if n := len(s); n > 1 && slices.Contains([]byte("'\""), s[0]) && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}
