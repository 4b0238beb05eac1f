package files

import (
	"strings"
	"sync/atomic"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/workspace"
)

// shows completes the Intent of a call that shows the file at path. The call names the file
// in its argument arg.
func shows(ws *workspace.Workspace, in engine.Intent, tool, arg, path string) engine.Intent {
	if ws.Private(path) {
		name := text.Name(ws.Rel(path))
		in.Secret = name
		in.Grants = []engine.Grant{{Label: "always for " + name, Tool: tool, Target: path, Names: arg}}
	}
	return in
}

// An omission counts the files that a search omits because they may hold secrets. It is safe
// for concurrent use, except for its method below.
type omission struct {
	ws   *workspace.Workspace
	dir  string // the searched directory
	real string // dir without links
	n    atomic.Int64
}

// below begins the search of dir.
func (o *omission) below(ws *workspace.Workspace, dir string) {
	o.ws, o.dir, o.real = ws, dir, dir
	if p, err := ws.Locate(dir); err == nil {
		o.real = p.Path()
	}
}

// leaves reports whether the file at path is omitted.
func (o *omission) leaves(path string) bool {
	rest, below := strings.CutPrefix(path, o.dir)
	if !o.ws.Suspect(path) && (!below || o.real == o.dir || !o.ws.Suspect(o.real+rest)) {
		return false
	}
	o.n.Add(1)
	return true
}

// tell names the withheld files in r.
func (o *omission) tell(r engine.Result) engine.Result {
	n := o.n.Load()
	if n == 0 {
		return r
	}
	said := text.Count(int(n), "file") + " that may hold secrets left out"
	r.Text += "\n(" + said + ". If one is needed, name it to read_file; the user is asked.)"
	r.Display += " (" + said + ")"
	return r
}
