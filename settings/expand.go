package settings

import (
	"errors"
	"slices"
	"strings"

	"gemline/engine/text"
	"gemline/tools/shell/program"
)

const (
	maxExpanded = 64 << 10 // how long a value may become by the variables in it
	maxFilled   = 8 << 20  // how long all values of a file may become together
)

// A filler replaces $NAME, ${NAME} and ${NAME:-default} in strings. A variable
// that is not set, without a default, stays as written.
type filler struct {
	lookup  func(string) (string, bool)
	own     func(string) (string, bool)      // the same for MCP servers where lookup has nothing; may be nil
	unset   func(path []string, what string) // is told what stays unfilled in MCP servers; may be nil
	filled  int                              // how many bytes the values that changed have by now
	problem func(path []string, message string)
}

// tree fills in the strings below an object, in place. A value that becomes
// too long is taken out.
func (f *filler) tree(path []string, tree map[string]any) {
	programs := programsOf(path, tree)
	for i := range programs {
		tree["args"].([]any)[i] = "" // until all else is filled in
	}
	for name, v := range sorted(tree) {
		at := below(path, name)
		if isProgram(at) {
			continue
		}
		out, err := f.value(at, v)
		if err != nil {
			f.problem(at, shown(JoinKey(at))+" "+err.Error())
			delete(tree, name)
			continue
		}
		tree[name] = out
	}
	for i, text := range programs {
		tree["args"].([]any)[i] = text
	}
}

// unfilled says which values of a project hold a variable that the user's environment
// sets: a project's text is not filled in.
func (c *checker) unfilled(lookup func(string) (string, bool), path []string, tree map[string]any) {
	for name, v := range sorted(tree) {
		at := below(path, name)
		switch v := v.(type) {
		case map[string]any:
			if name != "mcpServers" {
				c.unfilled(lookup, at, v)
			}
		case string:
			if out, _ := expandText(v, lookup, nil); out != v && !isProgram(at) {
				c.wrong(at, shown(JoinKey(at))+" stays as it is written: a project's values are not filled in")
			}
		}
	}
}

// isProgram reports whether a key holds text for a shell, in which nothing is filled in:
// the shell has an environment, and a value is never to become a part of what it runs.
func isProgram(path []string) bool {
	switch last := path[len(path)-1]; {
	case path[0] == "hooks":
		return len(path) > 1 && last == "command"
	case path[0] == "mcp":
		return last == "serverCommand"
	case path[0] == "tools":
		return last == "discoveryCommand" || last == "callCommand"
	}
	return slices.Contains(programKeys, path[0])
}

// programKeys are keys at the top that hold text for a shell, older names among them.
var programKeys = []string{"check", "toolDiscoveryCommand", "toolCallCommand", "mcpServerCommand"}

// programsOf returns the arguments of an MCP server that are text which a program runs,
// such as what follows sh -c.
func programsOf(path []string, server map[string]any) map[int]string {
	args, _ := server["args"].([]any)
	command, ok := server["command"].(string)
	if n := len(path); n < 2 || path[n-2] != "mcpServers" || !ok {
		return nil
	}
	words := []string{command}
	for _, a := range args {
		word, _ := a.(string)
		words = append(words, word)
	}
	programs := map[int]string{}
	for _, i := range program.Programs(words) {
		if i > 0 {
			programs[i-1] = words[i]
		}
	}
	return programs
}

func (f *filler) value(path []string, v any) (any, error) {
	switch x := v.(type) {
	case string:
		out, err := f.text(path, x)
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

// text fills in the variables of one string. In MCP servers, what stays unfilled is told;
// of their environment it becomes empty.
func (f *filler) text(path []string, s string) (string, error) {
	at := slices.Index(path, "mcpServers")
	if at < 0 || len(path) < at+3 {
		return expandText(s, f.lookup, nil)
	}
	field := path[:at+3] // of the server
	tell := func(what string) {
		if f.unset != nil {
			f.unset(field, what)
		}
	}
	for _, found := range foreignVariable().FindAllString(s, -1) {
		tell(strings.TrimSuffix(found, "/") + " is not filled in; $NAME and ${NAME} are")
	}
	return expandText(s, func(name string) (string, bool) {
		value, ok := f.lookup(name)
		if !ok && f.own != nil {
			value, ok = f.own(name)
		}
		return value, ok
	}, func(name, whole string) string {
		if tell(name + " is not set"); field[at+2] == "env" {
			return ""
		}
		return whole
	})
}

// foreignVariable finds variables as other programs write them.
var foreignVariable = text.Pattern(`\$\{(?:env|input):[^}]*\}|\{\{[^{}]*\}\}|^~(?:/|$)`)

var errTooLong = errors.New("is too long once its variables are filled in")

// expandText fills in the variables of s. missing, which may be nil, says what stands for a
// variable without a value.
func expandText(s string, lookup func(string) (string, bool), missing func(name, whole string) string) (string, error) {
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
		case name != "" && missing != nil:
			value = missing(name, whole)
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
