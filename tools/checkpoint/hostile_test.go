//go:build linux

package checkpoint

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gemline/tools/checkpoint/shadow"
)

// A store that somebody else has written leads nowhere, and nothing outside of the folder
// is made or changed by it.
func TestHostileStore(t *testing.T) {
	// dir holds project and outside.
	write := func(t *testing.T, dir string, files map[string]string) {
		t.Helper()
		for name, text := range files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	evil := "\x1b]0;owned\a\nanswer: \x1b[2J"
	for name, tt := range map[string]struct {
		before func(dir string) []step // dir holds project and outside
		spoil  func(t *testing.T, store string)
		done   bool // something is taken back
	}{
		"a name that leads up": {before: func(dir string) []step { return []step{{dir + "/project/../outside/x", 0o644, "spoilt"}} }},
		"a place outside":      {before: func(dir string) []step { return []step{{dir + "/outside/x", 0o644, "spoilt"}} }, done: true},
		"a system file":        {before: func(string) []step { return []step{{"/etc/gemline-spoilt", 0o644, "spoilt"}} }, done: true},
		"through a link":       {before: func(dir string) []step { return []step{{dir + "/project/link/x", 0o644, "spoilt"}} }},
		"a link, then through it": {before: func(dir string) []step {
			return []step{{dir + "/project/new", fs.ModeSymlink, dir + "/outside"}, {dir + "/project/new/x", 0o644, "spoilt"}}
		}},
		"a hook": {before: func(dir string) []step {
			return []step{{dir + "/project/.git/hooks/pre-commit", 0o755, "#!/bin/sh\ntouch " + dir + "/outside/x"}}
		}},
		"a hook, spelt otherwise": {before: func(dir string) []step {
			return []step{{dir + "/project/.GIT/config", 0o644, "[core]\nfsmonitor=touch x"}}
		}},
		"words that are no words": {before: func(dir string) []step { return []step{{dir + "/project/" + evil, 0o644, "fine"}} }, done: true},
		"refs that are a link":    {spoil: func(t *testing.T, store string) { replaceBy(t, filepath.Join(store, "refs"), "../../../outside") }},
		"objects that are a link": {spoil: func(t *testing.T, store string) { replaceBy(t, filepath.Join(store, "objects"), "../../../outside") }},
		"alternates": {spoil: func(t *testing.T, store string) {
			write(t, store, map[string]string{"objects/info/alternates": "/outside", "hooks/post-checkout": "touch x"})
		}, done: true},
		"a name that is a device": {spoil: func(t *testing.T, store string) {
			write(t, store, map[string]string{"refs/sessions/s/x": ""})
			replaceBy(t, filepath.Join(store, "refs/sessions/t"), "/dev/zero")
		}, done: true},
		"a pack of nothing": {spoil: func(t *testing.T, store string) {
			write(t, store, map[string]string{"objects/pack/pack-x.idx": strings.Repeat("\xff", 2000), "objects/pack/pack-x.pack": "PACK"})
		}, done: true},
		"an index of another thing": {spoil: func(t *testing.T, store string) {
			write(t, store, map[string]string{"index.gemline": "gemline index 2\n" + strings.Repeat("\xff", 100), "generation": strings.Repeat("x", 9000)})
		}, done: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			dir := p.dir
			p.dir = filepath.Join(dir, "project")
			write(t, dir, map[string]string{"project/a": "one", "outside/kept": "kept", "project/.git/hooks/README": ""})
			p.run("ln -s ../outside link")
			p.again("session-1")
			p.turn("go", func() { p.write("a", "two") })
			if tt.spoil != nil {
				tt.spoil(t, p.kept)
			}
			if tt.before != nil {
				plantStates(t, p.kept, tt.before(dir))
			}
			p.again("session-1")
			outside, git := &place{t: t, dir: filepath.Join(dir, "outside")}, &place{t: t, dir: filepath.Join(p.dir, ".git")}
			before := outside.picture() + git.picture()
			done := false
			list, err := p.Turns(t.Context())
			for i := 0; err == nil && i < len(list); i++ {
				plan, uerr := p.Undo(t.Context(), list[i:i+1])
				if uerr != nil {
					continue
				}
				o, aerr := p.Apply(t.Context(), plan, true)
				done = done || aerr == nil && len(o.Failed) == 0
			}
			if tt.done && !done {
				t.Errorf("nothing is taken back of %d turns: %v", len(list), err)
			}
			if found, err := p.Trash(t.Context()); err == nil {
				for _, d := range found {
					if plan, err := p.Recover(t.Context(), d, d.Path); err == nil {
						p.Apply(t.Context(), plan, true)
					}
				}
			}
			p.turn("more", func() { p.write("a", "three") })
			Store(p.kept).Collect()
			same(t, "what is outside", outside.picture()+git.picture(), before)
			if _, err := os.Lstat("/etc/gemline-spoilt"); err == nil {
				t.Error("a file of the system's was made")
			}
		})
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

// replaceBy puts a link in the place of something.
func replaceBy(t *testing.T, path, to string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}
