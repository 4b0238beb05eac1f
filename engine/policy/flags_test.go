package policy

import (
	"slices"
	"testing"

	"gemline/engine"
)

// What is written for a command is read back as its words.
func FuzzEntries(f *testing.F) {
	f.Add("go", "test ./...")
	f.Add("touch", "it's, made")
	f.Add("echo", "")
	f.Add("echo", `a "b" (c)`)
	f.Add("touch", "a\x8f")
	f.Add("", "0")
	f.Fuzz(func(t *testing.T, name, arg string) {
		c := engine.Command{Argv: []engine.Word{{Text: name, Known: true}, {Text: arg, Known: true}}}
		list := commandEntries([]engine.Command{c, c})
		if list == nil {
			return
		}
		rules, err := Lists{Allowed: list}.Rules(User, "test")
		if err != nil || len(rules) != 2 { // the second denies all others
			t.Fatalf("%q: %v, %v", list, rules, err)
		}
		if got := rules[0].Commands.Prefixes[0]; !slices.Equal(got, []string{name, arg}) {
			t.Errorf("%q: %q", list, got)
		}
	})
}
