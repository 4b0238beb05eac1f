package front

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"gemline/commands"
	"gemline/commands/cli"
	"gemline/commands/program/ending"
	"gemline/commands/program/project"
	"gemline/commands/program/session"
	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/provider"
	"gemline/engine/policy"
	"gemline/repl/question"
	"gemline/repl/report"
	"gemline/settings/trust"
	"gemline/tools"
	"gemline/tools/checkpoint"
	"gemline/tools/launch"
	"gemline/tools/plan"
	"gemline/tools/shell"
	"gemline/tools/workspace"
)

// Manage carries out a sub-command of the command line.
func (r *Run) Manage(ctx context.Context, reporter report.Reporter, args []string) error {
	r.Status.PrintWarning = r.Options.Redacting(func(text string) { reporter.Event(engine.Notice{Text: text}) })
	s := newInspection(r)
	defer s.Close()
	at := terminal{r.Options}
	out := printer(r.Options, r.Options.Env.Process.Stdout, r.notify)
	out.Page, out.Err, out.JSON = at.pager(), r.Options.Env.Process.Stderr, r.Options.Flags.Format() == "json"
	ask := &cli.Asker{In: r.Options.Env.Process.Stdin, Err: r.Options.Env.Process.Stderr, Browse: at.browse}
	var show cli.Attach
	servers := project.ManagedServers{Options: r.Options, Notify: r.notify,
		Open: func() (*launch.Launcher, *workspace.Workspace, error) {
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
	switch {
	case !isTerminal(r.Options.Env.Process.Stdin):
	case r.Options.Flags.NoInput:
		ask.In = strings.NewReader("")
	default:
		ask.Secret = at.password
		show = at.attach
	}
	return cli.Run(ctx, out, ask, args, append(things(r.Options, s, r.notify), servers, show)...)
}

// printer returns where sub-commands print.
func printer(o *project.Options, out io.Writer, notify func(string)) *cli.Output {
	return &cli.Output{Out: out, Notify: notify, Terminal: isTerminal(o.Env.Process.Stdout), Width: terminal{o}.columns()}
}

// things returns what sub-commands take, wherever they are called.
func things(o *project.Options, p cli.Project, notify func(string)) []any {
	return []any{p, o.Folder(), project.ManagedHooks{Options: o, Launcher: p.Launcher}, project.Skills(o), o.Agents(),
		cli.Extensions(o.InstalledExtensions), cli.Network(o.Network), cli.Builtin(builtinTools),
		cli.Redact(o.Secrets.Text), cli.ReadBuild(o.Env.Process.Version, o.Env.Process.Commit, o.Env.Process.Date),
		&cli.Host{Environ: shell.Own(o.Env.Process.Environ()), Editor: terminal{o}.editor(),
			Clipboard: func() string { return commands.ClipboardProgram(o.Env.Process.Getenv) }},
		cli.API(func() (model.Options, error) { return project.APIOptions(o, notify) }),
		cli.Providers(func() *provider.Set { return project.FindProviders(o) })}
}

// builtinTools returns the tools that come with the program. They can't be called.
func builtinTools() engine.Tools {
	return tools.New(tools.Families{Todos: &plan.Todos{}})
}

// newInspection returns an inspection that has looked at nothing yet. It may be asked for
// several things at once.
func newInspection(r *Run) *inspection {
	s := &inspection{opts: r.Options, run: r}
	s.launcher = sync.OnceValues(func() (*launch.Launcher, error) {
		l, err := project.NewLauncher(r.Options)
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

// look finds the rules of a run.
func (s *inspection) look() (v findings, err error) {
	if s.opts.Trust.State < trust.Unneeded {
		s.opts.Settings.Confine()
	}
	if v.workspace, err = project.NewWorkspace(s.opts, s.opts.Paths.Expected().Temp, nil, s.run.notify); err != nil {
		return v, err
	}
	for _, w := range v.workspace.Ignore.Problems() {
		s.run.notify(w)
	}
	l, err := s.launcher()
	if err != nil {
		l = &launch.Launcher{}
	}
	warn := s.run.notify
	if s.listed.Load() {
		warn = func(string) {}
	}
	v.policy, err = project.NewPolicy(s.opts, l, !s.opts.User.Interactive, warn, s.run.notify)
	return v, err
}

// Rules implements [cli.Project].
func (s *inspection) Rules() (*policy.Policy, error) {
	v, err := s.seen()
	return v.policy, err
}

// Trial implements [cli.Project].
func (s *inspection) Trial(ctx context.Context, headless bool) (*cli.Trial, error) {
	if _, err := s.seen(); err != nil { // which says what is wrong with the rules
		return nil, err
	}
	o := s.opts.Copy(!headless)
	p, err := project.OpenTrial(o, s.opts.Paths.Expected())
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "gemline-trial-")
	if err != nil {
		p.Close()
		return nil, err
	}
	end := func() { os.RemoveAll(scratch); p.Close() }
	c := session.Config{Trial: true, Scratch: scratch, Tally: ending.NewTally()}
	if !headless {
		c.Approver = &question.Headless{} // nothing is asked
	}
	t, err := session.Begin(ctx, p, c)
	if err != nil {
		end()
		return nil, err
	}
	if p.MCP.Servers != nil {
		p.MCP.Servers.Start()
		p.MCP.Servers.Wait(ctx, time.Duration(p.Options.Settings.ConnectSeconds)*time.Second)
	}
	return &cli.Trial{Tools: t.Tools.Toolset, Policy: t.Rules.Policy, Offers: t.Rules.Offers, Explain: t.Rules.Explain,
		Close: func() { t.Close(); end() }}, nil
}

// Launcher implements [cli.Project].
func (s *inspection) Launcher() (*launch.Launcher, error) { return s.launcher() }

// Rules implements [cli.Project].
func (h sessionProject) Rules() (*policy.Policy, error) { return h.f.session.Rules.Policy, nil }

// Trial implements [cli.Project] by the conversation itself.
func (h sessionProject) Trial(_ context.Context, headless bool) (*cli.Trial, error) {
	s := h.f.session
	t := &cli.Trial{Tools: s.Tools.Toolset, Policy: s.Rules.Policy, Offers: s.Rules.Offers, Explain: s.Rules.Explain, Close: func() {}}
	if headless != s.Rules.Policy.Unattended {
		t.Policy = s.Rules.Policy.As(headless)
		t.Explain = func(_ context.Context, q engine.Proposal) policy.Explanation {
			return s.Rules.GuardedFiles().Explain(t.Policy, q)
		}
	}
	return t, nil
}

// Launcher implements [cli.Project].
func (h sessionProject) Launcher() (*launch.Launcher, error) {
	return h.f.session.Project.Launcher, nil
}

// Keeper implements [cli.Project].
func (s *inspection) Keeper(session string) (kept *cli.Kept, err error) {
	cfg := checkpoint.Config{Ledger: s.opts.Ledger, Except: project.UntrackedDirs(s.opts),
		Session: func() string { return session }, Hide: s.opts.Secrets.Text, Notify: s.run.notify}
	temp := ""
	if known, ok := s.opts.Paths.Registered(); ok {
		cfg.Dir, temp = known.History(), known.Temp
	}
	if s.opts.Trust.State < trust.Unneeded {
		s.opts.Settings.Confine()
	}
	if cfg.Workspace, err = project.NewWorkspace(s.opts, temp, nil, s.run.notify); err != nil {
		return nil, err
	}
	k := checkpoint.New(cfg)
	return &cli.Kept{Keeper: k, Session: session, Rel: cfg.Workspace.Rel, Done: k.Close}, nil
}

// Keeper implements [cli.Project].
func (h sessionProject) Keeper(session string) (*cli.Kept, error) {
	kept := &cli.Kept{Keeper: h.f.session.Keeper, Session: session, Rel: h.f.session.Project.Workspace.Rel, Done: func() {}}
	if session == h.f.session.Journal.File.ID() || session == "" {
		return kept, nil
	}
	kept.Keeper = h.f.session.Keeper.For(session)
	kept.Done = kept.Keeper.Close
	return kept, nil
}
