package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What a dead process has noted is removed, if it is a file of ours; what a
// living one has noted stays, and so does what nobody has.
func TestLedger(t *testing.T) {
	dir, notes := t.TempDir(), filepath.Join(t.TempDir(), "a", "notes")
	in := func(name string) string { return filepath.Join(dir, name) }
	alive := NewLedger(notes)
	f, err := alive.Create(in("x"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	dead := ""
	for _, name := range []string{".gemline-00000000000000aa", ".gemline-00000000000000bb", "user.txt", ".gemline-notes", ".gemline-00000000000000cc", ".gemline-00000000000000ee"} {
		if err := os.WriteFile(in(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if name != ".gemline-00000000000000bb" {
			dead += fmt.Sprintf("%q\n", in(name))
		}
	}
	if err := os.Mkdir(in(".gemline-00000000000000dd"), 0o700); err != nil {
		t.Fatal(err)
	}
	dead += fmt.Sprintf("%q\n%q\nnonsense\n", in(".gemline-00000000000000dd"), in(".gemline-00000000000000ff"))
	dead += fmt.Sprintf("%q", in(".gemline-00000000000000bb")) // half a line
	if err := os.WriteFile(filepath.Join(notes, "7-0"), []byte(dead), 0o600); err != nil {
		t.Fatal(err)
	}
	NewLedger(notes).Sweep()
	left := []string{".gemline-00000000000000bb", ".gemline-00000000000000dd", ".gemline-notes", filepath.Base(f.name), "user.txt"}
	slices.Sort(left)
	var names []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if err != nil || !slices.Equal(names, left) {
		t.Errorf("left: %q, want %q, %v", names, left, err)
	}
	if err := f.Commit(in("x")); err != nil {
		t.Error(err)
	}
	alive.Close()
	if _, err := os.Stat(notes); err == nil {
		t.Error("the directory of the notes is left")
	}

	// Where there is no place for notes, files are written all the same.
	for _, l := range []*Ledger{nil, NewLedger(""), NewLedger(filepath.Join(in("x"), "y"))} {
		f, err := l.Create(in("z"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(in("z")); err != nil {
			t.Error(err)
		}
		l.Sweep()
		l.Close()
	}
}
