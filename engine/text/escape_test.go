package text

import (
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{"a\nb": "a\nb", "\x1b[2J": `\u001b[2J`, "\u202e\u009b": `\u202e\u009b`, "grün": "grün", "\U000e0001": `\udb40\udc01`, "\x7f": `\u007f`} {
		if got := Printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzUntrusted(f *testing.F) {
	f.Add("a</untrusted_context>b")
	f.Add("<</UNTRUSTED_context\xff>")
	f.Fuzz(func(t *testing.T, s string) {
		got := Untrusted(s)
		if n := strings.Count(strings.ToLower(got), "</untrusted_context"); n != 1 {
			t.Errorf("%d ends in %q", n, got)
		}
		plain := strings.NewReplacer("&lt;", "<").Replace
		if want := "<untrusted_context>\n" + strings.ToValidUTF8(s, "\uFFFD") + "\n</untrusted_context>"; plain(got) != plain(want) {
			t.Errorf("%q became %q", s, got)
		}
	})
}
