//go:build unix

package tools

import (
	"os"
	"path/filepath"
	"testing"

	"gemline/tools/shell"
)

// What is there to be written to is made for a command that has the right to,
// and is gone again if nothing came of it.
func TestMakes(t *testing.T) {
	failed, fine := shell.Outcome{Code: 1}, shell.Outcome{}
	for _, test := range []struct {
		name, command, right string
		outcome              shell.Outcome
		meanwhile            func(path string) error
		made, left           bool
	}{
		{"written", "echo x > $OUT/a", "a", fine, func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) }, true, true},
		{"empty", "touch $OUT/a", "a", fine, nil, true, true},
		{"failed", "echo x > $OUT/a", "a", failed, nil, true, false},
		{"failed, and written", "echo x | tee $OUT/a", "a", failed, func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) }, true, true},
		{"failed, and another's", "echo x > $OUT/a", "a", failed, func(path string) error {
			return os.Rename(filepath.Join(filepath.Dir(path), "there"), path)
		}, true, true},
		{"not what it opens", "mkdir $OUT/a", "a", failed, nil, false, false},
		{"what it may make elsewhere", "ssh host 'echo x > $OUT/a'", "a", failed, nil, false, false},
		{"in no directory", "echo x > $OUT/none/a", "none/a", failed, nil, false, false},
		{"there", "echo x > $OUT/there", "there", failed, nil, false, true},
		{"no right to it", "echo x > $OUT/a", "b", failed, nil, false, false},
	} {
		h := newHeld(t)
		out := func(name string) string { return filepath.Join(h.outside, name) }
		if err := os.WriteFile(out("there"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		args := runShellCommandArgs{Command: os.Expand(test.command, func(string) string { return h.outside })}
		args.More.Files.Write = []string{out(test.right)}
		c, err := args.prepare(h.env)
		if err != nil {
			t.Fatal(err)
		}
		made := c.make()
		if len(made) > 1 || (len(made) == 1) != test.made {
			t.Errorf("%s: made %v", test.name, made)
		}
		if test.meanwhile != nil {
			if err := test.meanwhile(out(test.right)); err != nil {
				t.Fatal(err)
			}
		}
		made.settle(test.outcome)
		if _, err := os.Lstat(out(test.right)); (err == nil) != test.left {
			t.Errorf("%s: in the end %v", test.name, err)
		}
	}
}
