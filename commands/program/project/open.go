package project

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

// Open opens a project in the directory of the options. Status prints warnings. After an error nothing
// stays open.
func Open(o *Options, status *Status, store dirs.Store) (*Project, error) {
	p := newProject(o, status, store)
	return p.runSteps(p.loadRules, p.openWorkspace, p.newTelemetry, p.Model.newBudget, p.Model.open)
}

// OpenTrial opens a project for conversations that ask no model and record nothing. It prints nothing.
func OpenTrial(o *Options, store dirs.Store) (*Project, error) {
	p := newProject(o, NewStatus(), store)
	return p.runSteps(p.loadRules, p.openWorkspace, p.Model.newBudget, p.Model.newPresets)
}

// newProject returns a project without open parts.
func newProject(o *Options, status *Status, store dirs.Store) *Project {
	p := &Project{Options: o, Status: status, Store: store}
	p.Model.options, p.Model.notify, p.Model.resume = o, status.Notify, status.ResumeCommand
	p.Model.atEnd = func(end func()) { p.closers = append(p.closers, end) }
	p.Options.Agents() // all conversations share the agents
	p.Commands.Dirs = func() []custom.Dir { return CommandDirs(o) }
	p.Skills = Skills(o)
	return p
}

// runSteps runs the steps in order, and returns p. After an error nothing stays open.
func (p *Project) runSteps(steps ...func() error) (*Project, error) {
	for _, step := range steps {
		if err := step(); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// loadRules makes the launcher, the policy and the hooks.
func (p *Project) loadRules() error {
	l, err := NewLauncher(p.Options) // before the warnings, since it may end the run
	text.Each(p.Options.Warnings, p.Status.Notify)
	if wide := p.Options.TooWide(""); wide != "" && (p.Options.Settings.WarnHome || wide != homeDirectory) {
		p.Status.Notify("this is " + wide + ": commands and edits reach all that is in it, and the mode auto can't be used; start in the folder of a project")
	}
	p.limitUntrusted()
	p.forbidPlanMode()
	if err != nil {
		return err
	}
	p.printUnused()
	if err := p.Options.loadHooks(p.Status.Notify); err != nil {
		return err
	}
	p.Options.loadDiscovery(p.Status.Notify)
	p.Check = p.Options.loadCheck(p.Status.Notify)
	p.Launcher, p.closers = l, append(p.closers, l.Close)
	p.Status.launcher.Store(l)
	if l.FallbackNotice != nil {
		p.Status.Notify(l.FallbackNotice.Message)
	}
	l.Before = sync.OnceFunc(func() {
		if text := l.Degraded(); text != "" && (l.Sandbox != nil || p.Options.Paths.Once("sandbox-told-"+runtime.GOOS)) {
			p.Status.Notify(text)
		}
	})
	if l.Sandbox == nil { // asking for the sandbox is slow, and waits for the first command
		l.Before()
	}
	if format := cmp.Or(p.Options.Flags.Format(), p.Options.Settings.Format, "text"); format != "text" || p.Options.Flags.JSONFd != nil {
		// The records name the sandbox. Finding it may need a trial, which runs in parallel with
		// the rest of the start.
		tried := make(chan struct{})
		go func() { defer close(tried); l.State() }()
		p.closers = append(p.closers, func() { <-tried })
	}
	p.Policy, err = NewPolicy(p.Options, l, !p.Options.User.AnswersQuestions(), p.Status.Notify, func(text string) { p.Status.PrintInfo(text) })
	return err
}

// limitUntrusted limits a session in an untrusted folder to approval modes that ask.
func (p *Project) limitUntrusted() {
	if p.Options.Trust.State >= trust.Unneeded {
		return
	}
	if len(p.Options.Trust.Contents) > 0 {
		p.Status.Notify("this folder is not trusted: its settings, .env, context files and all else it brings are not used; " + p.howToTrust())
	}
	if p.Options.Settings.Confine() {
		p.Status.Notify("this folder is not trusted: the approval mode is default")
	}
}

// howToTrust says how to trust the folder.
func (p *Project) howToTrust() string {
	if why := p.Options.Trust.WhyForbidden(); why != "" {
		return why
	}
	if p.Options.User.Interactive || p.Options.Flags.AskTrust {
		return "/permissions trust asks again"
	}
	return "gemline trust add trusts it"
}

// forbidPlanMode changes the first mode of a session that may not use plan mode.
func (p *Project) forbidPlanMode() {
	if p.Options.Settings.ApprovalMode == string(policy.Plan) && !p.Options.Settings.PlanMode {
		p.Options.Settings.ApprovalMode = string(policy.Default)
		p.Status.Notify("general.plan.enabled in the settings switches plan mode off: the approval mode is default")
	}
}

// openWorkspace makes the workspace, the web client, the connections and the background jobs.
func (p *Project) openWorkspace() (err error) {
	var overlay *workspace.Overlay
	if p.Options.Flags.Patch || p.Options.Flags.DryRun {
		overlay = &workspace.Overlay{}
	}
	if p.Workspace, err = NewWorkspace(p.Options, p.Store.Temp, overlay, p.Status.Notify); err != nil {
		return err
	}
	p.Once.WarnIgnoreFiles = sync.OnceFunc(func() {
		text.Each(p.Workspace.Ignore.Problems(), p.Status.Notify)
	})
	p.Web = web.New(WebConfig(p.Options))
	p.connect()
	jobs := shell.NewJobs(p.Options.Paths.User("tmp", "background-processes"))
	jobs.Secrets = p.Options.Secrets
	p.Launcher.Jobs, p.Launcher.Roots, p.Policy.Roots = jobs, p.Workspace.Roots, p.Workspace.Roots
	var withheld sync.Once
	p.Once.WithheldNotice = func() (said string) {
		withheld.Do(func() { said = withheldNotice(shell.Withheld(p.Options.Env.Environ(), p.Launcher.Config.Shell)) })
		return said
	}
	p.closers = append(p.closers, jobs.Close, p.MCP.Servers.Close)
	return nil
}

// printUnused prints the settings that have no effect yet.
func (p *Project) printUnused() {
	unused := p.Options.unused()
	p.Status.unused.Store(&unused)
	if line := settings.UnusedSummary(unused); line != "" {
		p.Status.Notify("not in use yet: " + line + "; gemline doctor says more")
	}
}

// connect prepares the connections of a project. Each is made at its first use.
func (p *Project) connect() {
	o := p.Options
	c := &Connections{opts: o, launcher: p.Launcher, roots: p.Workspace.Roots, notify: p.Status.Notify, events: &p.Status.Queue,
		keep: func(server, said string) string { return keepErrors(p.Store.Temp, server, o.Secrets.Text(said)) },
		until: sync.OnceValue(func() time.Time {
			return time.Now().Add(time.Duration(o.Settings.ConnectSeconds) * time.Second)
		})}
	if o.Flags.Debug {
		c.log = func(server, said string) {
			if l := p.Model.Setup.API.Logger; l != nil {
				l.Debug("MCP server", "server", server, "said", text.OneLine(said, 2000))
			}
		}
	}
	c.Servers = c.serve(o.servers(p.Status.Notify), p.Status.Notify)
	p.MCP = c
}

// keepErrors stores the standard error of a server in temp, until the server's next output, and
// returns the path.
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

// withheldNotice lists the variables that commands do not get, "" if there are none.
func withheldNotice(names []string) string {
	const most = 8
	if len(names) == 0 {
		return ""
	}
	list := strings.Join(names[:min(most, len(names))], ", ")
	if n := len(names) - most; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	return "commands do not get environment variables that look like secrets: " + list +
		"; security.environmentVariableRedaction.allowed lets them through"
}
