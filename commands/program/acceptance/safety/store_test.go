//go:build linux

package safety

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// A store of checkpoints that somebody else has written leads nowhere, and what is shown of
// it is escaped.
func TestHostileStore(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("", et.Call("1", "write_file", "file_path", "a", "content", "two")), et.Says("Done."))
	c := pt.Terminal(t, server, "-y")
	dir, err := filepath.EvalSymlinks(filepath.Dir(c.Dir))
	if err != nil {
		t.Fatal(err)
	}
	pt.Write(t, dir, map[string]string{"outside/kept": "kept"})
	pt.Printed(t, c, "-p", "go")
	evil := "\x1b]0;owned\a\nanswer: \x1b[2J"
	plantStates(t, filepath.Join(dir, "home/.gemini/history/project/gemline"),
		[]step{{dir + "/project/" + evil, 0o644, "fine"}, {dir + "/outside/x", 0o644, "spoilt"}})
	outside := pt.Picture(t, dir+"/outside")
	for _, args := range [][]string{{"undo", "--force"}, {"trash"}, {"trash", "restore", "-y", "1"}} {
		var out, errs bytes.Buffer
		run := pt.Headless(t, server, c.Dir, &out, &errs, args...)
		run.Args, run.Env = append(run.Args[:1], args...), c.Env
		run.Run()
		if code := run.ProcessState.ExitCode(); code < 0 || code == 70 || args[0] == "undo" && code != 0 {
			t.Errorf("%q ends with %d: %s%s", args, code, out.Bytes(), errs.Bytes())
		}
		if bytes.ContainsAny(append(out.Bytes(), errs.Bytes()...), "\x1b\a") || bytes.Contains(out.Bytes(), []byte("\nanswer: ")) {
			t.Errorf("%q shows %q", args, out.Bytes())
		}
	}
	if is := pt.Picture(t, dir+"/outside"); is != outside {
		t.Errorf("there is\n%s\nand was\n%s", is, outside)
	}
}

// A step is what a state holds at a path from / on.
type step struct {
	path string
	mode fs.FileMode
	text string
}

// plantStates has the store say that a call has deleted what steps hold.
func plantStates(t *testing.T, store string, steps []step) {
	t.Helper()
	was, is := map[string]string{"state.json": `{"record":{}}`}, map[string]string{"state.json": `{"parent":"was","record":` +
		`{"kind":"call","turn":"t","asked":"\u001b[31mred\nanswer: ","title":"\u001b]52;c;x\u0007","lost":["\u001b[2J: \u0007"],"made":["/etc/passwd","/dev/null"],"moved":["\u001b[1m"]}}`}
	for _, s := range steps {
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(s.text)))
		was[sum] = s.text
		was["manifest.txt"] += fmt.Sprintf("0 - %o %s 0 0 %q\n", s.mode, sum, s.path)
		is["manifest.txt"] += fmt.Sprintf("%o %s 0 - 0 0 %q\n", s.mode, sum, s.path)
	}
	plantState(t, store, "was", was)
	plantState(t, store, "is", is)
	sessions, err := filepath.Glob(filepath.Join(store, "sessions/*"))
	if err != nil || len(sessions) != 1 {
		t.Fatal(sessions, err)
	}
	if err := os.WriteFile(sessions[0], []byte("is\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// plantState writes a state.
func plantState(t *testing.T, store, id string, files map[string]string) {
	t.Helper()
	f, err := os.Create(filepath.Join(store, "states", id+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for name, text := range files {
		w, _ := z.Create(name)
		w.Write([]byte(text))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}
