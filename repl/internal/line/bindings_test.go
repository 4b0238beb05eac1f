package line

import (
	"encoding/json"
	"testing"

	"gemline/repl/keymap"
)

// Each key that a terminal sends has the name that people write.
func TestKeyName(t *testing.T) {
	for in, want := range map[string]string{
		"\r": "enter", "\n": "ctrl+j", "\t": "tab", "\x7f": "backspace", "\x00": "ctrl+space", "\x07": "ctrl+g", "\x1f": "ctrl+_",
		"a": "a", "A": "shift+a", "å": "å", " ": "space", "\x1b\r": "alt+enter", "\x1bz": "alt+z", "\x1bZ": "alt+shift+z", "\x1b\x7f": "alt+backspace",
		"\x1b\x0a": "ctrl+alt+j", "\x1b[A": "up", "\x1bOB": "down", "\x1b[1;5C": "ctrl+right", "\x1b[1;2A": "shift+up", "\x1b[1;6D": "ctrl+shift+left",
		"\x1b[Z": "shift+tab", "\x1b[3~": "delete", "\x1b[3;5~": "ctrl+delete", "\x1b[5~": "pageup", "\x1bOP": "f1", "\x1b[24~": "f12", "\x1b[15;2~": "shift+f5",
		"\x1b[13;5u": "ctrl+enter", "\x1b[13;2u": "shift+enter", "\x1b[97;6u": "ctrl+shift+a", "\x1b[27;5;13~": "ctrl+enter", "\x1b[108;9u": "cmd+l",
		"\x1b[27u": "escape", "\x1b[200~": "", "\x1b[<0;1;1M": "", "\x1b[1;": "", "\x1b": "", "\x1b[999u": "ϧ",
	} {
		got, n := keyName([]byte(in))
		if want2, err := keymap.Key(got); got != want && !(want == "" && n == 0) || want != "" && (err != nil || want2 != want || n != len(in)) {
			t.Errorf("%q: %q of %d bytes, %q %v", in, got, n, want2, err)
		}
	}
}

// A key does what the user's map says, what it unbinds does nothing, and all other keys do
// what they always did.
func TestBindings(t *testing.T) {
	const file = `[{"command":"input.newline","key":"enter"}, {"command":"input.submit","key":"ctrl+j"},
		{"command":"input.submit","key":"ctrl+enter"}, {"command":"input.openExternalEditor","key":"ctrl+x"},
		{"command":"history.previous","key":"f2"}, {"command":"edit.clear","key":"alt+l"}, {"command":"app.cycleApprovalMode","key":"ctrl+o"},
		{"command":"suggest.accept","key":"ctrl+space"}, {"command":"edit.undo","key":"å"}, {"command":"app.clearScreen","key":"escape"},
		{"command":"-history.search.start","key":"ctrl+r"}, {"command":"-edit.undo","key":"ctrl+y"}, {"command":"-history.next","key":"down"}]`
	var v any
	if err := json.Unmarshal([]byte(file), &v); err != nil {
		t.Fatal(err)
	}
	m, problems := keymap.Parse(v)
	if problems != nil {
		t.Fatal(problems)
	}
	for in, want := range map[string]rune{
		"\r": newlineMark, "\n": '\r', "\x1b[13;5u": '\r', "\x18": opEdit, "\x1bOQ": opPrev, "\x1b[12~": opPrev, "\x1bl": opKillAll, "\x0f": opMode,
		"\x00": opComplete, "å": opUndo, "\x12": 0, "\x19": opYank, "\x1b[B": 0, "\x1b[A": opPrev, "a": 'a', "\x03": 3, "\x1b\r": newlineMark, "\x1b[Z": opMode, "\x0b": opKillRight,
	} {
		k := &decoder{keymap: m, pasted: func(s string) string { return s }}
		k.take([]byte(in))
		got := []rune(string(k.queue))
		if want == 0 && len(got) == 0 {
			continue
		}
		if len(got) != 1 || got[0] != want || len(k.rest) > 0 {
			t.Errorf("%q: %U, not %U; rest %q", in, got, want, k.rest)
		}
	}
	k := &decoder{keymap: m, pasted: func(s string) string { return "<" + s + ">" }}
	k.take([]byte("\x1b[200~a\rb\x1b[201~\x1b"))
	k.timedOut()
	if got := string(k.queue); got != "<a\nb>"+string(opRedraw) {
		t.Errorf("a paste and ESC: %q", got)
	}
	if len(commandOps) != len(keymap.Commands) {
		t.Errorf("%d ops for %d commands", len(commandOps), len(keymap.Commands))
	}
}
