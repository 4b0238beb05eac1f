package custom

import (
	"fmt"
	"strings"

	"gemline/engine/lists"
	"gemline/engine/text"
)

// markdown reads a command in the format of other agents: Markdown, with its properties
// between two lines of three hyphens.
func (l *loader) markdown(c *Command, source string) {
	head, body := frontMatter(source)
	c.prompt = body
	var keys []string
	for _, f := range head {
		key := strings.ToLower(strings.ReplaceAll(f.key, "_", "-"))
		switch key {
		case "description":
			c.Description = f.value
		case "argument-hint":
			c.Arguments = describe(f.value)
		case "allowed-tools", "allowedtools":
			only, unknown := parseOnly(f.values())
			if c.Only = only; len(unknown) > 0 {
				l.notes = append(l.notes, fmt.Sprintf("the command %s: it allows %s, which gemline has not",
					text.PrintableLine(c.File), text.PrintableLine(strings.Join(unknown, ", "))))
			}
		default:
			if text.Nearest(key, []string{"allowed-tools"}) != "" && !strings.HasPrefix(key, "dis") { // a misspelled list allows no tools; disallowed-tools is another key
				c.Only = Only{}
				l.faults = append(l.faults, fmt.Sprintf("the command %s: %s means nothing; did you mean allowed-tools? It allows no tools",
					text.PrintableLine(c.File), text.PrintableLine(f.key)))
				continue
			}
			keys = append(keys, f.key)
		}
	}
	l.unknown(c, keys)
}

// A fact is one line of a front matter, with its list items.
type fact struct {
	key, value string
	items      []string
}

// frontMatter splits a file into its front matter and its text. It accepts more than YAML does,
// since people write lines such as "argument-hint: [a] [b]".
func frontMatter(source string) (head []fact, body string) {
	lines, body, ok := text.FrontMatter(source)
	if !ok {
		return nil, body
	}
	for line := range strings.SplitSeq(lines, "\n") {
		trimmed := strings.TrimSpace(line)
		if item, ok := strings.CutPrefix(trimmed, "- "); ok && len(head) > 0 {
			last := &head[len(head)-1]
			last.items = append(last.items, unquoted(item))
			continue
		}
		if key, value, ok := strings.Cut(line, ":"); ok && line == strings.TrimLeft(line, " \t#") {
			head = append(head, fact{key: strings.TrimSpace(key), value: unquoted(value)})
		}
	}
	return head, strings.TrimPrefix(body, "\n")
}

// values returns the values of a fact: its items, or the words between commas outside parentheses.
func (f fact) values() []string {
	if len(f.items) > 0 {
		return f.items
	}
	value := strings.TrimSuffix(strings.TrimPrefix(f.value, "["), "]")
	return lists.Map(text.Entries(value, ","), unquoted)
}

func unquoted(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}
