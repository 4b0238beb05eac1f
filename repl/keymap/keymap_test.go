package keymap

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestKey(t *testing.T) {
	for said, want := range map[string]string{
		"ctrl+j": "ctrl+j", "Ctrl+J": "ctrl+j", "shift+ctrl+a": "ctrl+shift+a", "Control+Enter": "ctrl+enter", "opt+return": "alt+enter",
		"shift+pageup": "shift+pageup", "Å": "Å", "å": "å", "A": "shift+a", "esc": "escape", "cmd+l": "cmd+l", "meta+l": "cmd+l",
		"f12": "f12", "%": "%", "ctrl++": "ctrl++", "+": "+", "alt+å": "alt+å",
	} {
		if got, err := Key(said); got != want || err != nil {
			t.Errorf("%q: %q, %v", said, got, err)
		}
	}
	for _, said := range []string{"hyper+a", "ctrl+", "f99", "volumeup", "ctrl+ab", ""} {
		if got, err := Key(said); err == nil {
			t.Errorf("%q: %q", said, got)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ file, key, own, want, problem string }{
		{`[]`, "enter", "input.submit", "input.submit", ""},
		{`[{"command":"input.newline","key":"ctrl+j"}]`, "ctrl+j", "input.submit", "input.newline", ""},
		{`[{"command":"input.newline","key":"enter"},{"command":"input.submit","key":"ctrl+s"}]`, "enter", "input.submit", "input.newline", ""},
		{`[{"command":"input.newline","key":"enter"}]`, "enter", "input.submit", "input.submit", "no key submits; enter still does"},
		{`[{"command":"-input.submit","key":"enter"}]`, "enter", "input.submit", "input.submit", "no key submits; enter still does"},
		{`[{"command":"-history.search.start","key":"ctrl+r"}]`, "ctrl+r", "history.search.start", "", ""},
		{`[{"command":"-app.toggleYolo","key":"ctrl+y"}]`, "ctrl+y", "edit.undo", "edit.undo", "commands that a session of lines does not have: app.toggleYolo"},
		{`[{"command":"app.showFullTodos","key":"f2"},{"command":"scroll.up","key":"f3"},{"command":"app.showFullTodos","key":"f4"},{"command":"go.away","key":"f5"}]`, "f2", "", "",
			"commands that a session of lines does not have: app.showFullTodos and scroll.up | unknown commands: go.away"},
		{`[{"command":"edit.clear","key":"ctrl+c"}]`, "ctrl+c", "", "", "item 1: ctrl+c always interrupts"},
		{`[{"command":"edit.clear","key":"hyper+x"},{"command":"edit.undo","key":"alt+z"}]`, "alt+z", "", "edit.undo", `item 1: "hyper+x" is no key that a terminal sends`},
		{`[{"key":"f1"},7]`, "f1", "", "", "item 1 has no command or no key | item 2 has no command or no key"},
		{`[{"command":"input.newline","key":"f1"},{"command":"-input.newline","key":"f1"}]`, "f1", "", "", ""},
		{`[{"command":"basic.confirm","key":"enter"}]`, "enter", "input.submit", "input.submit", ""},
		{`{"command":"input.newline"}`, "enter", "input.submit", "input.submit", `it is no list of objects such as {"command": "input.newline", "key": "ctrl+j"}; the keys keep their meaning`},
	} {
		var v any
		if err := json.Unmarshal([]byte(c.file), &v); err != nil {
			t.Fatal(err)
		}
		m, problems := Parse(v)
		if got := m.Command(c.key, Command(c.own)); got != Command(c.want) || strings.Join(problems, " | ") != c.problem {
			t.Errorf("%s: %s does %q; %q", c.file, c.key, got, problems)
		}
	}
}
