//go:build linux

package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	et "gemline/engine/enginetest"
)

// Files that a killed run was writing do not outlive the next start: that of
// --output, and that of an edit. The user's own file of such a name does.
func TestLeftoversAreSwept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := filepath.Join(dir, ".gemline-0123456789abcdef")
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	left := func() int {
		names, err := filepath.Glob(filepath.Join(dir, ".gemline-*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	next := func(when string) {
		t.Helper()
		if n := left(); n != 2 {
			t.Errorf("%s: %d files, want one of the run's and one of the user's", when, n)
		}
		s := et.NewServer(et.Says("Hi."))
		defer s.Close()
		if err := headless(t, s, dir, io.Discard, io.Discard, "-p", "hi").Run(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(own); err != nil || left() != 1 {
			t.Errorf("%s: %d files after the next start, %v", when, left(), err)
		}
		if _, err := os.Stat(filepath.Join(dir, "home/.gemini/tmp/unfinished")); err == nil {
			t.Errorf("%s: the notes are left", when)
		}
	}
	s := et.NewServer(et.Silent())
	defer s.Close()
	run := headless(t, s, dir, io.Discard, io.Discard, "-p", "hi", "-O", "out.txt")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	<-s.Arrived()
	run.Process.Kill()
	run.Wait()
	next("--output")

	w := et.NewServer(et.Says("", et.Call("1", "write_file", "file_path", "a.txt", "content", "a\n")))
	defer w.Close()
	run = headless(t, w, dir, io.Discard, io.Discard, "-y", "-p", "hi")
	by := []string{"strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=renameat,renameat2"}
	enter(t, run, by)
	run.Args = slices.Concat(by, []string{"-e", "inject=renameat,renameat2:signal=KILL:when=1"}, run.Args[len(by):])
	run.Run()
	next("an edit")
}
