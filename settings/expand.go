package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gemline/engine/text"
	"gemline/tools/shell/program"
)

const (
	maxExpanded = 64 << 10 // longest value after expansion, in bytes
	maxFilled   = 8 << 20  // all expanded values of a file together
)

// A filler replaces $NAME, ${NAME} and ${NAME:-default} in strings. An unset variable without a
// default stays unchanged.
type filler struct {
	checker *checker                    // gets problems, and unset variables in MCP servers
	lookup  func(string) (string, bool) // returns a value, or why there is none, "" if it is not set
	own     func(string) (string, bool) // a fallback of lookup for MCP servers; may be nil
	filled  int                         // bytes of the expanded values so far
}

// tree expands the strings in an object, in place. It removes a value that can't be expanded; an
// MCP server with such a value can't be used.
func (f *filler) tree(path []string, tree map[string]any) {
	n := len(path)
	isServer := n > 1 && path[n-2] == "mcpServers"
	for name, v := range sorted(tree) {
		at := below(path, name)
		if _, list := v.([]any); isProgram(at) || isServer && list && name == "args" {
			continue
		}
		out, err := f.value(at, v)
		if err != nil {
			f.failed(at, err)
			delete(tree, name)
			continue
		}
		tree[name] = out
	}
	if args, ok := tree["args"].([]any); ok && isServer {
		command, _ := tree["command"].(string)
		if err := f.arguments(below(path, "args"), command, args); err != nil {
			f.failed(below(path, "args"), err)
		}
	}
}

// failed notes that the value at path can't be expanded.
func (f *filler) failed(path []string, err error) {
	message := shown(JoinKey(path)) + " " + err.Error()
	if at := slices.Index(path, "mcpServers"); at >= 0 && len(path) > at+1 {
		f.checker.wrong(path[:at+2], message).fatal = true
		return
	}
	f.checker.wrong(path, message)
}

// arguments expands the arguments of an MCP server. Program text, such as the argument of sh -c,
// stays unexpanded: the server has an environment.
func (f *filler) arguments(path []string, command string, args []any) error {
	written, words, values := []string{command}, []string{command}, []string{""}
	for _, a := range args {
		word, _ := a.(string)
		written = append(written, word)
	}
	programs := program.Programs(written)
	for i, word := range written[1:] {
		out, put := word, ""
		if _, run := slices.BinarySearch(programs, i+1); !run {
			var err error
			if out, put, err = f.text(path, word); err != nil {
				return err
			}
		}
		words, values = append(words, out), append(values, put)
	}
	for _, i := range program.Programs(words) { // now that the names of programs are expanded
		words[i], values[i] = written[i], ""
	}
	texts := program.CodeWords(words)
	for i, put := range values {
		if !program.IsPlain(put) && (texts[i] || !program.IsPlain(around(written[i]))) {
			return codeError(written[i])
		}
		if i == 0 { // the command
			continue
		}
		if _, ok := args[i-1].(string); ok {
			args[i-1] = words[i]
		}
	}
	return nil
}

// around returns the text around its variables.
func around(s string) string {
	out, _ := expandText(s, func(string) (string, bool) { return "", true }, nil)
	return out
}

// A codeError is the error of a text that may be program text: an inserted value could run.
type codeError string

func (e codeError) Error() string {
	return fmt.Sprintf("has a variable whose value could be run as code in %.100q; let the program read its environment", string(e))
}

// unfilled notes which values of a project contain a variable that is set: a project's text is not
// expanded.
func (c *checker) unfilled(set func(string) bool, path []string, tree map[string]any) {
	for name, v := range sorted(tree) {
		at := below(path, name)
		switch v := v.(type) {
		case map[string]any:
			if name != "mcpServers" {
				c.unfilled(set, at, v)
			}
		case string:
			if out, _ := expandText(v, func(name string) (string, bool) { return "", set(name) }, nil); out != v && !isProgram(at) {
				c.wrong(at, shown(JoinKey(at))+" stays as it is written: a project's values are not filled in")
			}
		}
	}
}

// isProgram reports whether a key holds text for a shell, which is not expanded: the shell has an
// environment, and a value must never become part of a command.
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

// programKeys are top-level keys with text for a shell, older names included.
var programKeys = []string{"check", "toolDiscoveryCommand", "toolCallCommand", "mcpServerCommand"}

func (f *filler) value(path []string, v any) (any, error) {
	switch x := v.(type) {
	case string:
		out, put, err := f.text(path, x)
		if n := len(path); n > 1 && path[n-2] == "env" && program.IsSteering(path[n-1]) && !harmless(x, put) {
			err = codeError(x)
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

// harmless reports whether values may be inserted into a variable that controls programs. Blanks
// separate options, but are allowed in a path.
func harmless(written, values string) bool {
	if program.IsPlain(around(written)) {
		values = strings.ReplaceAll(values, " ", "")
	}
	return program.IsPlain(values)
}

// text fills in the variables of a string. It also returns the inserted values, joined. Variables
// without a value are reported; in the environment of MCP servers they become empty.
func (f *filler) text(path []string, s string) (out, values string, err error) {
	get := func(name string) (string, bool) {
		value, ok := f.lookup(name)
		if ok {
			values += value
		}
		return value, ok
	}
	missing := func(name, whole string) string {
		at := path
		if path[0] == "hooks" {
			at = path[:min(2, len(path))] // below it are lists
		}
		if name[0] > '9' { // else it is an amount of money
			f.checker.unset(at, name+" is not set in the environment, so it stays as written")
		}
		return whole
	}
	if at := slices.Index(path, "mcpServers"); at >= 0 && len(path) > at+2 {
		field := path[:at+3] // the field of the server
		for _, found := range foreignVariable().FindAllString(s, -1) {
			if found = strings.TrimSuffix(found, "/"); found == "~" && field[at+2] == "cwd" {
				continue // cwd may begin with ~
			}
			f.checker.unset(field, found+" is not filled in; $NAME and ${NAME} are")
		}
		outer, why := get, ""
		get = func(name string) (string, bool) {
			value, ok := outer(name)
			if why = value; ok {
				return value, true
			}
			if f.own != nil {
				value, ok = f.own(name)
				values += value
			}
			return value, ok
		}
		missing = func(name, whole string) string {
			if f.checker.unset(field, name+" "+cmp.Or(why, "is not set")); field[at+2] == "env" {
				return ""
			}
			return whole
		}
	}
	if out, err = expandText(s, get, missing); out != s {
		f.filled += len(out)
	}
	if f.filled > maxFilled {
		err = errTooLong
	}
	return out, values, err
}

// foreignVariable matches the variable syntax of other programs.
var foreignVariable = text.Pattern(`\$\{(?:env|input):[^}]*\}|\{\{[^{}]*\}\}|^~(?:/|$)`)

var errTooLong = errors.New("is too long once its variables are filled in")

// expandText expands the variables of s. Missing, which may be nil, returns the text for a variable
// without a value.
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

// variable parses the variable at the start of s, a dollar sign. It returns the whole text, the
// name, and the default, if any. The name is empty if s does not begin with a variable.
func variable(s string) (whole, name, fallback string, has bool) {
	m := variableText().FindStringSubmatch(s)
	return m[0], m[1] + m[2], m[4], m[3] != ""
}

var variableText = text.Pattern(`^(?:\$(?:(\w+)|\{(\w+)(?:(:-)([^}]*))?\})?)?`)
