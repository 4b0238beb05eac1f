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

// A Project is a directory to work in, with the parts that all its conversations share: the
// workspace, the launcher that confines commands, the policy that judges calls, and the model's
// server. It is complete when [Open] returns it, and safe for several conversations at once.
type Project struct {
	Options   *Options
	Status    *Status
	Store     dirs.Store // holds its sessions
	Workspace *workspace.Workspace
	Launcher  *launch.Launcher
	Commands  custom.Library // the slash commands from files
	Skills    *skill.Library
	Check     string // the command that checks the work, "" if there is none
	Web       *web.Fetcher
	MCP       *Connections
	Policy    *policy.Policy      // the policy at the start of a conversation
	Telemetry *telemetry.Provider // nil if nothing is recorded
	Model     ModelServer
	Once      OnceNotices
	closers   []func()
}

// OnceNotices are notices that are printed once, by the first conversation that meets their cause.
type OnceNotices struct {
	WarnIgnoreFiles  func()        // prints the problems of ignore files
	WithheldNotice   func() string // lists the variables that commands do not get; "" from the second call on
	AgentProblems    sync.Once     // the problems of agents
	OtherVendorModel sync.Once     // an agent asks for another vendor's model
}

// Close ends the background work of the project, and closes it.
func (p *Project) Close() {
	for _, f := range slices.Backward(p.closers) {
		f()
	}
}

// AddDirectory adds a directory to the workspace. If that fails, it prints the reason.
func (p *Project) AddDirectory(dir string) {
	if err := addDirectory(p.Options, p.Workspace, dir); err != nil {
		p.Status.Notify(err.Error())
	}
}
