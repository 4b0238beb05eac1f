package front

import (
	"context"
	"io"
	"strings"

	"gemline/commands/cli"
	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/provider"
	"gemline/repl/report"
	"gemline/tools"
	"gemline/tools/launch"
	"gemline/tools/plan"
	"gemline/tools/shell"
	"gemline/tools/workspace"
)

// RunSubcommand carries out a sub-command of the command line.
func (r *Run) RunSubcommand(ctx context.Context, reporter report.Reporter, args []string) error {
	r.Status.PrintWarning = r.Options.Redacting(func(text string) { reporter.Event(engine.Notice{Text: text}) })
	s := newInspection(r)
	defer s.Close()
	at := terminal{r.Options}
	out := cliOutput(r.Options, r.Options.Env.Process.Stdout, r.notify)
	out.Page, out.Err, out.JSON = at.pager(), r.Options.Env.Process.Stderr, r.Options.Flags.Format() == "json"
	ask := &cli.Asker{In: r.Options.Env.Process.Stdin, Err: r.Options.Env.Process.Stderr, Browse: at.browse}
	var show cli.Attach
	servers := project.ManagedServers{Options: r.Options, Notify: r.notify,
		Open: func() (*launch.Launcher, *workspace.Workspace, error) {
			v, err := s.findOnce()
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
	return cli.Run(ctx, out, ask, args, append(subcommandDeps(r.Options, s, r.notify), servers, show)...)
}

// cliOutput returns where sub-commands print.
func cliOutput(o *project.Options, out io.Writer, notify func(string)) *cli.Output {
	return &cli.Output{Out: out, Notify: notify, Terminal: isTerminal(o.Env.Process.Stdout), Width: terminal{o}.columns()}
}

// subcommandDeps returns the dependencies of sub-commands, from the command line and in a session.
func subcommandDeps(o *project.Options, p cli.Project, notify func(string)) []any {
	return []any{p, o.Folder(), project.ManagedHooks{Options: o, Launcher: p.Launcher}, project.Skills(o), o.Agents(),
		cli.Extensions(o.InstalledExtensions), cli.Network(o.Network),
		cli.Builtin(func() engine.Tools { return tools.New(tools.Families{Todos: &plan.Todos{}}) }), // they can't be called
		cli.Redact(o.Secrets.Text), cli.ReadBuild(o.Env.Process.Version, o.Env.Process.Commit, o.Env.Process.Date),
		cli.Environ(shell.UserEnvironment(o.Env.Process.Environ())),
		cli.API(func() (model.Options, error) { return project.APIOptions(o, notify) }),
		cli.Providers(func() *provider.Set { return project.FindProviders(o) })}
}
