package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/tools/workspace"
)

// A place is a workspace in a temporary directory, to look around in.
type place struct {
	t   testing.TB
	dir string
	env Env
}

func newPlace(t testing.TB, files map[string]string) place {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := place{t: t, dir: filepath.Join(base, "ws")}
	for _, dir := range []string{"ws", "out"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		path := p.path(name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := workspace.New(workspace.Config{Roots: []string{p.dir}, RespectGit: true, RespectGemini: true})
	if err != nil {
		t.Fatal(err)
	}
	p.env = Env{Workspace: ws}
	return p
}

func (p place) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// short writes $ for the directory.
func (p place) short(s string) string { return strings.ReplaceAll(s, p.dir, "$") }

// do carries out a call with the arguments in JSON.
func (p place) do(tool engine.Tool, args string) (engine.Call, engine.Result, error) {
	p.t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(args), &m); err != nil {
		p.t.Fatal(args, err)
	}
	before, _ := json.Marshal(m)
	ctx := context.Background()
	call, err := tool.Prepare(ctx, m)
	if err != nil {
		return call, engine.Result{}, err
	}
	r, err := call.Run(ctx, nil)
	if after, _ := json.Marshal(m); string(after) != string(before) {
		p.t.Errorf("the arguments %s became %s", before, after)
	}
	return call, r, err
}

// want checks the outcome of a call: its text, or the class and the text of
// its error.
func (p place) want(tool engine.Tool, args, text string) {
	p.t.Helper()
	_, r, err := p.do(tool, args)
	got := p.short(r.Text)
	if err != nil {
		got = engine.ErrorType(err) + ": " + p.short(err.Error())
	}
	if got != text {
		p.t.Errorf("%s\ngot:  %s\nwant: %s", args, got, text)
	}
}
