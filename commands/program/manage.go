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
	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

// manage carries out a sub-command of the command line.
func (s *session) manage(ctx context.Context, reporter repl.Reporter, args []string) error {
	defer s.close()
	s.notify = s.redacting(func(text string) { reporter.Event(engine.Notice{Text: text}) })
	w := s.world(s.os.Stdout)
	w.Page = s.pager()
	w.In, w.Err, w.JSON = s.os.Stdin, s.os.Stderr, s.flags.Format() == "json"
	switch {
	case !isTerminal(s.os.Stdin):
	case s.flags.NoInput:
		w.In = strings.NewReader("")
	default:
		w.Secret = s.typedSecret
	}
	return cli.Run(ctx, w, args)
}

// world returns what sub-commands may reach, wherever they are called.
func (s *session) world(out io.Writer) *cli.World {
	var turn sync.Mutex // the doctor looks at several things at once
	return &cli.World{Out: out, Notify: s.notify, Paths: s.paths, Lookup: s.lookup, DotEnv: s.dotenv, Flags: s.flags, Environ: shell.Own(s.os.Environ()),
		Trusted: s.trust.State == settings.Trusted, Build: cli.ReadBuild(s.os.Version, s.os.Commit, s.os.Date), Terminal: isTerminal(s.os.Stdout), Width: s.columns(),
		Editor: s.editor(), Clipboard: func() string { return commands.ClipboardProgram(s.os.getenv) },
		Unused: s.unused,
		Toolset: func() (engine.Tools, *policy.Policy, error) {
			turn.Lock()
			defer turn.Unlock()
			return s.offered()
		},
		Confinement: func() (cli.Confinement, error) {
			turn.Lock()
			defer turn.Unlock()
			return s.confinement()
		},
		Guarded: s.guarded, API: func() (model.Options, error) {
			var setup model.Setup
			err := s.pay(&setup)
			return setup.API, err
		}}
}

// offered returns the tools of a run, and what judges them, without making one.
func (s *session) offered() (engine.Tools, *policy.Policy, error) {
	if s.engine != nil {
		return s.tools, s.policy, nil
	}
	if s.trust.State < settings.Unneeded {
		s.settings.Confine()
	}
	if known, ok := s.paths.Known(); ok {
		s.project = known
	}
	if err := s.settleIn(); err != nil {
		return nil, nil, err
	}
	s.memory = s.remember()
	env := tools.Env{Workspace: s.workspace, Shell: shell.Settings{Environ: s.os.Environ()}, Jobs: shell.NewJobs(s.paths.User("tmp", "background-processes")), Model: s.modelName,
		Web: s.fetcher(), Direct: s.settings.DirectWeb}
	if held, err := s.enclosure(); err == nil && held.sandbox != nil {
		s.leave(held)
		s.pen = held
		env.Sandbox, env.Profile = s.pen.sandbox, func() sandbox.Profile {
			roots := s.workspace.Roots()
			return s.rights(roots[0], roots[1:])
		}
	}
	if s.settings.WriteTodos {
		env.Todos = &tools.Todos{}
	}
	p, err := s.rules(!s.interactive)
	return tools.New(env), p, err
}

// columns returns how wide the terminal is, 0 if there is none and nobody says.
func (s *session) columns() int {
	if n, _, err := term.GetSize(int(s.os.Stdout.Fd())); err == nil {
		return n
	}
	n, _ := strconv.Atoi(s.os.getenv("COLUMNS"))
	return n
}

// typedSecret asks at the terminal for what is not shown.
func (s *session) typedSecret(_ context.Context, question string) (string, error) {
	fmt.Fprint(s.os.Stderr, question)
	defer fmt.Fprintln(s.os.Stderr)
	b, err := term.ReadPassword(int(s.os.Stdin.Fd()))
	return string(b), err
}
