package line

import (
	"slices"
	"strings"
	"testing"
)

// What was pasted is known behind the line, and when the history brings it back; a remembered
// input was not pasted.
func TestPastesWithin(t *testing.T) {
	p := pastes{texts: map[string]string{}}
	check := func(line string, want ...string) {
		t.Helper()
		got := slices.Compact(slices.Sorted(slices.Values(p.within(line))))
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q; want %q", line, got, want)
		}
	}
	long := p.fold(strings.Repeat("look at @a.go ", 100))
	check("see "+long+p.pasted("\n"), []string(nil)...)
	indented := p.pasted("\t@a.go")
	check(indented, "\t@a.go")
	const code = "@Override\nint x;\n"
	check("see "+p.pasted(code)+" and "+long, code)
	p.clear()
	check(indented+p.pasted("short"), code)
	check(p.fold(code), code)
}

// A short line stands in the line as it is, so that nobody sends unseen what counts as typed.
func TestPastedLine(t *testing.T) {
	p := pastes{texts: map[string]string{}}
	for _, text := range []string{"short", "short\n", "\nshort\n\n"} {
		if got := p.expand(p.pasted(text)); got != text || len(p.names()) > 0 {
			t.Errorf("%q is %q, with the placeholders %q", text, got, p.names())
		}
	}
}
