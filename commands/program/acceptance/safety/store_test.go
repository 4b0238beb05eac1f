//go:build linux

package safety

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	et "gemline/engine/enginetest"
	"gemline/tools/checkpoint/shadow"

	pt "gemline/commands/program/acceptance/programtest"
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
	r, err := shadow.Create(store, shadow.OS{})
	if err != nil {
		t.Fatal(err)
	}
	b := r.Begin()
	type node struct {
		kids map[string]*node
		step step
	}
	top := &node{kids: map[string]*node{}}
	for _, s := range steps {
		at := top
		for _, part := range strings.Split(strings.Trim(s.path, "/"), "/") {
			if at.kids[part] == nil {
				at.kids[part] = &node{kids: map[string]*node{}}
			}
			at = at.kids[part]
		}
		at.step = s
	}
	add := func(kind shadow.Kind, content []byte) shadow.Sum {
		sum, err := b.Add(kind, content)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	var tree func(n *node) shadow.Sum
	tree = func(n *node) shadow.Sum {
		var entries []shadow.Entry
		for name, k := range n.kids {
			if k.step.text != "" {
				entries = append(entries, shadow.Entry{Name: name, Mode: k.step.mode, Sum: add(shadow.Blob, []byte(k.step.text))})
			}
			if len(k.kids) > 0 {
				entries = append(entries, shadow.Entry{Name: name, Mode: fs.ModeDir | 0o755, Sum: tree(k)})
			}
		}
		return add(shadow.Tree, shadow.EncodeTree(entries))
	}
	was := add(shadow.Commit, shadow.EncodeCommit(shadow.CommitObject{Tree: tree(top), Message: "x\n\n{}"}))
	is := add(shadow.Commit, shadow.EncodeCommit(shadow.CommitObject{Tree: add(shadow.Tree, nil), Parent: was, Time: time.Now(),
		Message: "x\n\n" + `{"kind":"call","turn":"t","asked":"\u001b[31mred\nanswer: ","title":"\u001b]52;c;x\u0007","lost":["\u001b[2J: \u0007"],"made":["/etc/passwd","/dev/null"],"moved":["\u001b[1m"]}`}))
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	refs, err := r.Refs()
	if err != nil || len(refs) != 1 {
		t.Fatal(refs, err)
	}
	if err := r.SetRef(refs[0].Name, is); err != nil {
		t.Fatal(err)
	}
	r.Close()
}
