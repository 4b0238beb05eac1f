// Package files holds the tools that read, search and change the files of a workspace.
//
// # As the model saw it
//
// A file that is replaced as a whole is one that the model has seen as it is. If somebody
// else has changed it since, the model is told how, and nothing is written.
package files

import (
	"gemline/engine"
	"gemline/engine/model/oneshot"
	"gemline/engine/redact"
	"gemline/engine/text"
	"gemline/tools/workspace"
)

// Tools are the tools for files.
type Tools struct {
	Workspace *workspace.Workspace
	Secrets   *redact.Redactor // takes secrets out of files before they are cut
	Ripgrep   bool             // grep_search runs rg when that is installed
	Correct   *Correction      // nil corrects no edits

	Known *KnownFiles // what the model knows of files; nil is nothing yet
}

// A Correction has a model say what an edit was meant to be that does not fit. What that
// takes is told to Tell, on the goroutine that prepares the call.
type Correction struct {
	Asker *oneshot.Asker
	Tell  func(engine.Event)
}

// List returns the tools.
func (ts Tools) List() engine.Tools {
	if ts.Known == nil {
		ts.Known = &KnownFiles{}
	}
	return engine.Tools{ts.listDirectory(), ts.readFile(), ts.grepSearch(), ts.glob(), ts.corrected(ts.replace()), ts.writeFile()}
}

// hint says what a path was probably meant to be, which is not there, as a sentence that
// begins with a full stop; it is "" if nothing is like it.
func hint(ws *workspace.Workspace, path string) string {
	if meant := workspace.Hint(ws, path); meant != "" {
		return ". Did you mean " + text.Name(meant) + "?"
	}
	return ""
}
