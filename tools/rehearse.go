package tools

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/edit"
	"gemline/tools/workspace"
)

// A Rehearsal is a run that changes nothing. Its edits go to the overlay of its workspace
// and become a patch; other calls that may change something are not carried out. A nil
// Rehearsal leaves tools and policies as they are: the run is real.
//
// Calls in a rehearsal need no approval, as they change nothing. Calls that a policy denies
// stay denied.
type Rehearsal struct {
	ws      *workspace.Workspace
	over    *workspace.Overlay
	base    string // where the patch is applied
	pretend bool
	plain   func(text string) bool

	mu    sync.Mutex
	steps []Step
}

// A Step is a call that a real run would have carried out.
type Step struct {
	Tool  string
	Title string // such as "run: make" or "write: main.go", on one line
	Args  map[string]any
}

// Rehearse returns a Rehearsal in a workspace that writes to over, or nil if
// that is nil.
//
// With pretend, calls that are not carried out report success to the model, so that it
// continues with the next step. Otherwise the model is told that the run only collects
// edits, and is offered no other tools that change something. Files for which plain is false
// are in the patch in another form; if plain is nil, all files are plain.
func Rehearse(ws *workspace.Workspace, over *workspace.Overlay, pretend bool, plain func(text string) bool) *Rehearsal {
	if over == nil {
		return nil
	}
	return &Rehearsal{ws: ws, over: over, base: workspace.RepositoryRoot(ws.Roots()[0]), pretend: pretend, plain: plain}
}

// Steps returns the steps that would have been taken, in the order of the calls.
func (r *Rehearsal) Steps() []Step {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.steps)
}

// Patch returns the edits as a git patch. Its paths are relative to the repository of the
// workspace's first root, or to the root if it is in no repository, so that git apply works
// there.
func (r *Rehearsal) Patch() string {
	if r == nil {
		return ""
	}
	var files []edit.File
	for _, c := range r.over.Changes() {
		if rel, err := filepath.Rel(r.base, c.Path); err == nil && filepath.IsLocal(rel) {
			f := edit.File{Name: filepath.ToSlash(rel), NewMode: edit.GitMode(c.Mode), Old: string(c.Old), New: string(c.New)}
			if !c.Created {
				f.OldMode = f.NewMode
			}
			files = append(files, f)
		}
	}
	return edit.Patch(files, r.plain)
}

// ApplyDir returns the directory that the patch must be applied in if files of
// it lie outside of the first root, which git apply would pass over there.
// Else it returns "".
func (r *Rehearsal) ApplyDir() string {
	if r == nil {
		return ""
	}
	for _, c := range r.over.Changes() {
		if rel, err := filepath.Rel(r.ws.Roots()[0], c.Path); err != nil || !filepath.IsLocal(rel) {
			return r.base
		}
	}
	return ""
}

// A role is the part of a tool in a rehearsal.
type role int

const (
	roleReads   role = iota // it changes nothing
	roleEdits               // it edits through the workspace
	roleSkipped             // it is not carried out
)

func roleOf(t engine.Tool) role {
	switch {
	case t.Kind.ReadOnly() || t.Kind == engine.AskUser:
		return roleReads
	case t.Name() == "replace" || t.Name() == "write_file":
		return roleEdits
	}
	return roleSkipped
}

// Tools returns the tools of ts as they are in the rehearsal.
func (r *Rehearsal) Tools(ts engine.Toolset) engine.Toolset {
	if r == nil {
		return ts
	}
	return engine.Map(ts, func(t engine.Tool) engine.Tool {
		if p := roleOf(t); p != roleReads {
			t.Prepare = r.rehearse(t, p)
		}
		return t
	})
}

func (r *Rehearsal) rehearse(t engine.Tool, p role) func(context.Context, map[string]any) (engine.Call, error) {
	return func(ctx context.Context, args map[string]any) (engine.Call, error) {
		call, err := t.Prepare(ctx, args)
		if err != nil || call.Idle {
			return call, err
		}
		step := Step{Tool: t.Name(), Title: r.title(t, args, call.Intent), Args: maps.Clone(args)}
		call.Rehearsed = true
		run := call.Run
		call.Run = func(ctx context.Context, host engine.Host) (engine.Result, error) {
			if p == roleSkipped {
				return r.skip(t, step)
			}
			if err := r.reachable(call.Intent); err != nil {
				r.note(step)
				return engine.Result{}, err
			}
			result, err := run(ctx, host)
			if err == nil {
				r.note(step)
			}
			return result, err
		}
		return call, nil
	}
}

func (r *Rehearsal) note(s Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, s)
}

// skip answers a call that is not carried out.
func (r *Rehearsal) skip(t engine.Tool, s Step) (engine.Result, error) {
	r.note(s)
	if r.pretend {
		return engine.Result{
			Text:    "This is a dry run: the call was not carried out, and nothing else is. Assume that it succeeded, and go on. There is no output.",
			Display: "not done: this is a dry run",
		}, nil
	}
	return engine.Result{}, &engine.CallError{Type: "not_carried_out",
		Message: fmt.Sprintf("This run only collects edits of files, as a patch. %s was not carried out, and would not be another time. "+
			"Find out what you need by reading and searching, and make the edits.", t.Name()),
		Display: "not done: this run only collects edits"}
}

// reachable returns an error if the patch can't contain the edit.
func (r *Rehearsal) reachable(in engine.Intent) error {
	if len(in.Paths) == 0 {
		return nil
	}
	real := in.Paths[len(in.Paths)-1] // where a link leads
	if rel, err := filepath.Rel(r.base, real); err == nil && filepath.IsLocal(rel) {
		return nil
	}
	return &engine.CallError{Type: "not_in_patch",
		Message: fmt.Sprintf("This run collects edits as a patch of %s, and %s lies outside of it. Nothing was written.", r.base, real),
		Display: "not done: it lies outside of " + r.base + ", which the patch is for"}
}

// title describes a call in one line.
func (r *Rehearsal) title(t engine.Tool, args map[string]any, in engine.Intent) string {
	switch command, _ := args["command"].(string); {
	case t.Kind == engine.Edit && len(in.Paths) > 0:
		return "write: " + text.Name(r.ws.Rel(in.Paths[0]))
	case t.Kind == engine.Execute && command != "":
		if dir, _ := args["dir_path"].(string); dir != "" {
			return "run in " + text.Name(dir) + ": " + text.Name(command)
		}
		return "run: " + text.Name(command)
	}
	return text.Name(cmp.Or(in.Title, t.Name()))
}

// Policy returns p, but allows calls that the rehearsal does not carry out where p asks.
func (r *Rehearsal) Policy(p engine.Policy) engine.Policy {
	if r == nil {
		return p
	}
	return rehearsed{p, r.pretend}
}

type rehearsed struct {
	engine.Policy
	pretend bool
}

// Offers implements [engine.Policy].
func (p rehearsed) Offers(t engine.Tool) bool {
	return (p.pretend || roleOf(t) != roleSkipped) && p.Policy.Offers(t)
}

// Judge implements [engine.Policy].
func (p rehearsed) Judge(ctx context.Context, q engine.Proposal) (engine.Verdict, engine.Reason) {
	verdict, reason := p.Policy.Judge(ctx, q)
	if verdict == engine.Ask && roleOf(q.Tool) != roleReads {
		return engine.Allow, engine.Reason{}
	}
	return verdict, reason
}
