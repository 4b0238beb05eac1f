package program

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/commands/cli"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/policy"
	"gemline/repl"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/tools/shell"
)

// A front is a front end: it holds conversations, one after the other, with a
// person or a program.
type front struct {
	*run
	*Session // nil until begin
	closers  []func()

	// Of a session at a terminal.
	app      *commands.App
	typed    *input.Shell // the commands that the user types
	complete func(ctx context.Context, line string, at int) (int, []input.Candidate)
}

// begin opens the project and begins the conversation that the command line
// names.
func (f *front) begin(ctx context.Context, approver engine.Approver) error {
	p, err := Open(f.run.Options, f.run.status, f.run.store)
	if err != nil {
		return err
	}
	f.closers = append(f.closers, p.Close)
	f.count.Cost = p.cost
	s, err := p.Begin(ctx, Choice{Choice: f.chosen(), Schema: f.schema, Tally: newTally(), Approver: approver})
	if err != nil {
		return err
	}
	f.hold(s)
	f.closers = append(f.closers, func() { f.Session.Close() })
	return nil
}

// hold has s be the conversation that the front end is about.
func (f *front) hold(s *Session) {
	f.Session = s
	f.count.Begin(s.Tally)
	f.run.status.session.Store(s)
}

// close ends the conversation and the work in the project.
func (f *front) close() {
	for _, end := range slices.Backward(f.closers) {
		end()
	}
}

// notify tells what is odd but no error, as the conversation does once there is one.
func (f *front) notify(text string) {
	if f.Session != nil {
		f.Session.notify(text)
		return
	}
	f.run.notify(text)
}

// say is the [engine.Run] of the conversation that is held.
func (f *front) say(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
	return f.Session.Run(ctx, parts...)
}

// commands returns what the slash commands may reach.
func (f *front) commands(out io.Writer) *commands.App {
	app := &commands.App{Conversation: f.conversation(), Out: out, Commands: commands.Builtin(), Models: f.reach, Home: f.paths.Home, Elsewhere: f.elsewhere,
		Restart: func(ctx context.Context) (*commands.Conversation, error) {
			err := f.restart(ctx)
			return f.conversation(), err
		},
		Manage: func(ctx context.Context, args ...string) error {
			w := f.world(out)
			w.Toolset = func() (engine.Toolset, *policy.Policy, error) { return f.tools, f.policy, nil }
			w.Guarded = func() policy.Guarded { return f.Session.guarded() }
			w.Confinement = func() (cli.Confinement, error) { return f.confinement.describe(environOf(f.run.Options)), nil }
			if screen := f.shown.Load(); screen != nil {
				w.Secret = screen.Lines.Secret
			}
			return cli.Run(ctx, w, args)
		},
		Copy: func(ctx context.Context, text string) (string, error) {
			return commands.Clipboard(ctx, f.os.getenv, shell.Own(f.os.Environ()), text)
		},
	}
	if f.setup.Fake == "" {
		app.ServerModels = f.models
	}
	return app
}

// conversation returns what the slash commands reach of the conversation.
func (s *Session) conversation() *commands.Conversation {
	return &commands.Conversation{Engine: s.engine, Policy: s.policy, Tools: s.tools, Workspace: s.workspace, Memory: s.memory, Tally: s.Tally,
		Todos: s.env.Todos.Lines, About: s.about, Mode: s.mode, Directories: s.journal.SetDirectories}
}

// restart ends the conversation, with what was granted in it and what it has
// spent, and begins another: with the model, the approval mode and the
// directories as they are.
func (f *front) restart(ctx context.Context) error {
	next := f.Session.Choice
	next.Choice, next.Directories = journal.Choice{}, f.workspace.Roots()[1:]
	next.Model, next.Policy, next.Tally = f.engine.Model(), f.policy, newTally()
	s, err := f.Project.Begin(ctx, next)
	if err != nil {
		return err // and the conversation goes on
	}
	f.Session.Close()
	f.policy.Forget()
	f.Project.budget.Renew()
	f.hold(s)
	return nil
}

func (s *Session) about() []commands.Fact {
	return []commands.Fact{
		{Name: "version", Value: s.os.Version},
		{Name: "model", Value: s.engine.Model()},
		{Name: "approval mode", Value: string(s.policy.Mode())},
		{Name: "session", Value: s.journal.ID()},
		{Name: "session file", Value: s.journal.Path()},
		{Name: "directory", Value: s.paths.Cwd},
		{Name: "system", Value: runtime.GOOS + "/" + runtime.GOARCH},
		{Name: "sandbox", Value: s.confinement.state().Name + ": " + s.confinement.state().Step},
		{Name: "variables kept from commands", Value: cmp.Or(strings.Join(shell.Withheld(s.os.Environ(), s.shell), ", "), "none")},
	}
}

// interact holds a session at a terminal.
func (r *run) interact(ctx context.Context) error {
	f := &front{run: r, typed: &input.Shell{}}
	f.complete = func(_ context.Context, _ string, at int) (int, []input.Candidate) { return at, nil }
	screen, err := f.screen()
	if err != nil {
		return err
	}
	f.shown.Store(screen)
	console, out := screen.Console, screen.Out
	defer screen.Close()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	console.Interrupts = interrupts
	asker := &repl.Asker{Console: console, Edit: screen.Config.Edit}
	r.status.warn = r.redacting(func(text string) { out.Line(output.Warning, "%s", text) })
	r.status.tell = r.redacting(func(text string) { out.Line(output.Info, "%s", text) })
	if line := screen.Mode.Announcement(); line != "" {
		out.Line(output.Info, "%s", line)
	}
	defer f.close()
	if err := r.enter(ctx, console); err != nil {
		return err
	}
	if err := f.buildGreeted(ctx, screen, asker); err != nil {
		return err
	}
	app := f.commands(out)
	app.Permit, app.Screen = r.permit(console), screenCommands(screen)
	desktop := app.Copy
	app.Copy = func(ctx context.Context, text string) (string, error) {
		tmux := func(ctx context.Context, text string) (string, error) {
			return commands.TmuxBuffer(ctx, shell.Own(f.os.Environ()), text)
		}
		return screen.Copy(ctx, text, tmux, desktop)
	}
	f.app, f.complete = app, f.completion(app).Complete
	if err := f.offer(ctx, screen); err != nil {
		return err
	}
	f.welcome(ctx, out, app.Screen)
	loop := &repl.REPL{Console: console, Printer: screen.Printer, Asker: asker, Outcome: f.outcome,
		Prompt: func() string { return f.readyPrompt(console) },
		Expand: input.Chain(
			f.typed.Step,           // !ls: run, nothing sent
			commands.Bare,          // help: /help
			app.Commands.Step(app), // /stats: done, or yields parts
			input.Braces(f.substitute(screen.Printer)), // !{date}: judged, asked about, replaced
			f.files().Step, // @main.go: the file's text
			f.recall,
		),
		Run: f.say,
	}
	return f.talk(ctx, loop)
}

// buildGreeted builds the session and greets its user. What is told meanwhile
// stands below that.
func (f *front) buildGreeted(ctx context.Context, screen *repl.Screen, asker *repl.Asker) error {
	warn := f.run.status.warn
	var early []string
	f.run.status.warn = func(text string) { early = append(early, text) }
	err := f.begin(ctx, asker)
	f.run.status.warn = warn
	if err == nil {
		f.finishScreen(screen)
		f.greet(screen)
	}
	for _, text := range early {
		f.notify(text)
	}
	return err
}

// talk carries out the prompt of the command line and then what is typed.
func (f *front) talk(ctx context.Context, r *repl.REPL) error {
	if text := input.Words(f.flags.Text(), f.notify); text != "" {
		if err := r.Do(ctx, text); errors.Is(err, input.ErrQuit) {
			return nil
		}
	}
	err := r.Loop(ctx)
	if !isTerminal(f.os.Stdin) {
		err = signalled(syscall.SIGHUP) // it was one: it is gone, and the signal on its way
	}
	if f.Tally.Tokens() > 0 && f.store.Temp != "" {
		r.Out.Line(output.Info, "go on with gemline --resume %s", f.journal.ID())
	}
	return err
}

// offer asks once, whoever asks for screen reader mode on the command line,
// whether that is for good.
func (f *front) offer(ctx context.Context, screen *repl.Screen) error {
	const key = "ui.accessibility.screenReader"
	on := f.flags.ScreenReader
	if on == nil || !*on || screen.Stable || f.settings.Says(key) || !f.paths.Once("screen-reader-offered") {
		return nil
	}
	yes, err := screen.Confirm(ctx, "turn screen reader mode on for good? This is asked once.")
	if err != nil || !yes {
		return err
	}
	return f.app.Manage(ctx, "config", "set", "--", key, "true")
}
