package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What is lent can be read while it is, and is never written; no link leads out of it.
func TestLend(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, dir := range []string{"root", "lent/sub", "lent/.git"} {
		os.MkdirAll(path(dir), 0o755)
	}
	for _, name := range []string{"lent/a.txt", "lent/.git/config", "secret"} {
		if err := os.WriteFile(path(name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	os.Symlink(path("secret"), path("lent/out"))
	w, err := New(Config{Roots: []string{path("root")}})
	if err != nil {
		t.Fatal(err)
	}
	if w.Contains(path("lent/a.txt")) {
		t.Error("it is there before it is lent")
	}
	one, err := w.Lend(path("lent"))
	two, err2 := w.Lend(path("lent"))
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	one()
	place, err := w.Locate(path("lent/a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if f, err := place.ReadText(); err != nil || f.Text != "x" {
		t.Errorf("%v", err)
	}
	outside := (*OutsideError)(nil)
	if err := place.Write("y", Format{}); !errors.As(err, &outside) {
		t.Errorf("it was written: %v", err)
	}
	if fresh, err := w.Locate(path("lent/sub/new")); err != nil || !errors.As(fresh.Write("y", Format{}), &outside) {
		t.Errorf("a new file was written: %v", err)
	}
	for _, name := range []string{"lent/out", "lent/.git/config", "lent/../secret"} {
		if w.Contains(path(name)) {
			t.Errorf("%s is there", name)
		}
	}
	two()
	if w.Contains(path("lent/a.txt")) {
		t.Error("it is there after it was lent")
	}
	if b, _ := os.ReadFile(path("lent/a.txt")); string(b) != "x" {
		t.Errorf("%q", b)
	}
}
