package front

import (
	"sync/atomic"

	"gemline/commands/cli"
	"gemline/commands/program/project"
	"gemline/engine/policy"
	"gemline/tools/launch"
	"gemline/tools/workspace"
)

// An inspection finds out what a project has, for sub-commands. It begins nothing, and a
// failure is an error only of the sub-commands that need the missing part.
type inspection struct {
	opts     *project.Options
	run      *Run
	launcher func() (*launch.Launcher, error)
	seen     func() (findings, error)
	wrong    func() []cli.Problem
	listed   atomic.Bool                     // Problems was asked, so that its caller says what is wrong with the rules
	made     atomic.Pointer[launch.Launcher] // what launcher has returned, if it was asked
}

// findings are the rules of a run, and the directories that it works in.
type findings struct {
	policy    *policy.Policy
	workspace *workspace.Workspace
}

// sessionProject is the project of a conversation, for the sub-commands in a session.
type sessionProject struct{ f *frontend }
