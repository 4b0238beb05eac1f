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
