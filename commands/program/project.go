package program

import (
	"slices"
	"sync"

	"gemline/commands/custom"
	"gemline/commands/program/project"
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
	opts      *project.Options
	status    *status
	store     dirs.Store // where its sessions are kept
	workspace *workspace.Workspace
	overlay   *workspace.Overlay // what is written to in place of files, if not nil
	launcher  *launch.Launcher
	brought   brought
	web       *web.Fetcher
	mcp       *connections        // to MCP servers
	policy    *policy.Policy      // as it is when a conversation begins
	telemetry *telemetry.Provider // nil if nothing is recorded
	model     server              // that answers
	once      once
	closers   []func()
}

// brought is what a folder brings to the conversations in it.
type brought struct {
	customs custom.Library // the commands that people have written
	skills  *skill.Library
	check   string // the command that checks the work, "" if there is none
}

// once is what is told once, whatever conversation comes to it.
type once struct {
	complain func()        // what is wrong with ignore files
	withheld func() string // which variables commands are not given
	agents   sync.Once     // what is wrong with agents
	vendor   sync.Once     // that an agent asks for another vendor's model
}

// Close ends what was begun in the project.
func (p *Project) Close() {
	for _, f := range slices.Backward(p.closers) {
		f()
	}
}

// add has a directory worked in.
func (p *Project) add(dir string) {
	if err := project.AddDirectory(p.opts, p.workspace, dir); err != nil {
		p.status.notify(err.Error())
	}
}
