// Package command holds the tools that run commands: run_shell_command, and the tools for the
// processes that it has left in the background. A first caller fills a [Tools] and calls
// [Tools.List].
//
// # The judged command is the command that runs
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
	Denied func() []DeniedProgram

	// AutoGrant reports whether a call would run unasked, so that the rights that its programs
	// are known to need are granted at once. Nil grants nothing.
	AutoGrant func(ctx context.Context, q engine.Proposal) bool

	// HasUser says that somebody is there to answer questions: a command is asked about that
	// names a secret, before it fails for want of that. Else it runs without.
	HasUser bool

	// Revertible reports whether the changes of commands can be reverted, so that commands run
	// unasked. Then they can't read files that may hold secrets, nor write to the files that
	// Guards names by their paths in the workspace. Nil is not.
	Revertible func() bool
	Guards     func(path string) bool

	// Uncovered returns the files that undo can't bring back, which are read-only for such
	// commands, or false if there are more than most. A nil Uncovered means none.
	Uncovered func(most int) (paths []string, ok bool)

	// WithheldNotice returns, once, a notice about variables that are withheld from commands,
	// and then "". It may be nil.
	WithheldNotice func() string

	// Emit prints the end of a command in the background, in a turn or between turns.
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
