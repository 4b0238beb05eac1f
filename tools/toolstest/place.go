package toolstest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/tools/workspace"
)

// A Place is a workspace in a temporary directory, to look around in.
type Place struct {
	testing.TB
	Dir       string
	Workspace *workspace.Workspace
}

// NewPlace returns a place with files by name.
func NewPlace(t testing.TB, files map[string]string) Place {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := Place{TB: t, Dir: filepath.Join(base, "ws")}
	for _, dir := range []string{"ws", "out"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		path := p.Path(name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := workspace.New(workspace.Config{Roots: []string{p.Dir}, RespectGit: true, RespectGemini: true})
	if err != nil {
		t.Fatal(err)
	}
	p.Workspace = ws
	return p
}

// Path returns the path of a file.
func (p Place) Path(name string) string { return filepath.Join(p.Dir, filepath.FromSlash(name)) }

// Short writes $ for the directory.
func (p Place) Short(s string) string { return strings.ReplaceAll(s, p.Dir, "$") }

// Do carries out a call with the arguments in JSON.
func (p Place) Do(tool engine.Tool, args string) (engine.Call, engine.Result, error) {
	p.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(args), &m); err != nil {
		p.Fatal(args, err)
	}
	before, _ := json.Marshal(m)
	call, err := tool.Prepare(p.Context(), m)
	if err != nil {
		return call, engine.Result{}, err
	}
	r, err := call.Run(p.Context(), nil)
	if after, _ := json.Marshal(m); string(after) != string(before) {
		p.Errorf("the arguments %s became %s", before, after)
	}
	return call, r, err
}

// Want checks the outcome of a call: its text, or the class and the text of
// its error.
func (p Place) Want(tool engine.Tool, args, text string) {
	p.Helper()
	_, r, err := p.Do(tool, args)
	got := p.Short(r.Text)
	if err != nil {
		got = engine.ErrorType(err) + ": " + p.Short(err.Error())
	}
	if got != text {
		p.Errorf("%s\ngot:  %s\nwant: %s", args, got, text)
	}
}
