package program

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"gemline/commands/custom"
	"gemline/commands/program/project"
	"gemline/engine/disk"
	"gemline/engine/policy"
	"gemline/engine/text"
	"gemline/settings"
	dirs "gemline/settings/project"
	"gemline/settings/trust"
	"gemline/tools/shell"
	"gemline/tools/web"
	"gemline/tools/workspace"
)

// withheld says which variables commands are not given, "" if there are none.
func withheld(names []string) string {
	const most = 8
	if len(names) == 0 {
		return ""
	}
	list := strings.Join(names[:min(most, len(names))], ", ")
	if n := len(names) - most; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	return "environment variables that look like secrets are kept from commands: " + list +
		"; security.environmentVariableRedaction.allowed lets them through"
}

// onceText returns a function that returns what tell does the first time, and
// nothing after it.
func onceText(tell func() string) func() string {
	var first sync.Once
	return func() (text string) {
		first.Do(func() { text = tell() })
		return text
	}
}

// Open makes the owners of what is worked with, in the order in which they need
// each other. The status takes what is odd but no error. After an error nothing stays
// open.
func Open(o *project.Options, told *status, store dirs.Store) (*Project, error) {
	p := newProject(o, told, store)
	return p.opened(p.loadRules, p.openWorkspace, p.newTelemetry, p.newBudget, p.newGenerator)
}

// openTrial opens a project of which no model is asked and nothing is recorded. It tells
// nobody anything.
func openTrial(o *project.Options, store dirs.Store) (*Project, error) {
	p := newProject(o, newStatus(), store)
	return p.opened(p.loadRules, p.openWorkspace, p.newBudget, p.model.newPresets)
}

// newProject returns a project that has opened nothing yet.
func newProject(o *project.Options, told *status, store dirs.Store) *Project {
	p := &Project{opts: o, status: told, store: store}
	p.model.opts, p.model.notify = o, told.notify
	p.opts.Agents() // which conversations share
	p.brought.customs.Dirs = func() []custom.Dir { return project.CommandDirs(o) }
	p.brought.skills = project.Skills(o)
	return p
}

// newBudget makes the budget of all conversations.
func (p *Project) newBudget() error { return p.model.newBudget(p.status.resume) }

// newGenerator makes what answers.
func (p *Project) newGenerator() error {
	p.closers = append(p.closers, p.model.close)
	return p.model.open()
}

// opened carries out steps in their order. After an error nothing stays open.
func (p *Project) opened(steps ...func() error) (*Project, error) {
	for _, step := range steps {
		if err := step(); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// loadRules finds out what commands are held by and what calls are judged by.
func (p *Project) loadRules() error {
	l, err := project.NewLauncher(p.opts) // before the warnings, since what is wrong may be refused
	for _, w := range p.opts.Warnings {
		p.status.notify(w)
	}
	if wide := p.opts.Wide(); wide != "" && (p.opts.Settings.WarnHome || !p.opts.Paths.AtHome()) {
		p.status.notify("this is " + wide + ": commands and edits reach all that is in it, and the mode auto can't be used; start in the folder of a project")
	}
	p.distrust()
	p.forbidPlanMode()
	if err != nil {
		return err
	}
	p.tellUnused()
	if err := p.opts.LoadHooks(p.status.notify); err != nil {
		return err
	}
	p.opts.LoadDiscovery(p.status.notify)
	p.brought.check = p.opts.LoadCheck(p.status.notify)
	p.launcher, p.closers = l, append(p.closers, l.Close)
	p.status.launcher.Store(l)
	if l.Instead != nil {
		p.status.notify(l.Instead.Message)
	}
	l.Before = sync.OnceFunc(func() {
		if text := l.Degraded(); text != "" && (l.Sandbox != nil || p.opts.Paths.Once("sandbox-told-"+runtime.GOOS)) {
			p.status.notify(text)
		}
	})
	if l.Sandbox == nil { // else that is asked when there is a command, which takes a moment
		l.Before()
	}
	if format := cmp.Or(p.opts.Flags.Format(), p.opts.Settings.Format, "text"); format != "text" || p.opts.Flags.JSONFd != nil {
		// The records say what confines commands: that may have to be tried, while the
		// rest begins.
		tried := make(chan struct{})
		go func() { defer close(tried); l.Last() }()
		p.closers = append(p.closers, func() { <-tried })
	}
	p.policy, err = project.NewPolicy(p.opts, l, !p.opts.User.AnswersQuestions(), p.status.notify, func(text string) { p.status.tell(text) })
	return err
}

// distrust holds a session in a folder that is not trusted to asking.
func (p *Project) distrust() {
	if p.opts.Trust.State >= trust.Unneeded {
		return
	}
	if len(p.opts.Trust.Contents) > 0 {
		p.status.notify("this folder is not trusted: its settings, .env, context files and all else it brings are not used; " + p.trusting())
	}
	if p.opts.Settings.Confine() {
		p.status.notify("this folder is not trusted: the approval mode is default")
	}
}

// trusting says how a folder is trusted after all.
func (p *Project) trusting() string {
	if p.opts.User.Interactive || p.opts.Flags.AskTrust {
		return "/permissions trust asks again"
	}
	return "gemline trust add trusts it"
}

// forbidPlanMode has a session that may not use plan mode begin in another one.
func (p *Project) forbidPlanMode() {
	if p.opts.Settings.ApprovalMode == string(policy.Plan) && !p.opts.Settings.PlanMode {
		p.opts.Settings.ApprovalMode = string(policy.Default)
		p.status.notify("general.plan.enabled in the settings switches plan mode off: the approval mode is default")
	}
}

// openWorkspace makes the workspace and what commands run in.
func (p *Project) openWorkspace() (err error) {
	if p.opts.Flags.Patch || p.opts.Flags.DryRun {
		p.overlay = &workspace.Overlay{}
	}
	if p.workspace, err = project.NewWorkspace(p.opts, p.store.Temp, p.overlay, p.status.notify); err != nil {
		return err
	}
	p.once.complain = sync.OnceFunc(func() {
		for _, w := range p.workspace.Ignore.Problems() {
			p.status.notify(w)
		}
	})
	p.web = web.New(project.WebConfig(p.opts))
	p.connect()
	jobs := shell.NewJobs(p.opts.Paths.User("tmp", "background-processes"))
	jobs.Secrets = p.opts.Secrets
	p.launcher.Jobs, p.launcher.Roots = jobs, p.workspace.Roots
	p.once.withheld = onceText(func() string { return withheld(shell.Withheld(p.opts.Env.Environ(), p.launcher.Config.Shell)) })
	p.closers = append(p.closers, jobs.Close, p.mcp.set.Close)
	return nil
}

// tellUnused says what is set up and not in use yet.
func (p *Project) tellUnused() {
	unused := p.opts.Unused()
	p.status.unused.Store(&unused)
	if line := settings.Shorten(unused); line != "" {
		p.status.notify("not in use yet: " + line + "; gemline doctor says more")
	}
}

// connect makes the connections of a project. None is made before it is needed.
func (p *Project) connect() {
	o := p.opts
	c := &connections{events: &p.status.turn, until: sync.OnceValue(func() time.Time {
		return time.Now().Add(time.Duration(o.Settings.ConnectSeconds) * time.Second)
	})}
	c.connector = project.Connector{Opts: o, Launcher: p.launcher, Roots: p.workspace.Roots, Notify: p.status.notify,
		Note: c.note, Keep: func(server, said string) string { return keepErrors(p.store.Temp, server, o.Secrets.Text(said)) }}
	if o.Flags.Debug {
		c.connector.Log = func(server, said string) {
			if l := p.model.setup.Logger; l != nil {
				l.Debug("MCP server", "server", server, "said", text.OneLine(said, 2000))
			}
		}
	}
	c.set = c.connector.Serve(o.Servers(p.status.notify), p.status.notify)
	p.mcp = c
}

// keepErrors stores in temp what a server has written to its standard error, until it does
// again, and returns where.
func keepErrors(temp, server, said string) (path string) {
	if temp == "" {
		return ""
	}
	path = filepath.Join(temp, "mcp", url.PathEscape(server)+".log")
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil || disk.Replace(path, []byte(said), 0o600) != nil {
		return ""
	}
	return path
}
