// Package tools lists the tools that come with the program: those of its families, each in a
// package of its own, and a few that need nothing. A caller gets them from [New].
//
// # Tools never ask the user
//
// A tool gets its dependencies from its family. It never asks the user itself: it describes
// the call in an [engine.Intent], and the engine has it judged. The model's questions to the
// user go the same way.
//
// # Preparing a call changes nothing
//
// Preparing a call reads at most. An error, in preparing or in running, is a sentence for
// the model, and a call that fails leaves the files as they were.
package tools

import (
	"slices"

	"gemline/engine"
	"gemline/tools/command"
	"gemline/tools/files"
	"gemline/tools/plan"
	"gemline/tools/tracker"
	"gemline/tools/web"
	"gemline/tools/workspace"
)

// Families are the built-in tools of a conversation, by their shared dependencies.
type Families struct {
	Files    files.Tools
	Web      web.Tools
	Commands command.Tools
	Todos    *plan.Todos   // the model's list, which write_todos replaces; nil offers no such tool
	Tasks    func() string // returns the directory of the tracker's tasks; nil offers no tracker
	Plans    *plan.Folder  // nil offers no tools for plans
	Topics   bool          // the model can name its topic
	Model    func() string // the name of the model, as some tools depend on it; nil means any model
}

// New returns the built-in tools, in the order of their declarations to the model.
func New(f Families) engine.Tools {
	todos := f.Todos
	if f.Tasks != nil { // the tracker takes their place
		todos = nil
	}
	list := slices.Concat(engine.Tools{updateTopic(f.Topics)}, f.Files.List(), f.Web.List(), f.Commands.List(), engine.Tools{
		askUser(),
		plan.WriteTodos(todos, f.Model),
		getInternalDocs(),
		f.Plans.ExitTool(),
		f.Plans.EnterTool(),
	})
	if ws := f.Files.Workspace; ws != nil {
		for i, t := range list {
			list[i] = located(t, ws)
		}
	}
	return append(list, tracker.Tools(f.Tasks)...)
}

// located returns t with the paths in its arguments spelled as on the disk, before the
// policy judges them.
func located(t engine.Tool, ws *workspace.Workspace) engine.Tool {
	fit := t.Fit
	t.Fit = func(args map[string]any) (map[string]any, string, error) {
		fitted, note, err := fit(args)
		for _, key := range []string{"file_path", "dir_path"} {
			if name, isText := fitted[key].(string); isText {
				fitted[key] = workspace.DiskSpelling(ws, name)
			}
		}
		return fitted, note, err
	}
	return t
}
