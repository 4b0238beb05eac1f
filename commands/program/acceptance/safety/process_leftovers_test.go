//go:build linux

package safety

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// Files that a killed run was writing do not outlive the next start: that of
// --output, of an edit, and of a fact. The user's own file of such a name does.
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
		if err := pt.Headless(t, s, dir, io.Discard, io.Discard, "-p", "hi").Run(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(own); err != nil || left() != 1 {
			t.Errorf("%s: %d files after the next start, %v", when, left(), err)
		}
		if _, err := os.Stat(filepath.Join(dir, "home/.gemini/tmp/unfinished")); err == nil {
			t.Errorf("%s: the notes are left", when)
		}
	}
	killed := func(run *exec.Cmd) { // before the file has its name
		by := []string{"strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=renameat,renameat2"}
		pt.Enter(t, run, by)
		run.Args = slices.Concat(by, []string{"-e", "inject=renameat,renameat2:signal=KILL:when=1"}, run.Args[len(by):])
		run.Run()
	}
	s := et.NewServer(et.Says("Hi."), et.Says("Hi."))
	defer s.Close()
	if err := pt.Headless(t, s, dir, io.Discard, io.Discard, "-p", "hi").Run(); err != nil { // the project is registered then
		t.Fatal(err)
	}
	pt.Write(t, dir, map[string]string{"home/.gemini/settings.json": `{"general": {"checkpointing": {"enabled": false}}}`}) // whose files come first
	w := et.NewServer(et.Says("", et.Call("1", "write_file", "file_path", "a.txt", "content", "a\n")))
	defer w.Close()
	killed(pt.Headless(t, w, dir, io.Discard, io.Discard, "-y", "-p", "hi"))
	next("an edit")

	killed(pt.Headless(t, s, dir, io.Discard, io.Discard, "-p", "hi", "-O", "out.txt"))
	next("--output")

	facts := filepath.Join(dir, "home/.gemini")
	killed(pt.Headless(t, w, dir, io.Discard, io.Discard, "-p", "/memory add a fact"))
	before, _ := filepath.Glob(filepath.Join(facts, ".gemline-*"))
	if err := pt.Headless(t, w, dir, io.Discard, io.Discard, "-p", "/memory list").Run(); err != nil {
		t.Fatal(err)
	}
	if after, _ := filepath.Glob(filepath.Join(facts, ".gemline-*")); len(before) != 1 || len(after) != 0 {
		t.Errorf("a fact: %q, and after the next start %q", before, after)
	}
}
