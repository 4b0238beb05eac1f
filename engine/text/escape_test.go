package text

import "testing"

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{"a\nb": "a\nb", "\x1b[2J": `\u001b[2J`, "\u202e\u009b": `\u202e\u009b`, "grün": "grün", "\U000e0001": `\udb40\udc01`, "\x7f": `\u007f`} {
		if got := Escape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
