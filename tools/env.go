// Package tools holds the tools that come with the program, one to a file: what
// the model is told about each, how its arguments are checked, and what it does.
//
// # Told, never asking
//
// A tool gets what it needs in an [Env]. It never asks the user itself: it
// describes the call in an [engine.Intent], and the engine has it judged. What
// the model wants to know from the user goes the same way.
//
// # Nothing before Run
//
// Preparing a call reads at most. Whatever fails, in preparing or in running,
// is a sentence for the model and leaves the files as they were.
package tools

import (
	"context"

	"gemline/engine"
	"gemline/engine/model/oneshot"
	"gemline/engine/redact"
	"gemline/tools/launch"
	"gemline/tools/web"
	"gemline/tools/workspace"
)

// Env is what the built-in tools need from the world.
type Env struct {
	Workspace *workspace.Workspace
	Launcher  *launch.Launcher // starts commands

	// Denied returns the programs that are not there for confined commands, each
	// with the rule that denies it. Nil is none.
	Denied func() []Denied

	// Gives reports whether a call would run unasked: so what its programs are
	// known to need is given to it at once. Nil gives nothing.
	Gives func(ctx context.Context, q engine.Proposal) bool

	// Answered says that somebody is there to answer questions: a command is asked about that
	// names a secret, before it fails for want of that. Else it runs without.
	Answered bool

	// Undoable reports whether what commands change can be brought back, and is to run
	// unasked for that. Then they are kept from files that may hold secrets, and from
	// writing to those that Guards names by their paths in the workspace. Nil is not.
	Undoable func() bool
	Guards   func(path string) bool

	// Uncovered returns what is there and can't be brought back, to which such commands
	// can't write, or false if that is more than most. Nil is nothing.
	Uncovered func(most int) (paths []string, ok bool)

	// Kept returns what the user is to know, once, of variables that commands
	// are not given, else nothing. Nil is nothing.
	Kept func() string

	// Secrets are what is taken out of outputs before they are cut and kept.
	Secrets *redact.Redactor

	// Outputs returns the directory that keeps the full texts of outputs
	// that were too long for the model. Whoever writes there makes it.
	Outputs func() string

	// Threshold is how many characters of a command's output the model is
	// given; 0 or less means all.
	Threshold int

	// Correct has a model say what an edit was meant to be that does not fit. What
	// that takes is told to Tell, on the goroutine that prepares the call.
	Correct bool
	Tell    func(engine.Event)

	// Distill says which outputs are cut by Distilled, those of commands as well: then
	// Threshold is of no use for these.
	Distill Distillation

	// Summaries are the tools whose long outputs a smaller model sums up, and how
	// many tokens that may have.
	Summaries map[string]int

	// Ripgrep lets grep_search run rg when it is installed.
	Ripgrep bool

	// Todos is the model's list, which write_todos replaces; nil offers no
	// such tool.
	Todos *Todos

	// Tasks returns the directory of the tracker's tasks; nil offers no
	// tracker.
	Tasks func() string

	// Topics lets the model say what it works on.
	Topics bool

	// Skills are those of the conversation; nil offers none. They are a toolset of their
	// own, since they may change.
	Skills *Skills

	// Plans are the plans of the session; nil offers no tools for them.
	Plans *Plans

	Web web.Tools

	// Asker asks a model something beside the conversation.
	Asker *oneshot.Asker

	// Model returns the name of the model that is asked, by which a tool
	// may be there or not. Nil means that all are.
	Model func() string

	seen *sight // what the model knows of files
}
