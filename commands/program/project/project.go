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

// A Project is a directory to work in, with what all conversations there share: the workspace,
// the launcher that confines commands, the policy that judges calls, and the model's server. It
// is complete when [Open] returns it, and safe for several conversations at once.
type Project struct {
	Options   *Options
	Status    *Status
	Store     dirs.Store // holds its sessions
	Workspace *workspace.Workspace
	Launcher  *launch.Launcher
	Commands  custom.Library // slash commands from files
	Skills    *skill.Library
	Check     string // the command that checks the work, "" if there is none
	Web       *web.Fetcher
	MCP       *Connections
	Policy    *policy.Policy      // as it is when a conversation begins
	Telemetry *telemetry.Provider // nil if nothing is recorded
	Model     ModelServer
	Once      OnceNotices
	closers   []func()
}

// OnceNotices are notices that are printed once, by the conversation that comes to them first.
type OnceNotices struct {
	WarnIgnoreFiles  func()        // prints what is wrong with ignore files
	WithheldNotice   func() string // says which variables commands are not given; "" at each later call
	AgentProblems    sync.Once     // what is wrong with agents
	OtherVendorModel sync.Once     // that an agent asks for another vendor's model
}

// Close ends what was begun in the project.
func (p *Project) Close() {
	for _, f := range slices.Backward(p.closers) {
		f()
	}
}

// AddDirectory adds a directory to the workspace. If it can't, it prints the reason.
func (p *Project) AddDirectory(dir string) {
	if err := addDirectory(p.Options, p.Workspace, dir); err != nil {
		p.Status.Notify(err.Error())
	}
}
