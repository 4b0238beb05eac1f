package checkpoint

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/tools/workspace"
)

// A place is a folder that is worked in, and a keeper of it.
type place struct {
	t    testing.TB
	dir  string
	kept string
	*Keeper
	told []string
}

func newPlace(t testing.TB, change ...func(*Config)) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir(), kept: filepath.Join(t.TempDir(), "kept")}
	p.dir, _ = filepath.EvalSymlinks(p.dir)
	p.again("session-1", change...)
	return p
}

// again begins another session in the same folder.
func (p *place) again(session string, change ...func(*Config)) {
	p.t.Helper()
	if p.Keeper != nil {
		p.Keeper.Close()
	}
	ws, err := workspace.New(workspace.Config{Roots: []string{p.dir}})
	if err != nil {
		p.t.Fatal(err)
	}
	cfg := Config{Dir: p.kept, Workspace: ws, Session: func() string { return session }, Notify: func(text string) { p.told = append(p.told, text) }}
	for _, f := range change {
		f(&cfg)
	}
	p.Keeper = New(cfg)
	p.t.Cleanup(p.Keeper.Close)
}

// calls makes a call that does something.
func (p *place) calls(kind engine.Kind, intent engine.Intent, do func()) {
	p.t.Helper()
	tools := p.Tools(engine.Tools{{Declaration: &genai.FunctionDeclaration{Name: "tool"}, Kind: kind,
		Prepare: func(context.Context, map[string]any) (engine.Call, error) {
			return engine.Call{Intent: intent, Run: func(context.Context, engine.Host) (engine.Result, error) { do(); return engine.Result{}, nil }}, nil
		}}})
	call, err := tools.Tools()[0].Prepare(p.t.Context(), nil)
	if err == nil {
		_, err = call.Run(p.t.Context(), nil)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// turn makes calls of commands, one each, which belong together.
func (p *place) turn(asked string, commands ...func()) {
	p.t.Helper()
	p.turnOf(asked, engine.Execute, engine.Intent{Title: "a command"}, commands...)
}

// write writes a file.
func (p *place) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) turnOf(asked string, kind engine.Kind, intent engine.Intent, calls ...func()) {
	p.t.Helper()
	run := p.Run(func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(func(engine.Event, error) bool) {
			for _, do := range calls {
				p.calls(kind, intent, do)
			}
		}
	})
	for range run(p.t.Context(), genai.NewPartFromText(asked)) {
	}
}

// Keepers of two sessions of a folder, which are used side by side, tell a text once.
func TestOnce(t *testing.T) {
	var told atomic.Int64
	p := newPlace(t, func(c *Config) { c.Notify = func(string) { told.Add(1) } })
	const texts = 50_000
	var wg sync.WaitGroup
	for _, k := range []*Keeper{p.Keeper, p.For("a"), p.For("b")} {
		wg.Go(func() {
			for i := range texts {
				k.cfg.Notify(strconv.Itoa(i))
			}
		})
	}
	wg.Wait()
	if told.Load() != texts {
		t.Errorf("told %d times", told.Load())
	}
}

// A copy of a session knows what that one has changed, and takes it back by itself: what it
// does is none of the other one's, and stays when the other one is deleted.
func TestCopy(t *testing.T) {
	p := newPlace(t)
	p.write("a", "1")
	if err := p.Copy("none"); err != nil {
		t.Error(err)
	}
	p.turn("first", func() { p.write("a", "2") })
	p.again("session-2")
	for _, from := range []string{"session-1", "", "../x", "none"} {
		if err := p.Copy(from); err != nil {
			t.Error(err)
		}
	}
	p.turn("second", func() { p.write("a", "3") })
	if err := p.Copy("session-1"); err != nil { // too late: it has states of its own
		t.Error(err)
	}
	if list, err := p.Trash(t.Context()); err != nil || len(list) != 2 || list[0].Session != "session-2" || list[1].Session != "session-1" {
		t.Errorf("trash: %+v, %v", list, err)
	}
	if err := errors.Join(Store(p.kept).Drop("session-1"), Store(p.kept).Collect()); err != nil {
		t.Fatal(err)
	}
	p.again("session-2")
	if list, err := p.Trash(t.Context()); err != nil || len(list) != 2 || list[1].Session != "session-2" {
		t.Errorf("trash: %+v, %v", list, err)
	}
	p.undo(2, false)
	if b, _ := os.ReadFile(filepath.Join(p.dir, "a")); string(b) != "1" {
		t.Errorf("a is %q", b)
	}
}

// What a call has done that was killed can be taken back, and is asked about, since others
// may have done some of it.
func TestInterrupted(t *testing.T) {
	p := newPlace(t)
	p.write("a", "1")
	p.write("b", "1")
	turn := Turn{Asked: "go on", Print: "x"}
	if err := p.Interrupted(t.Context(), turn, "run", "rm a"); err != nil {
		t.Error(err)
	}
	p.turnOf("an edit", engine.Edit, engine.Intent{Paths: []string{filepath.Join(p.dir, "b")}}, func() { p.write("b", "2") })
	if err := p.Interrupted(t.Context(), turn, "run", "rm a"); err != nil {
		t.Error(err)
	}
	if list, err := p.Turns(t.Context()); err != nil || len(list) != 1 { // only the file of the edit was looked at
		t.Fatalf("%d turns, %v", len(list), err)
	}
	p.turn("a command", func() { p.write("b", "3") })
	before := p.picture()
	p.run("rm a; echo c >c")
	p.again("session-1")
	turn.Print = Fingerprint([]*genai.Part{genai.NewPartFromText("a command")})
	for range 2 {
		if err := p.Interrupted(t.Context(), turn, "run", "rm a"); err != nil {
			t.Error(err)
		}
		p.write("mine", "1")
	}
	if list, err := p.Turns(t.Context()); err != nil || len(list) != 2 || len(list[0].Calls) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list, err := p.Trash(t.Context()); err != nil || list[0].Path != filepath.Join(p.dir, "a") || list[0].Title != "rm a" {
		t.Errorf("%+v, %v", list, err)
	}
	if plan, _ := p.undo(1, true); len(plan.Changes) != 1 || len(plan.Conflicts) != 2 {
		t.Errorf("%+v", plan)
	}
	p.run("rm mine; printf 3 >b")
	same(t, "taken back", p.picture(), before)
}

// The files of a turn are those that are not as they were before it, whatever has changed
// them, and however often.
func TestFiles(t *testing.T) {
	p := newPlace(t)
	p.write("a", "1")
	p.write("b", "1")
	if n, known := p.Files(); known {
		t.Errorf("%d files before the first turn", n)
	}
	p.turn("nothing", func() {})
	if n, known := p.Files(); known {
		t.Errorf("%d files of no change", n)
	}
	p.turn("another run writes a file", func() { p.write(".gemline-0123456789abcdef", "1") })
	if n, known := p.Files(); known {
		t.Errorf("%d files of another run", n)
	}
	p.turn("some", func() { p.write("a", "2"); p.write("d/new", "1") }, func() { p.write("a", "3") },
		p.shell("rm d/new; rmdir d; echo x >b; mkdir e"), p.shell("printf 1 >b; echo c >c; mv c e/c"))
	if n, known := p.Files(); n != 2 || !known {
		t.Errorf("%d files, %t", n, known)
	}
	p.turn("back", func() { p.write("a", "4") }, func() { p.write("a", "3") })
	if n, known := p.Files(); n != 0 || !known {
		t.Errorf("%d files, %t", n, known)
	}
}

// What undo does not bring back is what was there before, also if what was known of the files was
// lost while a call ran; what a call makes is not.
func TestUncovered(t *testing.T) {
	p := newPlace(t)
	p.write(".gitignore", "*.db\ndata\n")
	p.write("mine.db", "1")
	p.write("data/mine", "1")
	p.turn("make", func() { p.write("own.db", "1"); p.write("new/own.db", "1") })
	want := []string{filepath.Join(p.dir, "data"), filepath.Join(p.dir, "mine.db")}
	if got, ok := p.Uncovered(10); !ok || !slices.Equal(got, want) {
		t.Errorf("%q, %t", got, ok)
	}
	p.turn("go", func() { os.WriteFile(filepath.Join(p.kept, "generation"), []byte("as if collected"), 0o600) })
	if got, ok := p.Uncovered(10); !ok || len(got) != 4 {
		t.Errorf("%q, %t", got, ok)
	}
}

// A call that changes something has a state of its own, and so has what others have
// done before it. One that changes nothing has none.
func TestStates(t *testing.T) {
	p := newPlace(t)
	p.write("a", "1")
	p.write("d/b", "1")
	if err := p.CheckReady(); err != nil {
		t.Fatal(err)
	}
	kinds := func(want ...Kind) {
		t.Helper()
		list, err := states(p.history.store, "session-1", false)
		if err != nil {
			t.Fatal(err)
		}
		var got []Kind
		for _, s := range list {
			got = append(got, s.Kind)
		}
		if len(got) != len(want) {
			t.Fatalf("%v, want %v", got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	}
	p.turn("nothing", func() {})
	kinds(External)
	p.turn("something", func() { p.write("a", "2") }, func() {}, func() { os.Remove(filepath.Join(p.dir, "d/b")) })
	kinds(ToolCall, ToolCall, External)
	p.write("a", "3")
	p.turn("more", func() { p.write("c", "1") })
	kinds(ToolCall, External, ToolCall, ToolCall, External)
	p.again("session-1")
	p.turn("after a while", func() { p.write("c", "2") })
	kinds(ToolCall, ToolCall, External, ToolCall, ToolCall, External)
	if len(p.told) > 0 {
		t.Error(p.told)
	}
}
