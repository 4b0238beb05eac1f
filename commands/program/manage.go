package program

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/term"

	"gemline/commands"
	"gemline/commands/cli"
	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/policy"
	"gemline/repl"
	"gemline/settings"
	"gemline/tools"
	"gemline/tools/shell"
)

// manage carries out a sub-command of the command line.
func (r *run) manage(ctx context.Context, reporter repl.Reporter, args []string) error {
	r.status.warn = r.redacting(func(text string) { reporter.Event(engine.Notice{Text: text}) })
	p := &Project{Options: r.Options, status: r.status, confinement: &confinement{}}
	defer p.Close()
	enclosed := sync.OnceValue(p.enclosed) // the doctor looks at several things at once
	looked := sync.OnceValues(func() (engine.Tools, error) { return p.look(enclosed) })
	w := r.world(r.os.Stdout)
	w.Toolset = func() (engine.Tools, *policy.Policy, error) {
		set, err := looked()
		return set, p.policy, err
	}
	w.Guarded = func() policy.Guarded { return p.guarded(p.remember(p.notify).Names()) }
	w.Confinement = func() (cli.Confinement, error) {
		if err := enclosed(); err != nil {
			return cli.Confinement{}, err
		}
		return p.confinementInfo(), nil
	}
	w.Page = r.pager()
	w.In, w.Err, w.JSON = r.os.Stdin, r.os.Stderr, r.flags.Format() == "json"
	switch {
	case !isTerminal(r.os.Stdin):
	case r.flags.NoInput:
		w.In = strings.NewReader("")
	default:
		w.Secret = r.typedSecret
	}
	return cli.Run(ctx, w, args)
}

// world returns what sub-commands may reach, wherever they are called, but for
// what a project has.
func (r *run) world(out io.Writer) *cli.World {
	return &cli.World{Out: out, Notify: r.notify, Paths: r.paths, Lookup: r.lookup, DotEnv: r.dotenv, Flags: r.flags, Environ: shell.Own(r.os.Environ()),
		Trusted: r.trust.State == settings.Trusted, Build: cli.ReadBuild(r.os.Version, r.os.Commit, r.os.Date), Terminal: isTerminal(r.os.Stdout), Width: r.columns(),
		Editor: r.editor(), Clipboard: func() string { return commands.ClipboardProgram(r.os.getenv) },
		Unused: r.Options.unused,
		API: func() (model.Options, error) {
			a, err := r.credential(r.notify)
			return a.API, err
		}}
}

// enclosed finds out what confines commands.
func (p *Project) enclosed() error {
	held, err := p.chooseConfinement()
	if err == nil {
		p.confinement = held
		p.leave(held)
	}
	return err
}

// look returns the tools of a run and finds out what judges them, without
// beginning one.
func (p *Project) look(enclosed func() error) (engine.Tools, error) {
	if p.trust.State < settings.Unneeded {
		p.settings.Confine()
	}
	if known, ok := p.paths.Known(); ok {
		p.store = known
	}
	if err := p.openWorkspace(); err != nil {
		return nil, err
	}
	p.complain()
	env := tools.Env{Workspace: p.workspace, Shell: shell.Settings{Environ: p.os.Environ()}, Jobs: shell.NewJobs(p.paths.User("tmp", "background-processes")), Model: p.model,
		Web: p.fetcher(), Direct: p.settings.DirectWeb}
	if err := enclosed(); err == nil && p.confinement.sandbox != nil {
		env.Sandbox, env.Profile = p.confinement.sandbox, p.profile
	}
	if p.settings.WriteTodos {
		env.Todos = &tools.Todos{}
	}
	var err error
	p.policy, err = p.rules(!p.interactive)
	return tools.New(env), err
}

// columns returns how wide the terminal is, 0 if there is none and nobody says.
func (o *Options) columns() int {
	if n, _, err := term.GetSize(int(o.os.Stdout.Fd())); err == nil {
		return n
	}
	n, _ := strconv.Atoi(o.os.getenv("COLUMNS"))
	return n
}

// typedSecret asks at the terminal for what is not shown.
func (o *Options) typedSecret(_ context.Context, question string) (string, error) {
	fmt.Fprint(o.os.Stderr, question)
	defer fmt.Fprintln(o.os.Stderr)
	b, err := term.ReadPassword(int(o.os.Stdin.Fd()))
	return string(b), err
}
