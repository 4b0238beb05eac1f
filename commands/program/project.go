package program

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"gemline/commands/custom"
	"gemline/engine/disk"
	"gemline/engine/limit"
	"gemline/engine/memory"
	"gemline/engine/model"
	"gemline/engine/policy"
	"gemline/engine/telemetry"
	"gemline/engine/text"
	"gemline/settings/project"
	"gemline/settings/trust"
	"gemline/tools/launch"
	"gemline/tools/mcp"
	"gemline/tools/shell"
	"gemline/tools/skill"
	"gemline/tools/web"
	"gemline/tools/workspace"
)

// A Project is a directory that is worked in, with what all conversations there
// share: the workspace, what confines commands and judges calls, and the model's
// server. It is complete when [Open] returns it, and safe for several Sessions at
// once.
type Project struct {
	opts         *Options
	status       *status
	store        project.Store // where its sessions are kept
	workspace    *workspace.Workspace
	complain     func()             // says once what is wrong with its ignore files
	overlay      *workspace.Overlay // what is written to in place of files, if not nil
	launcher     *launch.Launcher
	customs      custom.Library // the commands that people have written
	skills       *skill.Library
	tellWithheld func() string // tells once what commands are not given
	web          *web.Fetcher
	servers      *mcp.Set          // nil if there are none
	told         backlog           // of what is told of servers
	tellServers  func(text string) // nil has it told with the next event
	lateOnce     sync.Once         // says which servers are not waited for
	waitOnce     sync.Once         // says until when they are, all in all
	waitUntil    time.Time
	agentsOnce   sync.Once           // says what is wrong with agents
	vendorOnce   sync.Once           // says that an agent asks for another vendor's model
	check        string              // the command that checks the work, "" if there is none
	policy       *policy.Policy      // as it is when a conversation begins
	budget       *limit.Budget       // of all conversations together
	telemetry    *telemetry.Provider // nil if nothing is recorded
	server       server
	closers      []func()
}

// Open makes the owners of what is worked with, in the order in which they need
// each other. The status takes what is odd but no error. After an error nothing stays
// open.
func Open(o *Options, told *status, store project.Store) (*Project, error) {
	p := newProject(o, told, store)
	return p.opened(p.loadRules, p.openWorkspace, p.newTelemetry, p.newBudget, p.newGenerator)
}

// openTrial opens a project of which no model is asked and nothing is recorded. It tells
// nobody anything.
func openTrial(o *Options, store project.Store) (*Project, error) {
	p := newProject(o, newStatus(), store)
	return p.opened(p.loadRules, p.openWorkspace, p.newBudget, p.newPresets)
}

// newProject returns a project that has opened nothing yet.
func newProject(o *Options, told *status, store project.Store) *Project {
	p := &Project{opts: o, status: told, store: store}
	p.opts.agents() // which conversations share
	p.customs.Dirs, p.skills = o.commandDirs, o.skillLibrary()
	return p
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

// Close ends what was begun in the project.
func (p *Project) Close() {
	for _, f := range slices.Backward(p.closers) {
		f()
	}
}

// loadRules finds out what commands are held by and what calls are judged by.
func (p *Project) loadRules() error {
	l, err := newLauncher(p.opts) // before the warnings, since what is wrong may be refused
	for _, w := range p.opts.warnings {
		p.status.notify(w)
	}
	if wide := p.opts.wide(); wide != "" && (p.opts.settings.WarnHome || !p.opts.paths.AtHome()) {
		p.status.notify("this is " + wide + ": commands and edits reach all that is in it, and the mode auto can't be used; start in the folder of a project")
	}
	p.distrust()
	p.forbidPlanMode()
	if err != nil {
		return err
	}
	p.tellUnused()
	if err := p.loadHooks(); err != nil {
		return err
	}
	p.loadDiscovery()
	p.loadCheck()
	p.launcher, p.closers = l, append(p.closers, l.Close)
	p.status.launcher.Store(l)
	l.Before = sync.OnceFunc(func() {
		if text := l.Shortfall(); text != "" && (l.Sandbox != nil || p.opts.paths.Once("sandbox-told-"+runtime.GOOS)) {
			p.status.notify(text)
		}
	})
	if l.Sandbox == nil { // else that is asked when there is a command, which takes a moment
		l.Before()
	}
	if format := cmp.Or(p.opts.flags.Format(), p.opts.settings.Format, "text"); format != "text" || p.opts.flags.JSONFd != nil {
		// The records say what confines commands: that may have to be tried, while the
		// rest begins.
		tried := make(chan struct{})
		go func() { defer close(tried); l.Last() }()
		p.closers = append(p.closers, func() { <-tried })
	}
	p.policy, err = p.rulebook(l).policy(!p.opts.answered())
	return err
}

// rulebook returns where the rules are, for commands that l starts.
func (p *Project) rulebook(l *launch.Launcher) rulebook {
	return rulebook{p.opts, l, p.status.notify, func(text string) { p.status.tell(text) }}
}

// distrust holds a session in a folder that is not trusted to asking.
func (p *Project) distrust() {
	if p.opts.trust.State >= trust.Unneeded {
		return
	}
	if len(p.opts.trust.Brings) > 0 {
		p.status.notify("this folder is not trusted: its settings, .env, context files and all else it brings are not used; " + p.trusting())
	}
	if p.opts.settings.Confine() {
		p.status.notify("this folder is not trusted: the approval mode is default")
	}
}

// trusting says how a folder is trusted after all.
func (p *Project) trusting() string {
	if p.opts.interactive || p.opts.flags.AskTrust {
		return "/permissions trust asks again"
	}
	return "gemline trust add trusts it"
}

// forbidPlanMode has a session that may not use plan mode begin in another one.
func (p *Project) forbidPlanMode() {
	if p.opts.settings.ApprovalMode == string(policy.Plan) && !p.opts.settings.PlanMode {
		p.opts.settings.ApprovalMode = string(policy.Default)
		p.status.notify("general.plan.enabled in the settings switches plan mode off: the approval mode is default")
	}
}

// openWorkspace makes the workspace and what commands run in.
func (p *Project) openWorkspace() (err error) {
	if p.opts.flags.Patch || p.opts.flags.DryRun {
		p.overlay = &workspace.Overlay{}
	}
	if p.workspace, err = newWorkspace(p.opts, p.store.Temp, p.overlay, p.status.notify); err != nil {
		return err
	}
	p.complain = sync.OnceFunc(func() {
		for _, w := range p.workspace.Complaints() {
			p.status.notify(w)
		}
	})
	p.web = web.New(webConfig(p.opts))
	p.newServers()
	jobs := shell.NewJobs(p.opts.paths.User("tmp", "background-processes"))
	jobs.Secrets = p.opts.secrets
	p.launcher.Jobs, p.launcher.Roots = jobs, p.workspace.Roots
	p.tellWithheld = onceText(func() string { return withheld(shell.Withheld(p.opts.environ(), p.launcher.Shell)) })
	p.closers = append(p.closers, jobs.Close, p.servers.Close)
	return nil
}

// newWorkspace makes the workspace: the directory, and those that the settings
// add. What is kept of it is at temp.
func newWorkspace(o *Options, temp string, over *workspace.Overlay, notify func(string)) (*workspace.Workspace, error) {
	ws, err := workspace.New(workspace.Config{Roots: []string{o.paths.Cwd}, Temp: temp, File: o.globalContext(),
		Overlay: over, Editor: o.editor, Ledger: o.ledger, Secrets: o.places().keptSecret,
		Charsets: o.charsets(), RespectGit: o.settings.RespectGit, RespectGemini: o.settings.RespectGemini, IgnoreFiles: o.settings.IgnoreFiles})
	if err != nil {
		return nil, err
	}
	for _, dir := range o.settings.IncludeDirs {
		err := imposed(o, dir)
		if err == nil {
			err = addDirectory(o, ws, dir)
		}
		if err != nil {
			notify(err.Error())
		}
	}
	return ws, nil
}

// globalContext returns the file of what the user wants to hold everywhere, "" if there is
// no home.
func (o *Options) globalContext() string { return o.paths.User(memory.DefaultName) }

// add has a directory worked in.
func (p *Project) add(dir string) {
	if err := addDirectory(p.opts, p.workspace, dir); err != nil {
		p.status.notify(err.Error())
	}
}

// addDirectory has a directory worked in.
func addDirectory(o *Options, ws *workspace.Workspace, dir string) error {
	err := ws.Add(o.paths.Folder(dir))
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) { // which system call failed says nothing to a user
		err = fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return unadded(err)
}

// unadded says that a directory is not worked in, nil if it is.
func unadded(err error) error {
	if err != nil {
		err = fmt.Errorf("the directory is not added: %w", err)
	}
	return err
}

// imposed returns an error if only the project's settings name a directory to
// work in, and the user's secrets are there. A user who trusts a project has not seen
// every setting in it.
func imposed(o *Options, dir string) error {
	if slices.Contains(o.userSettings.IncludeDirs, dir) {
		return nil
	}
	path := o.paths.Folder(dir)
	secret := append(o.places().hidden(), o.paths.Home, o.paths.User())
	i := slices.IndexFunc(secret, func(at string) bool {
		return at != "" && (disk.Inside(path, o.paths.Folder(at)) || at != o.paths.Home &&
			disk.Inside(o.paths.Folder(at), path))
	})
	if i < 0 {
		return nil
	}
	return unadded(fmt.Errorf("%s: a project can't add it, since %s is private; gemline --include-directories can", text.EscapeLine(path), text.EscapeLine(secret[i])))
}

// newMemory makes the memory that holds the context files of ws. What is kept of
// the directory is at temp.
func newMemory(o *Options, ws *workspace.Workspace, temp string, warn func(string)) *memory.Memory {
	cfg := memory.Config{User: o.paths.User(), Names: o.settings.FileNames,
		Roots: func() []string { // those that are trusted
			if o.trust.State < trust.Unneeded {
				return nil
			}
			roots := ws.Roots()
			if !o.settings.IncludeMemory {
				roots = roots[:1]
			}
			denied := func(dir string) bool { return dir != roots[0] && trust.Folders(o.paths, o.lookup).Denied(dir) }
			return slices.DeleteFunc(slices.Clone(roots), denied)
		},
		Foreign:   func(path string) string { return disk.Foreign(path, o.paths.Cwd) },
		Undecided: func() bool { return o.trust.State == trust.Unneeded },
		Markers:   append([]string{}, o.settings.Markers...), // none is not the default
		Flat:      o.settings.ImportFormat == "flat", Withheld: workspace.Withheld, Ledger: o.ledger,
		Charsets: o.charsets(), Warn: warn}
	if temp != "" {
		cfg.Private = filepath.Join(temp, "memory")
	}
	if o.settings.Extensions {
		cfg.Extensions = func() (files []memory.Extra, warnings []string) {
			list, warnings := o.installed()
			for _, x := range list {
				for _, path := range x.ContextFiles {
					if x.Active {
						files = append(files, memory.Extra{Path: path, Within: x.Dir})
					}
				}
			}
			return files, warnings
		}
	}
	return memory.New(cfg)
}

// network returns how all servers are reached: by the user's proxy, if there is one.
func (o *Options) network() model.Network { return model.NetworkFrom(o.getenv) }

// webConfig says how the public web is reached.
func webConfig(o *Options) web.Config {
	n := o.network()
	return web.Config{UserAgent: "gemline/" + cmp.Or(o.os.Version, "0"), Proxy: n.ProxyFor, CAs: n.Pool}
}
