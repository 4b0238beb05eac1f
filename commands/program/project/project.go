package project

import (
	"slices"
	"sync"

	"gemline/commands/custom"
	"gemline/engine/policy"
	"gemline/engine/telemetry"
	dirs "gemline/settings/project"
	"gemline/tools/launch"
	"gemline/tools/skill"
	"gemline/tools/web"
	"gemline/tools/workspace"
)

// A Project is a directory that is worked in, with what all conversations there
// share: the workspace, what confines commands and judges calls, and the model's
// server. It is complete when [Open] returns it, and safe for several Sessions at
// once.
type Project struct {
	Options   *Options
	Status    *Status
	Store     dirs.Store // where its sessions are kept
	Workspace *workspace.Workspace
	Launcher  *launch.Launcher
	Commands  custom.Library // that people have written
	Skills    *skill.Library
	Check     string // the command that checks the work, "" if there is none
	Web       *web.Fetcher
	MCP       *Connections        // to MCP servers
	Policy    *policy.Policy      // as it is when a conversation begins
	Telemetry *telemetry.Provider // nil if nothing is recorded
	Model     ModelServer         // that answers
	Once      Once
	Closers   []func()
}

// Once is what is told once, whatever conversation comes to it.
type Once struct {
	IgnoreProblems func()        // what is wrong with ignore files
	Withheld       func() string // which variables commands are not given
	Agents         sync.Once     // what is wrong with agents
	OtherVendor    sync.Once     // that an agent asks for another vendor's model
}

// Close ends what was begun in the project.
func (p *Project) Close() {
	for _, f := range slices.Backward(p.Closers) {
		f()
	}
}

// AddDirectory has a directory worked in.
func (p *Project) AddDirectory(dir string) {
	if err := AddDirectory(p.Options, p.Workspace, dir); err != nil {
		p.Status.Notify(err.Error())
	}
}
