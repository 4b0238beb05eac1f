package front

import (
	"strings"

	"gemline/commands/program/project"
	"gemline/engine/text"
	"gemline/repl/keymap"
	"gemline/settings/jsonc"
	dirs "gemline/settings/project"
)

// readKeymap reads the user's keybindings.json, if it exists. Each problem is one line.
func readKeymap(p dirs.Paths) (keymap.Map, []string) {
	path := p.User("keybindings.json")
	b, err := jsonc.ReadFile(path)
	if b == nil && err == nil {
		return keymap.Map{}, nil
	}
	var v any
	if err == nil {
		v, err = jsonc.Value(b)
	}
	if err != nil {
		said := err.Error()
		if !strings.HasPrefix(said, ":") { // otherwise it begins with a position in the file
			said = ": " + said
		}
		return keymap.Map{}, []string{text.PrintableLine(path + said + "; the keys keep their meaning")}
	}
	m, problems := keymap.Parse(v)
	for i := range problems {
		problems[i] = text.PrintableLine(path + ": " + problems[i])
	}
	return m, problems
}

// readKeys reads the user's key bindings. If the terminal edits the line by itself (edits is
// false), they have no effect, and a warning says so once.
func readKeys(o *project.Options, edits bool) keymap.Map {
	m, problems := readKeymap(o.Paths)
	o.Warnings = append(o.Warnings, problems...)
	if !edits && !m.Empty() && o.Paths.Once("keybindings-idle-told") {
		o.Warnings = append(o.Warnings, "keybindings.json has no effect where the terminal edits the line by itself, as here")
	}
	return m
}
