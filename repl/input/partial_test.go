package input

import "testing"

func TestPartial(t *testing.T) {
	tests := []struct {
		text, name string
		start      int
		ok         bool
	}{
		{"", "", 0, false},
		{"no reference", "", 0, false},
		{"@", "", 0, true},
		{"see @", "", 4, true},
		{"see @src/ma", "src/ma", 4, true},
		{"see @src/ma ", "", 0, false},
		{"@a @b", "b", 3, true},
		{`@my\ fi`, "my fi", 0, true},
		{`\@a`, "", 0, false},
		{"user@host", "", 0, false},
		{"(@a", "a", 1, true},
		{"@a,", "", 0, false},
		{"@a@b", "a@b", 0, true},
	}
	for _, tt := range tests {
		start, name, ok := Partial(tt.text)
		if start != tt.start || name != tt.name || ok != tt.ok {
			t.Errorf("Partial(%q) = %d, %q, %v, want %d, %q, %v", tt.text, start, name, ok, tt.start, tt.name, tt.ok)
		}
	}
}

// What Reference makes of a name is read as that name.
func FuzzReference(f *testing.F) {
	f.Add("my file (1).txt")
	f.Add(`a\b"c`)
	f.Fuzz(func(t *testing.T, name string) {
		for _, r := range name {
			if r < ' ' {
				return
			}
		}
		r := Reference(name)
		if start, got, ok := Partial("see " + r); !ok || start != 4 || got != name {
			t.Errorf("%q became %q, read as %q at %d, %v", name, r, got, start, ok)
		}
		if name == "" || name[len(name)-1] == '.' {
			return
		}
		if rs := refs(r); len(rs) != 1 || rs[0].Name != name {
			t.Errorf("%q became %q, scanned as %+v", name, r, rs)
		}
	})
}
