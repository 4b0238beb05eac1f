package program

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"gemline/commands"
	"gemline/commands/cli"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/model"
	"gemline/repl"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/tools/shell"
)

// commands returns what the slash commands may reach.
func (s *session) commands(approver engine.Approver, out io.Writer) *commands.App {
	app := &commands.App{
		Out: out, Engine: s.engine, Policy: s.policy, Tools: s.tools, Models: s.reach, Workspace: s.workspace,
		Home: s.paths.Home, Tally: s.count, Commands: commands.Builtin(),
		Memory: s.memory, About: s.about, Todos: s.env.Todos.Lines, Elsewhere: s.elsewhere,
		Mode:        s.mode,
		Directories: func(dirs []string) error { return s.journal.SetDirectories(dirs) },
		Manage: func(ctx context.Context, args ...string) error {
			w := s.world(out)
			if screen := s.shown.Load(); screen != nil {
				w.Secret = screen.Lines.Secret
			}
			return cli.Run(ctx, w, args)
		},
		Copy: func(ctx context.Context, text string) (string, error) {
			return commands.Clipboard(ctx, s.os.getenv, shell.Own(s.os.Environ()), text)
		},
	}
	if s.setup.Fake == "" {
		app.ServerModels = s.serverModels
	}
	app.Restart = func(context.Context) error {
		if err := s.restart(approver); err != nil {
			return err
		}
		app.Engine = s.engine
		return nil
	}
	return app
}

// restart ends the conversation, with what was granted in it and what it has
// spent, and begins another: with the model, the approval mode and the
// directories as they are.
func (s *session) restart(approver engine.Approver) error {
	s.journal.Close()
	cfg := s.sessions()
	cfg.Directories = s.workspace.Roots()[1:]
	o, err := journal.Open(cfg, journal.Choice{})
	if err != nil {
		return err
	}
	s.journal = o.File
	s.policy.Forget()
	s.budget.Renew()
	s.memory.Reload()
	s.converse(approver, nil)
	return nil
}

// serverModels asks the server which models it has.
func (s *session) serverModels(ctx context.Context) (names []string, err error) {
	g, err := model.NewGenai(s.setup.API)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	listed, err := g.List(ctx)
	for _, m := range listed {
		names = append(names, m.Name)
	}
	return names, err
}

func (s *session) about() []commands.Fact {
	return []commands.Fact{
		{Name: "version", Value: s.os.Version},
		{Name: "model", Value: s.engine.Model()},
		{Name: "approval mode", Value: string(s.policy.Mode())},
		{Name: "session", Value: s.journal.ID()},
		{Name: "session file", Value: s.journal.Path()},
		{Name: "directory", Value: s.paths.Cwd},
		{Name: "system", Value: runtime.GOOS + "/" + runtime.GOARCH},
		{Name: "sandbox", Value: s.pen.state().Name + ": " + s.pen.state().Step},
		{Name: "variables kept from commands", Value: cmp.Or(strings.Join(shell.Withheld(s.os.Environ(), s.shell), ", "), "none")},
	}
}

// interact holds a session at a terminal.
func (s *session) interact(ctx context.Context) error {
	screen, err := s.screen()
	if err != nil {
		return err
	}
	s.shown.Store(screen)
	console, out := screen.Console, screen.Out
	defer func() { console.Lines.Close() }() // there may be others by then
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	console.Interrupts = interrupts
	asker := &repl.Asker{Console: console, Edit: screen.Config.Edit}
	s.notify = s.redacting(func(text string) { out.Line(output.Warning, "%s", text) })
	s.confirm = s.redacting(func(text string) { out.Line(output.Info, "%s", text) })
	if line := screen.Mode.Announcement(); line != "" {
		out.Line(output.Info, "%s", line)
	}
	defer s.close()
	if err := s.enter(ctx, console); err != nil {
		return err
	}
	if err := s.buildGreeted(ctx, screen, asker); err != nil {
		return err
	}
	app := s.commands(asker, out)
	app.Permit, app.Screen = s.permit(console), screen.Commands()
	desktop := app.Copy
	app.Copy = func(ctx context.Context, text string) (string, error) {
		tmux := func(ctx context.Context, text string) (string, error) {
			return commands.TmuxBuffer(ctx, shell.Own(s.os.Environ()), text)
		}
		return screen.Copy(ctx, text, tmux, desktop)
	}
	s.app = app
	if err := s.offer(ctx, screen); err != nil {
		return err
	}
	s.welcome(ctx, out, app.Screen)
	r := &repl.REPL{Console: console, Printer: screen.Printer, Asker: asker, Outcome: s.outcome,
		Prompt: func() string { return s.readyPrompt(console) },
		Expand: input.Chain(
			s.typed.Step,           // !ls: run, nothing sent
			commands.Bare,          // help: /help
			app.Commands.Step(app), // /stats: done, or yields parts
			input.Braces(s.substitute(screen.Printer)), // !{date}: judged, asked about, replaced
			s.files().Step, // @main.go: the file's text
			s.recall,
		),
		Run: s.answer,
	}
	return s.talk(ctx, r)
}

// buildGreeted builds the session and greets its user. What is told meanwhile
// stands below that.
func (s *session) buildGreeted(ctx context.Context, screen *repl.Screen, asker *repl.Asker) error {
	tell := s.notify
	var early []string
	s.notify = func(text string) { early = append(early, text) }
	err := s.build(ctx, asker)
	s.notify = tell
	if err == nil {
		s.furnish(screen)
		s.greet(screen)
	}
	for _, text := range early {
		s.notify(text)
	}
	return err
}

// talk carries out the prompt of the command line and then what is typed.
func (s *session) talk(ctx context.Context, r *repl.REPL) error {
	if text := input.Words(s.flags.Text(), s.notify); text != "" {
		if err := r.Do(ctx, text); errors.Is(err, commands.ErrQuit) {
			return nil
		}
	}
	err := r.Loop(ctx)
	if !isTerminal(s.os.Stdin) {
		err = signalled(syscall.SIGHUP) // it was one: it is gone, and the signal on its way
	}
	if s.count.Tokens() > 0 && s.project.Temp != "" {
		r.Out.Line(output.Info, "go on with gemline --resume %s", s.journal.ID())
	}
	return err
}

// offer asks once, whoever asks for screen reader mode on the command line,
// whether that is for good.
func (s *session) offer(ctx context.Context, screen *repl.Screen) error {
	const key = "ui.accessibility.screenReader"
	on := s.flags.ScreenReader
	if on == nil || !*on || screen.Stable || s.settings.Says(key) || !s.paths.Once("screen-reader-offered") {
		return nil
	}
	yes, err := screen.Confirm(ctx, "shall screen reader mode be on from now on, without the flag? This is asked once.")
	if err != nil || !yes {
		return err
	}
	return s.app.Manage(ctx, "config", "set", "--", key, "true")
}
