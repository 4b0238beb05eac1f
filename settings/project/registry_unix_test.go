//go:build unix

package project

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A registry, or the marker of a project, may be a pipe, which is not waited for.
func TestRegistryOfPipes(t *testing.T) {
	for _, name := range []string{"projects.json", "tmp/app/.project_root", "history/app/.project_root"} {
		p := folder(t, tempHome(t), "app")
		pipe := p.User(name)
		if err := os.MkdirAll(filepath.Dir(pipe), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Skip(err)
		}
		if pr, err := p.Register(t.Context()); err == nil || pr.Slug != "app" {
			t.Errorf("%s: %+v, %v", name, pr, err)
		}
	}
}

// Projects whose paths are not UTF-8 are found again, also where projects.json has one key for both.
func TestPathNotUTF8(t *testing.T) {
	home := tempHome(t)
	if err := os.Mkdir(filepath.Join(home, "caf\xe9"), 0o700); err != nil {
		t.Skip(err)
	}
	one, other := folder(t, home, "../caf\xe9"), folder(t, home, "../caf\xe8")
	first, second := find(t, one), find(t, other)
	for range 2 {
		if got := find(t, one).Slug; got != first.Slug || got == second.Slug {
			t.Errorf("%q, want %q", got, first.Slug)
		}
		if got := find(t, other).Slug; got != second.Slug {
			t.Errorf("%q, want %q", got, second.Slug)
		}
		if got, known := one.Registered(); !known || got != first {
			t.Errorf("%+v, want %+v", got, first)
		}
	}
}
