package checkpoint

import (
	"context"
	"iter"
	"os"
	"path/filepath"
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

// A call that changes something has a state of its own, and so has what others have
// done before it. One that changes nothing has none.
func TestStates(t *testing.T) {
	p := newPlace(t)
	p.write("a", "1")
	p.write("d/b", "1")
	if err := p.Ready(); err != nil {
		t.Fatal(err)
	}
	kinds := func(want ...Kind) {
		t.Helper()
		list, err := states(p.repo, "session-1")
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
	kinds(Found)
	p.turn("something", func() { p.write("a", "2") }, func() {}, func() { os.Remove(filepath.Join(p.dir, "d/b")) })
	kinds(Called, Called, Found)
	p.write("a", "3")
	p.turn("more", func() { p.write("c", "1") })
	kinds(Called, Found, Called, Called, Found)
	p.again("session-1")
	p.turn("after a while", func() { p.write("c", "2") })
	kinds(Called, Called, Found, Called, Called, Found)
	if len(p.told) > 0 {
		t.Error(p.told)
	}
}
