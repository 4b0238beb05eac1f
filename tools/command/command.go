// Package command holds the tools that run commands: run_shell_command, and the tools for the
// processes that it has left in the background. A first caller fills a [Tools] and calls
// [Tools.List].
//
// # Only the judged command runs
//
// A command line is parsed before a policy or the user judges it. It runs as the
// [engine.Intent] describes it, with the same confinement and the same extra rights, or not
// at all.
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

	// Denied returns the programs that are hidden from confined commands, each with the rule
	// that denies it. Nil means none.
	Denied func() []DeniedProgram

	// AutoGrant reports whether a call would run without approval. Then it gets the rights
	// that its programs are known to need. Nil grants nothing.
	AutoGrant func(ctx context.Context, q engine.Proposal) bool

	// HasUser says that a user can answer questions. Then a command that names a secret file
	// needs approval before it runs; else it runs without the right to read the file.
	HasUser bool

	// Revertible reports whether the changes of commands can be reverted, so that commands
	// run without approval. Then they can't read files that may hold secrets, nor write to
	// the files that Guards matches by their paths in the workspace. Nil means false.
	Revertible func() bool
	Guards     func(path string) bool

	// Uncovered returns the files that undo can't bring back, which are read-only for such
	// commands, or false if there are more than most. A nil Uncovered means none.
	Uncovered func(most int) (paths []string, ok bool)

	// WithheldNotice returns a notice about variables that are withheld from commands; later
	// calls return "". It may be nil.
	WithheldNotice func() string

	// Emit prints that a background command has ended, in a turn or between turns.
	Emit func(text string)

	// Outputs limits the outputs of commands.
	Outputs outputs.Limits
}

// List returns the tools.
func (env Tools) List() engine.Tools {
	if env.Launcher == nil {
		env.Launcher = &launch.Launcher{}
	}
	return engine.Tools{env.Outputs.Summarized(runShellCommand(env)), listBackgroundProcesses(env), readBackgroundOutput(env)}
}
