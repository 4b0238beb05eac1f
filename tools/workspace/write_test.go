package workspace

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"gemline/engine/disk"
)

// names lists what is in dir.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func content(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWrite(t *testing.T) {
	dir := tree(t, map[string]string{"old": "old", "script": "#!", "ro/": ""})
	w := open(t, Config{Roots: []string{dir}})
	in := func(n string) string { return filepath.Join(dir, n) }
	write := func(name, text string) {
		t.Helper()
		if err := w.Write(in(name), text, Format{}); err != nil {
			t.Error(err)
		}
		if got := content(t, in(name)); got != text {
			t.Errorf("%s holds %q", name, got)
		}
	}
	write("old", "changed")
	write("fresh", "text\n")
	write("a/b/c", "deep")
	write("empty", "")
	if got := strings.Join(names(t, dir), " "); got != "a empty fresh old ro script" {
		t.Errorf("left: %s", got)
	}
	if runtime.GOOS == "windows" {
		return
	}
	t.Run("mode", func(t *testing.T) {
		for _, mode := range []fs.FileMode{0o755, 0o600, 0o640, 0o4711} {
			if err := os.Chmod(in("script"), mode.Perm()|mode&0o4000<<11); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Stat(in("script"))
			write("script", "#!/bin/sh\n")
			if after, _ := os.Stat(in("script")); after.Mode() != before.Mode() {
				t.Errorf("mode %v became %v", before.Mode(), after.Mode())
			}
		}
		os.WriteFile(in("plain"), nil, 0o666)
		want, _ := os.Stat(in("plain"))
		if got, _ := os.Stat(in("fresh")); got.Mode() != want.Mode() {
			t.Errorf("a file made here has mode %v, others %v", got.Mode(), want.Mode())
		}
	})
	t.Run("link", func(t *testing.T) {
		link(t, "old", in("link"))
		link(t, "made/by-link", in("dangling"))
		write("link", "through")
		write("dangling", "made")
		for _, n := range []string{"link", "dangling"} {
			if info, err := os.Lstat(in(n)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
				t.Errorf("%s is no link any more", n)
			}
		}
		if got := content(t, in("old")) + content(t, in("made/by-link")); got != "throughmade" {
			t.Errorf("got %s", got)
		}
	})
}

func TestWriteRefuses(t *testing.T) {
	base := tree(t, map[string]string{"ws/dir/": "", "ws/file": "f", "out/f": "f", "ws/locked": "l"})
	dir := filepath.Join(base, "ws")
	w := open(t, Config{Roots: []string{dir}})
	link(t, "../out", filepath.Join(dir, "out"))
	link(t, "../out/made", filepath.Join(dir, "dangling"))
	link(t, "loop", filepath.Join(dir, "loop"))
	outside := (*OutsideError)(nil)
	for _, test := range []struct {
		name string
		want func(error) bool
	}{
		{"dir", func(err error) bool { return errors.Is(err, ErrDirectory) }},
		{"file/below", func(err error) bool { return err != nil }},
		{"out/f", func(err error) bool { return errors.As(err, &outside) }},
		{"dangling", func(err error) bool { return errors.As(err, &outside) }},
		{".git/hooks/pre-commit", func(err error) bool { return errors.As(err, &outside) }},
		{"loop", func(err error) bool { return err != nil }},
		{strings.Repeat("n", 300), func(err error) bool { return err != nil }},
		{"parent/" + strings.Repeat("n", 300), func(err error) bool { return err != nil }},
	} {
		if err := w.Write(filepath.Join(dir, test.name), "text", Format{}); !test.want(err) {
			t.Errorf("%s: got %v", test.name, err)
		}
	}
	if err := w.Write(filepath.Join(dir, "file"), "日", Format{Charset: "koi8-r"}); err == nil || content(t, filepath.Join(dir, "file")) != "f" {
		t.Errorf("got %v", err)
	}
	if got := strings.Join(names(t, dir), " "); got != "dangling dir file locked loop out" {
		t.Errorf("left: %s", got)
	}
	if got := strings.Join(names(t, filepath.Join(base, "out")), " "); got != "f" {
		t.Errorf("left outside: %s", got)
	}
	t.Run("without permission", func(t *testing.T) {
		if os.Geteuid() == 0 || runtime.GOOS == "windows" {
			t.Skip("everything is permitted")
		}
		path := filepath.Join(dir, "locked")
		os.Chmod(path, 0o444)
		if err := w.Write(path, "text", Format{}); !errors.Is(err, fs.ErrPermission) || content(t, path) != "l" {
			t.Errorf("got %v", err)
		}
		os.Chmod(filepath.Join(dir, "dir"), 0o555)
		if err := w.Write(filepath.Join(dir, "dir/f"), "text", Format{}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("got %v", err)
		}
	})
}

// TestWriteToAFullDisk runs itself in a process that may write little.
func TestWriteToAFullDisk(t *testing.T) {
	if dir := os.Getenv("GEMLINE_TEST_FULL"); dir != "" {
		limitFiles(t, 4096)
		w := open(t, Config{Roots: []string{dir}})
		err := w.Write(filepath.Join(dir, "f"), strings.Repeat("x", 100_000), Format{})
		if !errors.Is(err, disk.ErrFull) {
			t.Errorf("got %v; want disk.ErrFull", err)
		}
		if err := w.Write(filepath.Join(dir, "a/b/f"), strings.Repeat("x", 100_000), Format{}); !errors.Is(err, disk.ErrFull) {
			t.Errorf("got %v; want disk.ErrFull", err)
		}
		return
	}
	if runtime.GOOS == "windows" {
		t.Skip("no limit can be set")
	}
	dir := tree(t, map[string]string{"f": "old"})
	c := exec.Command(os.Args[0], "-test.run=^TestWriteToAFullDisk$")
	c.Env = append(os.Environ(), "GEMLINE_TEST_FULL="+dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if got := strings.Join(names(t, dir), " "); got != "f" || content(t, filepath.Join(dir, "f")) != "old" {
		t.Errorf("left: %s, with %q", got, content(t, filepath.Join(dir, "f")))
	}
}

func TestErrorNamesTheFileAsGiven(t *testing.T) {
	dir := tree(t, map[string]string{"d/": ""})
	link(t, "d", filepath.Join(dir, "l"))
	w := open(t, Config{Roots: []string{dir}})
	path := filepath.Join(dir, "l")
	if err := w.Write(path, "", Format{}); err == nil || err.Error() != "write "+path+": is a directory" {
		t.Errorf("got %v", err)
	}
	if _, err := w.ReadText(filepath.Join(path, "none")); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	if errors.Is(syscall.ENOENT, disk.ErrFull) {
		t.Error("nonsense")
	}
}
