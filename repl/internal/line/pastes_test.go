package line

import (
	"strings"
	"testing"
)

// What was pasted is known behind the line; a remembered input was not pasted.
func TestPastesWithin(t *testing.T) {
	p := pastes{texts: map[string]string{}}
	code := p.pasted("@Override\nint x;\n")
	long := p.fold(strings.Repeat("look at @a.go ", 100))
	gone := p.pasted("a\nb")
	if got := p.within("see " + code + " and " + long); len(got) != 1 || got[0] != "@Override\nint x;\n" {
		t.Errorf("got %q", got)
	}
	if got := p.within(gone + " " + p.pasted("short")); len(got) != 1 || got[0] != "a\nb" {
		t.Errorf("got %q", got)
	}
	p.clear()
	if got := p.within(code); got != nil {
		t.Errorf("got %q", got)
	}
}
