package program

import (
	"context"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"gemline/commands"
	"gemline/commands/cli"
	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/policy"
	"gemline/repl/report"
	"gemline/settings/trust"
	"gemline/tools"
	"gemline/tools/agent"
	"gemline/tools/launch"
	"gemline/tools/shell"
	"gemline/tools/workspace"
)

// manage carries out a sub-command of the command line.
func (r *run) manage(ctx context.Context, reporter report.Reporter, args []string) error {
	r.status.warn = r.redacting(func(text string) { reporter.Event(engine.Notice{Text: text}) })
	s := newInspection(r)
	defer s.Close()
	w := r.world(r.os.Stdout, s)
	at := r.terminal()
	w.Page, w.Browse = at.pager(), r.browse
	w.Servers = managedServers{Options: r.Options, status: r.status,
		open: func() (*launch.Launcher, *workspace.Workspace, error) {
			v, err := s.seen()
			if err != nil {
				return nil, nil, err
			}
			l, err := s.launcher()
			if err != nil {
				return nil, nil, err
			}
			at := *l
			at.Roots = v.workspace.Roots
			return &at, v.workspace, nil
		}}
	w.In, w.Err, w.JSON = r.os.Stdin, r.os.Stderr, r.flags.Format() == "json"
	switch {
	case !isTerminal(r.os.Stdin):
	case r.flags.NoInput:
		w.In = strings.NewReader("")
	default:
		w.Secret = at.password
		w.Attach = r.attach
	}
	return cli.Run(ctx, w, args)
}

// world returns what sub-commands may reach, wherever they are called.
func (r *run) world(out io.Writer, p cli.Project) *cli.World {
	at := r.terminal()
	return &cli.World{Project: p, Clean: r.secrets.Text,
		Hooks: managedHooks{r.Options, p.Launcher}, Skills: r.skillLibrary(), Agents: r.agents(),
		Extensions: r.installed, Transport: r.remoteTransport,
		Output:  cli.Output{Out: out, Notify: r.notify, Terminal: isTerminal(r.os.Stdout), Width: at.columns()},
		Folder:  *r.folder(),
		Environ: shell.Own(r.os.Environ()), Build: cli.ReadBuild(r.os.Version, r.os.Commit, r.os.Date),
		Editor: at.editor(), Clipboard: func() string { return commands.ClipboardProgram(r.os.getenv) },
		API: func() (model.Options, error) {
			a, err := findAccount(r.Options, r.notify)
			return a.API, err
		}}
}

// folder returns the directory as sub-commands see it.
func (o *Options) folder() *cli.Folder {
	return &cli.Folder{Today: o.os.Today, Paths: o.paths, Lookup: o.lookup, DotEnv: o.dotenv, Flags: o.flags,
		Trusted: o.trust.State == trust.Trusted, Unused: o.unused}
}

// An inspection finds out what a project has, for sub-commands: it begins nothing, and
// what can't be had is an error of those alone that want it.
type inspection struct {
	*run
	launcher func() (*launch.Launcher, error)
	seen     func() (findings, error)
	wrong    func() []cli.Problem
	made     atomic.Pointer[launch.Launcher] // what launcher has returned, if it was asked
}

// newInspection returns an inspection that has looked at nothing yet. It may be asked for
// several things at once.
func newInspection(r *run) *inspection {
	s := &inspection{run: r}
	s.launcher = sync.OnceValues(func() (*launch.Launcher, error) {
		l, err := newLauncher(r.Options)
		s.made.Store(l)
		return l, err
	})
	s.seen = sync.OnceValues(s.look)
	s.wrong = sync.OnceValue(s.findWrong)
	return s
}

// Close lets go of what was made.
func (s *inspection) Close() {
	if l := s.made.Load(); l != nil {
		l.Close()
	}
}

// findings are what an inspection has found: the tools, and what judges their calls.
type findings struct {
	tools     engine.Toolset
	policy    *policy.Policy
	workspace *workspace.Workspace
	temp      string // where what is kept of the directory is, "" if nowhere
}

// look finds the tools and the rules of a run.
func (s *inspection) look() (findings, error) {
	if s.trust.State < trust.Unneeded {
		s.settings.Confine()
	}
	var v findings
	if known, ok := s.paths.Known(); ok {
		v.temp = known.Temp
	}
	var err error
	if v.workspace, err = newWorkspace(s.Options, v.temp, nil, s.notify); err != nil {
		return v, err
	}
	for _, w := range v.workspace.Complaints() {
		s.notify(w)
	}
	var reach server
	l, err := s.launcher()
	if err != nil {
		l = &launch.Launcher{}
	}
	at := *l
	at.Jobs, at.Roots = shell.NewJobs(s.paths.User("tmp", "background-processes")), v.workspace.Roots
	env := tools.Env{Workspace: v.workspace, Launcher: &at,
		Model: func() string { return reach.model(s.settings.Model) }, Web: newFetcher(s.Options), Direct: s.settings.DirectWeb,
		Topics: s.settings.Topics}
	if s.settings.WriteTodos {
		env.Todos = &tools.Todos{}
	}
	if s.settings.Tracker {
		env.Tasks = func() string { return "" } // no call is made
	}
	if s.settings.PlanMode {
		env.Plans = &tools.Plans{Planning: func() bool { return s.settings.ApprovalMode == string(policy.Plan) }}
	}
	own := tools.New(env)
	called := agent.Config{Agents: func() []agent.Definition { list, _ := s.agents().list(); return list }, Tools: own}
	v.tools = append(own, agent.Tool(called))
	if v.policy, err = (rulebook{s.Options, l, s.notify, s.notify}).policy(!s.interactive); err != nil {
		return v, err
	}
	if at.Sandbox != nil {
		v.policy.Masked = at.Masked
	}
	if env.Plans != nil {
		v.policy.Plans = env.Plans.Is
	}
	return v, err
}

// Toolset implements [cli.Project].
func (s *inspection) Toolset() (engine.Toolset, *policy.Policy, error) {
	v, err := s.seen()
	return v.tools, v.policy, err
}

// GuardedFiles implements [cli.Project].
func (s *inspection) GuardedFiles() policy.GuardedFiles {
	v, err := s.seen()
	if err != nil {
		return policy.GuardedFiles{}
	}
	return guardedFiles(s.Options, v.workspace.Roots, v.temp,
		newMemory(s.Options, v.workspace, v.temp, s.notify).Names())
}

// Launcher implements [cli.Project].
func (s *inspection) Launcher() (*launch.Launcher, error) { return s.launcher() }

// sessionProject is the project of a conversation, for the sub-commands in a session.
type sessionProject struct{ f *front }

// Toolset implements [cli.Project].
func (h sessionProject) Toolset() (engine.Toolset, *policy.Policy, error) {
	return h.f.tools, h.f.policy, nil
}

// GuardedFiles implements [cli.Project].
func (h sessionProject) GuardedFiles() policy.GuardedFiles { return h.f.guarded() }

// Launcher implements [cli.Project].
func (h sessionProject) Launcher() (*launch.Launcher, error) { return h.f.launcher, nil }
