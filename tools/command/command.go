// Package command holds the tools that run commands: run_shell_command, and those that look
// after what it has left in the background.
//
// # What was judged is what runs
//
// A command line is read before anybody is asked about it. It runs as the
// [engine.Intent] describes it, with the same confinement and the same extra rights, or not at all.
package command

import (
	"context"

	"gemline/engine"
	"gemline/tools/launch"
	"gemline/tools/outputs"
	"gemline/tools/workspace"
)

// Tools are the tools that run commands.
type Tools struct {
	Workspace *workspace.Workspace
	Launcher  *launch.Launcher // starts commands

	// Denied returns the programs that are not there for confined commands, each
	// with the rule that denies it. Nil is none.
	Denied func() []Denied

	// AutoGrant reports whether a call would run unasked: so what its programs are
	// known to need is given to it at once. Nil gives nothing.
	AutoGrant func(ctx context.Context, q engine.Proposal) bool

	// Answered says that somebody is there to answer questions: a command is asked about that
	// names a secret, before it fails for want of that. Else it runs without.
	Answered bool

	// Revertible reports whether what commands change can be brought back, and is to run
	// unasked for that. Then they are kept from files that may hold secrets, and from
	// writing to those that Guards names by their paths in the workspace. Nil is not.
	Revertible func() bool
	Guards     func(path string) bool

	// Uncovered returns what is there and can't be brought back, to which such commands
	// can't write, or false if that is more than most. Nil is nothing.
	Uncovered func(most int) (paths []string, ok bool)

	// WithheldNotice returns what the user is to know, once, of variables that commands
	// are not given, else nothing. Nil is nothing.
	WithheldNotice func() string

	// Emit tells the user, in a turn or beside it, what came of a command in the background.
	Emit func(text string)

	// Outputs says how long the outputs of commands may be.
	Outputs outputs.Limits
}

// List returns the tools.
func (env Tools) List() engine.Tools {
	if env.Launcher == nil {
		env.Launcher = &launch.Launcher{}
	}
	return engine.Tools{env.Outputs.Summarized(runShellCommand(env)), listBackgroundProcesses(env), readBackgroundOutput(env)}
}
