//go:build linux

package checkpoint

import (
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
		"a name with a zero byte": {before: func(dir string) []step {
			return []step{{dir + "/project/a\x00b", 0o644, "spoilt"}, {dir + "/project/b", 0o644, "fine"}}
		}, done: true},
		"a hook": {before: func(dir string) []step {
			return []step{{dir + "/project/.git/hooks/pre-commit", 0o755, "#!/bin/sh\ntouch " + dir + "/outside/x"}}
		}},
		"a hook, spelt otherwise": {before: func(dir string) []step {
			return []step{{dir + "/project/.GIT/config", 0o644, "[core]\nfsmonitor=touch x"}}
		}},
		"words that are no words":  {before: func(dir string) []step { return []step{{dir + "/project/" + evil, 0o644, "fine"}} }, done: true},
		"sessions that are a link": {spoil: func(t *testing.T, store string) { replaceBy(t, filepath.Join(store, "sessions"), "../../../outside") }},
		"states that are a link":   {spoil: func(t *testing.T, store string) { replaceBy(t, filepath.Join(store, "states"), "../../../outside") }},
		"a name that is a device": {spoil: func(t *testing.T, store string) {
			write(t, store, map[string]string{"sessions/s/x": ""})
			replaceBy(t, filepath.Join(store, "sessions/t"), "/dev/zero")
			replaceBy(t, filepath.Join(store, "states/t.zip"), "/dev/zero")
		}, done: true},
		"a state of nothing": {spoil: func(t *testing.T, store string) {
			write(t, store, map[string]string{"states/x.zip": "PK\x05\x06" + strings.Repeat("\xff", 2000)})
		}, done: true},
		"a bomb": {spoil: func(t *testing.T, store string) {
			plantState(t, store, "bomb", map[string]string{strings.Repeat("0", 64): strings.Repeat("0", 100<<20)})
		}, done: true},
		"an index of another thing": {spoil: func(t *testing.T, store string) {
			write(t, store, map[string]string{"index.gemline": "gemline index 3\n" + strings.Repeat("\xff", 100), "generation": strings.Repeat("x", 9000)})
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
				plan.Overwrite()
				o, aerr := p.Apply(t.Context(), plan)
				done = done || aerr == nil && len(o.Failed) == 0
			}
			if tt.done && !done {
				t.Errorf("nothing is taken back of %d turns: %v", len(list), err)
			}
			if found, err := p.Trash(t.Context()); err == nil {
				for _, d := range found {
					if plan, err := p.Recover(t.Context(), d, d.Path); err == nil {
						plan.Overwrite()
						p.Apply(t.Context(), plan)
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

// Nothing is made in the directory that a link leads to in the place of the store.
func TestStoreBehindLink(t *testing.T) {
	dir := t.TempDir()
	replaceBy(t, filepath.Join(dir, "kept"), t.TempDir())
	if _, err := create(filepath.Join(dir, "kept"), createFile); err == nil {
		t.Error("a link is taken for the store")
	}
	if made, err := os.ReadDir(filepath.Join(dir, "kept")); err != nil || len(made) > 0 {
		t.Error(made, err)
	}
}

// A state that a later release has written, with a record of another form, hides none of those
// before it.
func TestLaterRecord(t *testing.T) {
	p := newPlace(t)
	p.write("a", "one")
	p.turn("first", func() { p.write("a", "two") })
	tip, err := os.ReadFile(filepath.Join(p.kept, "sessions/session-1"))
	if err != nil {
		t.Fatal(err)
	}
	plantState(t, p.kept, "later", map[string]string{"manifest.txt": "",
		"state.json": fmt.Sprintf(`{"formatVersion":1,"record":{"kind":{"of":"call"},"time":7},"parent":%q}`, strings.TrimSpace(string(tip)))})
	if err := os.WriteFile(filepath.Join(p.kept, "sessions/session-1"), []byte("later\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.again("session-1")
	p.turn("second", func() { p.write("b", "new") })
	list, err := p.Turns(t.Context())
	if err != nil || len(list) != 2 || list[1].Of.Asked != "first" {
		t.Fatal(list, err)
	}
	if plan, o := p.undo(2, false); len(plan.Conflicts)+len(o.Failed) > 0 || o.Done != 2 {
		t.Errorf("%+v %+v", plan, o)
	}
}

// Where the last state can't be read, the user is told that nothing before can be taken back.
func TestDamagedState(t *testing.T) {
	p := newPlace(t)
	p.write("a", "one")
	p.turn("first", func() { p.write("a", "two") })
	p.Keeper.Close()
	tip, err := os.ReadFile(filepath.Join(p.kept, "sessions/session-1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(p.kept, "states", strings.TrimSpace(string(tip))+".zip"), 10); err != nil {
		t.Fatal(err)
	}
	p.again("session-1")
	p.told = nil
	p.turn("second", func() { p.write("a", "three") })
	if len(p.told) != 1 || !strings.Contains(p.told[0], "is damaged") {
		t.Errorf("told %q", p.told)
	}
	p.undo(1, false)
	if is := p.run("cat a"); is != "two" {
		t.Errorf("a is %q", is)
	}
}

// If a state before the last one is missing, an undo says that something may stay.
func TestMissingState(t *testing.T) {
	p := newPlace(t)
	p.write("a", "one")
	p.turn("first", func() { p.write("a", "two") }, func() { p.write("b", "two") }, func() { p.write("c", "two") })
	list, err := p.Turns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(p.kept, "states", list[0].Calls[1].ID+".zip")); err != nil {
		t.Fatal(err)
	}
	p.again("session-1")
	plan, _ := p.undo(1, false)
	if !slices.Contains(plan.NotKept, MissingChanges) || p.run("cat a b") != "twotwo" {
		t.Errorf("%+v", plan)
	}
	want := "without a copy, and can't be brought back: earlier changes (their checkpoint is missing)"
	if ls := plan.Lines(p.cfg.Workspace.Rel); !slices.Contains(ls, want) {
		t.Errorf("%q", ls)
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
