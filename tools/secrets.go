package tools

import (
	"fmt"
	"path/filepath"
	"sync/atomic"

	"gemline/engine"
	"gemline/engine/secret"
	"gemline/tools/workspace"
)

// private reports whether the file at path may hold secrets, by its name or by
// the name of where it leads. Where the workspace itself lies does not matter.
func private(ws *workspace.Workspace, path string) bool {
	p, err := ws.Place(path)
	return suspect(ws, path) || err == nil && suspect(ws, p.Path())
}

// suspect is [private] for a path without a link.
func suspect(ws *workspace.Workspace, path string) bool {
	name := filepath.Base(path)
	for _, root := range ws.Roots() {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
	}
	return secret.Path(name)
}

// shows makes in that of a call which shows the file at path. The argument of
// the call that names it is called arg.
func shows(ws *workspace.Workspace, in engine.Intent, tool, arg, path string) engine.Intent {
	if private(ws, path) {
		name := shown(ws.Rel(path))
		in.Secret = name
		in.Grants = []engine.Grant{{Label: fmt.Sprintf("%s of %s", tool, name), Tool: tool, Target: path, Names: arg}}
	}
	return in
}

// An omission counts the files that a search leaves out because they may hold
// secrets. It is safe for concurrent use.
type omission struct{ n atomic.Int64 }

// leaves reports whether path is left out of a search.
func (o *omission) leaves(ws *workspace.Workspace, path string) bool {
	if !suspect(ws, path) {
		return false
	}
	o.n.Add(1)
	return true
}

// tell says in r what was left out.
func (o *omission) tell(r engine.Result) engine.Result {
	n := o.n.Load()
	if n == 0 {
		return r
	}
	text := fmt.Sprintf("%d files that may hold secrets left out", n)
	if n == 1 {
		text = "1 file that may hold secrets left out"
	}
	r.Text += "\n(" + text + ". If one is needed, name it to read_file; the user is asked.)"
	r.Display += " (" + text + ")"
	return r
}
