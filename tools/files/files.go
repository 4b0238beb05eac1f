// Package files holds the tools that read, search and change the files of a workspace.
//
// # No lost updates
//
// If others have changed a file since the model saw it, the model can't replace the whole
// file: it gets the changes, and nothing is written.
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
	Secrets   *redact.Redactor // redacts secrets in files before they are cut
	Ripgrep   bool             // grep_search runs rg if it is installed
	Correct   *Correction      // nil corrects no edits

	Known *KnownFiles // the contents that the model knows; nil records none
}

// A Correction asks a model to correct an edit that does not match the file. Tell gets its
// notices, on the goroutine that prepares the call.
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

// hint suggests an existing path for a missing one, as a sentence after a full stop; "" if
// there is none.
func hint(ws *workspace.Workspace, path string) string {
	if meant := workspace.Hint(ws, path); meant != "" {
		return ". Did you mean " + text.Name(meant) + "?"
	}
	return ""
}
