package plan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/tools/files"
	"gemline/tools/toolkit"
	"gemline/tools/workspace"
)

// A Folder holds the plans of a session, each a Markdown file, and controls plan mode, in
// which only plans are written. Nil means no plans.
type Folder struct {
	Workspace *workspace.Workspace

	// Dir is the folder, absolute and without links. If a link replaces Dir or a parent of
	// it, no file in Dir counts as a plan.
	Dir string

	// Made is a file with the paths of plans that sessions have written here, a line each;
	// "" if there is no place for it.
	Made string

	// Planning reports whether plan mode is on, and Enter switches it on.
	Planning func() bool
	Enter    func() error

	// Leave ends plan mode for another mode, "" for the previous mode, and returns a
	// description of the new mode. Modes returns the previous mode and other choices.
	Leave func(mode string) (said string, err error)
	Modes func() []Mode

	// HasUser says that a user can approve plans.
	HasUser bool

	entered  atomic.Bool            // the model entered plan mode
	approved atomic.Pointer[string] // the plan that was approved last
	written  sync.Map               // the paths of this session's plans
}

// A Mode is an approval mode that may follow plan mode.
type Mode struct{ Name, Meaning string }

// planEnding is the suffix of the names of plans.
const planEnding = ".md"

// Is reports whether path, which is absolute, and the target of a link at path are paths of
// plans. The file need not exist.
func (p *Folder) Is(path string) bool {
	is := func(path string) bool {
		name := filepath.Base(path)
		return filepath.Dir(path) == p.Dir && filepath.Ext(name) == planEnding &&
			!strings.HasPrefix(name, ".") && text.Name(name) == name
	}
	return p != nil && is(path) && is(disk.ResolveLinks(path))
}

// path returns the path of the plan for name, a file name or a path. A path in another
// folder is no plan.
func (p *Folder) path(name string) (string, error) {
	dir, file := filepath.Split(filepath.Clean(strings.ReplaceAll(strings.TrimPrefix(name, "@"), "\x00", "")))
	path := filepath.Join(p.Dir, file)
	if dir != "" && filepath.Clean(dir) != filepath.Base(p.Dir) {
		if at, err := p.Workspace.Resolve(name); err != nil || disk.ResolveLinks(filepath.Dir(at)) != p.Dir {
			path = ""
		}
	}
	if !p.Is(path) {
		return "", &engine.CallError{Type: engine.PolicyViolation,
			Message: fmt.Sprintf("Plan mode is read-only, but for plans: Markdown files directly in %s, such as plan%s. %s is none.",
				p.Dir, planEnding, text.Name(name)),
			Display: "denied: in plan mode only plans are written"}
	}
	return path, nil
}

// make makes the folder, for the user alone.
func (p *Folder) make() error {
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return &engine.CallError{Type: engine.ExecutionFailed,
			Message: fmt.Sprintf("There is no folder for plans: %v", err)}
	}
	return nil
}

// Tools returns the tools of ts, whose edit tools write only plans in plan mode.
func (p *Folder) Tools(ts engine.Toolset) engine.Toolset {
	if p == nil {
		return ts
	}
	return engine.Map(ts, func(t engine.Tool) engine.Tool {
		if t.Kind != engine.Edit {
			return t
		}
		if p.Planning() {
			d := *t.Declaration
			d.Description = fmt.Sprintf("ONLY FOR PLANS: in plan mode it takes Markdown files directly in %s "+
				"and nothing else, by name, such as plan%s. %s", p.Dir, planEnding, d.Description)
			t.Declaration = &d
		}
		prepare := t.Prepare
		t.Prepare = func(ctx context.Context, args map[string]any) (engine.Call, error) {
			name, _ := args["file_path"].(string)
			if !p.Planning() || name == "" {
				return prepare(ctx, args)
			}
			return p.prepare(ctx, prepare, name, args)
		}
		return t
	})
}

// A preparer is the Prepare function of an [engine.Tool].
type preparer = func(ctx context.Context, args map[string]any) (engine.Call, error)

// prepare prepares the edit of the plan with a name by edit.
func (p *Folder) prepare(ctx context.Context, edit preparer, name string, args map[string]any) (engine.Call, error) {
	path, err := p.path(name)
	if err != nil {
		return engine.Call{}, err
	}
	if p.foreign(path) {
		return engine.Call{}, &engine.CallError{Type: engine.PolicyViolation, Display: "denied: it was there before",
			Message: fmt.Sprintf("%s was there before and is no plan that gemline has written. Plan mode changes no such file: write the plan under another name.", path)}
	}
	args = maps.Clone(args)
	args["file_path"] = path
	call, err := edit(ctx, args)
	if err != nil {
		return call, err
	}
	if call.Args == nil {
		call.Args = args
	}
	call.Intent.Title = "write the plan " + filepath.Base(path)
	write := call.Run
	call.Run = func(ctx context.Context, host engine.Host) (engine.Result, error) {
		if err := p.make(); err != nil {
			return engine.Result{}, err
		}
		defer disk.Restrict(path)
		if err := p.note(path); err != nil {
			return engine.Result{}, err
		}
		return write(ctx, host)
	}
	return call, nil
}

// foreign reports whether path is a file of the workspace that no session has made.
func (p *Folder) foreign(path string) bool {
	if !p.shared() {
		return false
	}
	_, err := os.Lstat(path)
	return err == nil && !p.noted(path)
}

// shared reports whether the folder is in the workspace, with files of others.
func (p *Folder) shared() bool {
	return disk.Within(p.Workspace.Roots(), p.Dir)
}

// noted reports whether this session or another one has written a plan.
func (p *Folder) noted(path string) bool {
	if _, own := p.written.Load(path); own {
		return true
	}
	b, _ := os.ReadFile(p.Made) // none, if that fails
	return slices.Contains(strings.Split(string(b), "\n"), path)
}

// note adds a plan to the notes, before it is written.
func (p *Folder) note(path string) error {
	known := !p.shared() || p.noted(path)
	p.written.Store(path, true)
	if known || p.Made == "" {
		return nil
	}
	f, err := os.OpenFile(p.Made, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600) // concurrent sessions append lines, too
	if err != nil {
		return err
	}
	_, err = f.WriteString(path + "\n")
	return errors.Join(err, f.Close())
}

// read reads the plan for name, in each form of a path.
func (p *Folder) read(name string) (*files.Revision, error) {
	path, err := p.path(name)
	if err != nil {
		return nil, toolkit.Misuse("plan_filename must be the name of a Markdown file in %s, such as plan%s", p.Dir, planEnding)
	}
	r, err := files.Revise(p.Workspace, path, "read_content_failure")
	switch {
	case err != nil:
		return nil, err
	case r.File == nil:
		return nil, &engine.CallError{Type: "file_not_found", Display: "there is no such plan",
			Message: fmt.Sprintf("There is no plan %s: write it with write_file first.", r.Path)}
	case strings.TrimSpace(r.File.Text) == "":
		return nil, &engine.CallError{Type: engine.ExecutionFailed, Display: "the plan is empty",
			Message: fmt.Sprintf("The plan %s is empty: write it with write_file first.", r.Path)}
	}
	return r, nil
}

// Approved returns the path of the plan that was approved last, "" if none was.
func (p *Folder) Approved() string {
	if p == nil || p.approved.Load() == nil {
		return ""
	}
	return *p.approved.Load()
}

// Current returns the path of the last approved plan or, if none was approved, of the last
// written plan. It is "" if there is no plan.
func (p *Folder) Current() string {
	path := p.Approved()
	if p == nil || path != "" || disk.ResolveLinks(p.Dir) != p.Dir {
		return path
	}
	entries, _ := os.ReadDir(p.Dir) // none, if that fails
	var last fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && p.Is(filepath.Join(p.Dir, e.Name())) &&
			(last == nil || info.ModTime().After(last.ModTime())) {
			last, path = info, filepath.Join(p.Dir, e.Name())
		}
	}
	return path
}

// Approval begins the result that tells the model of a plan's approval.
const Approval = "Plan approved. Switching to "

// stored precedes the plan's path in the result.
const stored = "The approved implementation plan is stored at: "

// Restore sets the approved plan from a conversation's history.
func (p *Folder) Restore(history []*genai.Content) {
	if p == nil {
		return
	}
	p.approved.Store(nil)
	for _, c := range history {
		for _, part := range c.Parts {
			if part.FunctionResponse == nil || part.FunctionResponse.Name != ExitName {
				continue
			}
			said, _ := part.FunctionResponse.Response["output"].(string)
			if !strings.HasPrefix(said, Approval) {
				continue
			}
			_, rest, _ := strings.Cut(said, stored)
			path, _, _ := strings.Cut(rest, "\n")
			if _, err := os.Lstat(path); err == nil && p.Is(path) {
				p.approved.Store(&path)
			}
		}
	}
}
