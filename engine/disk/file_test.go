package disk

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFile follows a file through success, failure and giving up: what is at
// the path is the old content until the new one takes its place, and nothing
// else stays in the directory.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	begin := func(text string) *File {
		t.Helper()
		old, _ := os.Stat(path)
		f, err := (*Ledger)(nil).Create(path, old)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return f
	}
	check := func(content string, names int) {
		t.Helper()
		b, _ := os.ReadFile(path)
		entries, _ := os.ReadDir(dir)
		if string(b) != content || len(entries) != names {
			t.Errorf("%q in a directory of %d files", b, len(entries))
		}
	}
	f := begin("one")
	check("", 1)
	if err := f.Commit(path); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	check("one", 1)

	begin("two").Discard()
	check("one", 1)

	if err := os.Mkdir(filepath.Join(dir, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	f = begin("three")
	if err := f.Commit(filepath.Join(dir, "full")); err == nil {
		t.Error("a directory was replaced")
	}
	f.Discard()
	check("one", 2)
}

func TestMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	old, _ := os.Stat(path)
	f, err := (*Ledger)(nil).Create(path, old)
	if err != nil {
		t.Fatal(err)
	}
	if now, _ := os.Stat(f.file.Name()); now.Mode().Perm()&0o077 != 0 && now.Mode() != old.Mode() {
		t.Errorf("others may read what is not there yet: %v", now.Mode())
	}
	if err := f.Commit(path); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.Stat(path); now.Mode() != old.Mode() {
		t.Errorf("the mode is %v, and was %v", now.Mode(), old.Mode())
	}
}
