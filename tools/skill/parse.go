package skill

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"gemline/engine/text"
)

// A head is a parsed file: its front matter, and the text below.
type head struct {
	name, description, body string
	nameless                bool // its name is no string
}

// maxFront is how many bytes a front matter may have.
const maxFront = 64 << 10

// parse reads a SKILL.md. Invalid YAML, such as a description with a colon, is read line by
// line.
func parse(source string) (h head, err error) {
	front, body, ok := text.FrontMatter(source)
	if !ok {
		return h, errors.New(`it does not begin with ---, the lines "name: ..." and "description: ...", and another ---`)
	}
	if len(front) > maxFront {
		return h, errors.New("its front matter is too long")
	}
	var said struct{ Name, Description any }
	if yaml.Unmarshal([]byte(front), &said) == nil {
		h.name, h.description = scalar(said.Name), scalar(said.Description)
		h.nameless = h.name == "" && said.Name != nil && said.Name != ""
	} else {
		h.name, h.description = lines(front, "name"), lines(front, "description")
	}
	h.name, h.body = fileName(strings.TrimSpace(h.name)), body
	return h, nil
}

// scalar returns a value as a text, "" if it is none.
func scalar(v any) string {
	switch v := v.(type) {
	case nil, map[string]any, []any:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// lines returns the value of a key, with the indented lines that follow.
func lines(front, key string) string {
	value, found := "", false
	for line := range strings.SplitSeq(front, "\n") {
		switch rest, ok := strings.CutPrefix(line, key+":"); {
		case ok && !found:
			value, found = strings.TrimSpace(rest), true
		case found && line != strings.TrimLeft(line, " \t"):
			value += " " + strings.TrimSpace(line)
		case found:
			return unquoted(value)
		}
	}
	return unquoted(value)
}

func unquoted(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return strings.TrimSpace(strings.TrimLeft(s, ">|"))
}

// fileName returns a name without characters that are invalid in file names.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`:\/<>*?"|`, r) {
			return '-'
		}
		return r
	}, s)
}
