package front

import (
	"context"
	"os"
	"sync"

	"gemline/commands/program/project"
	"gemline/engine/parallel"
	"gemline/repl"
	"gemline/repl/input"
	"gemline/tools/ide"
)

// An interactive front end holds a session at a terminal.
type interactive struct {
	opts       *project.Options
	frontend   *frontend
	screen     *repl.Screen
	interrupts chan os.Signal // Ctrl-C that the editor does not see
	typed      *input.Shell   // the commands that the user types
	companion  *ide.Client    // of the editor
	updates    updates        // of extensions
	complete   func(ctx context.Context, line string, at int) (int, []input.Candidate)
}

// Updates of extensions whose user has said --auto-update, beside the session. They begin
// with the first prompt, so that no start waits for them.
type updates struct {
	once   sync.Once
	cancel context.CancelFunc
	done   sync.WaitGroup
	panic  parallel.Panic
}
