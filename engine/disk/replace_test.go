package disk_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gemline/engine/disk"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string, mode fs.FileMode) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	check := func(name, text string, mode fs.FileMode) {
		t.Helper()
		b, err := os.ReadFile(at(name))
		info, _ := os.Stat(at(name))
		if err != nil || string(b) != text || runtime.GOOS != "windows" && info.Mode().Perm() != mode {
			t.Errorf("%s: got %q, %v, %v", name, b, info.Mode(), err)
		}
	}
	write("old", "a", 0o640)
	write(".gemline-old-0123", "left by a killed process", 0o600)
	write(".gemline-other-0123", "of another file", 0o600)
	for name, mode := range map[string]fs.FileMode{"old": 0o640, "new": 0o600} {
		if err := disk.Replace(at(name), []byte("b"), 0o600); err != nil {
			t.Fatal(err)
		}
		check(name, "b", mode)
	}
	for name, to := range map[string]string{"link": "old", "dangling": "later"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Skip(err)
		}
		if err := disk.Replace(at(name), []byte("c"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.Readlink(at(name)); got != to {
			t.Errorf("%s leads to %q", name, got)
		}
	}
	check("old", "c", 0o640)
	check("later", "c", 0o600)

	// What is meant to stay stays, and the error names the file.
	write("kept", "a", 0o440)
	os.Mkdir(at("directory"), 0o700)
	os.Symlink("circle", at("circle"))
	for _, name := range []string{"kept", "directory", "circle", filepath.Join("missing", "file")} {
		if err := disk.Replace(at(name), []byte("b"), 0o600); err == nil || !strings.Contains(err.Error(), at(name)+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	check("kept", "a", 0o440)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".gemline-") && e.Name() != ".gemline-other-0123" {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	unlock, err := disk.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := disk.Lock(ctx, path); err == nil || !strings.Contains(err.Error(), path+" is held by another program") {
		t.Errorf("got %v", err)
	}
	unlock()
	unlock, err = disk.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

func TestFollow(t *testing.T) {
	dir := disk.ResolveLinks(t.TempDir())
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	os.MkdirAll(at("a/b"), 0o700)
	for name, to := range map[string]string{"l": "a/b", "abs": at("a"), "nowhere": "a/none/x", "up": "l/../c", "circle": "circle", "two": "l/three", "a/b/three": "../four"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Skip(err)
		}
	}
	for path, want := range map[string]string{
		"a": "a", "l": "a/b", "abs/b": "a/b", "none": "none", "l/none/y": "a/b/none/y", "nowhere": "a/none/x",
		"nowhere/../z": "a/none/z", "up": "a/c", "two": "a/four", "circle": "circle", "circle/x": "circle/x",
	} {
		if got := disk.ResolveLinks(dir + "/" + path); got != at(want) {
			t.Errorf("%s leads to %s, not %s", path, got, at(want))
		}
	}
	t.Chdir(at("a"))
	for path, want := range map[string]string{"b/three": "four", "none/x": "none/x", "../l/x": "../a/b/x"} {
		if got := filepath.ToSlash(disk.ResolveLinks(path)); got != want {
			t.Errorf("%s leads to %s, not %s", path, got, want)
		}
	}
}

func TestInside(t *testing.T) {
	for _, c := range []struct {
		dir, path string
		want      bool
	}{
		{"/a", "/a", true}, {"/a", "/a/b", true}, {"/a", "/ab", false}, {"/a/b", "/a", false}, {"/", "/x", true},
		{"", "/x", false}, {"", "x", false}, {"/a", "x", false},
	} {
		if got := disk.Inside(filepath.FromSlash(c.dir), filepath.FromSlash(c.path)); got != c.want {
			t.Errorf("Inside(%q, %q) is %v", c.dir, c.path, got)
		}
	}
}

// What is at a place, a directory or a link, is replaced as a whole: on Linux somebody who
// looks finds one or the other.
func TestReplaceTree(t *testing.T) {
	at := filepath.Join(t.TempDir(), "tree")
	put := func(text string) {
		t.Helper()
		if err := disk.ReplaceTree(at, func(fresh string) error {
			return errors.Join(os.Mkdir(fresh, 0o755), os.WriteFile(filepath.Join(fresh, "a"), []byte(text), 0o644))
		}); err != nil {
			t.Fatal(err)
		}
	}
	put("first")
	stop, looked := make(chan bool), make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				looked <- nil
				return
			default:
				if _, err := os.Lstat(at); err != nil && runtime.GOOS == "linux" {
					looked <- err
					return
				}
			}
		}
	}()
	for range 300 {
		put("later")
	}
	close(stop)
	if err := <-looked; err != nil {
		t.Error(err)
	}
	if err := disk.ReplaceTree(at, func(fresh string) error { os.Mkdir(fresh, 0o755); return fs.ErrInvalid }); err != fs.ErrInvalid {
		t.Error(err)
	}
	entries, _ := os.ReadDir(filepath.Dir(at))
	if b, err := os.ReadFile(filepath.Join(at, "a")); string(b) != "later" || len(entries) != 1 {
		t.Errorf("%q %v, beside %d others", b, err, len(entries)-1)
	}
}
