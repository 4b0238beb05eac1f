package front

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/commands/program/ending"
	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/lists"
	"gemline/engine/steer"
	"gemline/engine/text"
	"gemline/repl"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/repl/question"
	"gemline/tools/shell"
)

// interact runs a session at a terminal. Unregistered is the error of registering the project, or
// nil.
func (r *Run) interact(ctx context.Context, unregistered error) error {
	i := &interactive{opts: r.Options, frontend: newFrontend(r)}
	i.typed = i.shellStep()
	i.complete = func(_ context.Context, _ string, at int) (int, []input.Candidate) { return at, nil }
	if err := i.openScreen(); err != nil {
		return err
	}
	i.frontend.run.screen.Store(i.screen)
	console, out := i.screen.Console, i.screen.Console.Out
	if i.screen.Mode.Smart && i.opts.Settings.Layout != "plain" { // trust and consent are asked before the session
		out.Wrap(terminal{i.opts}.width)
	}
	defer i.screen.Close()
	interrupts := make(chan os.Signal, 1)
	i.interrupts = interrupts
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	console.Interrupts, r.Status.Wait = interrupts, console.Wait
	asker := &repl.Asker{Console: console, Edit: i.screen.Config.Edit, Home: i.opts.Paths.Home}
	r.Status.PrintWarning = r.Options.Redacting(func(text string) { out.Line(output.Warning, "%s", text) })
	r.Status.PrintInfo = r.Options.Redacting(func(text string) { out.Line(output.Info, "%s", text) })
	defer i.frontend.close()
	if unregistered != nil {
		r.notify(unregistered.Error())
	}
	if err := r.enterFolder(ctx, console); err != nil {
		return err
	}
	if err := project.OfferLocalModels(ctx, i.opts, console, i.frontend.notify); err != nil {
		return err
	}
	i.opts.Agents().Ask, i.opts.Agents().Notify = console.Consent, i.frontend.notify
	i.companion = i.newCompanion()
	defer i.companion.Close()
	if err := i.begin(ctx, i.companion.Approver(asker)); err != nil {
		return err
	}
	defer i.share()()
	defer func() { i.updates.end() }()
	app := i.commands()
	i.complete = i.completion(app).Complete
	i.offerScreenReader()
	i.welcome(ctx, out, app.Terminal.Screen)
	loop := &repl.REPL{Console: console, Printer: i.screen.Printer, Asker: asker, Outcome: i.frontend.run.outcome,
		Prompt: i.readyPrompt,
		Expand: input.Chain(
			i.typed.Step, // !ls: runs, sends nothing
			commands.LoneWord(func() []*genai.Content { return i.frontend.session.Engine.History() }), // help: becomes /help
			commands.Step(app), // /stats: runs, or returns parts
			input.ExpandCommands(i.substitute, i.screen.Pasted), // !{date}: judged, asked about, replaced
			i.frontend.references,                               // @main.go: the file's text
			i.frontend.loadContext,
		),
		Run: i.sayWithCompanion,
	}
	if i.opts.Settings.Steering {
		loop.Steering = &repl.Steering{Hint: func(text string) { i.frontend.session.Hints.Add(steer.Hint{Text: text}) },
			Late: func() []string { return lateHints(&i.frontend.session.Hints) }}
	}
	return i.talk(ctx, loop)
}

// commands returns the dependencies of the slash commands.
func (i *interactive) commands() *commands.Deps {
	app := i.frontend.commands(i.screen.Console.Out, i.show)
	app.Questions.Permit, app.Terminal.Screen = project.Permit(i.opts, i.screen.Console, i.frontend.run.notify), screenCommands(i.screen)
	app.Sessions.Summarize = func(ctx context.Context, list []journal.Session) { i.frontend.session.SummarizeLatest(ctx, list) }
	app.Questions.Choose = i.choose
	app.Sessions.Resume = func(ctx context.Context, c journal.OpenOptions) (*commands.Conversation, error) {
		err := i.frontend.replace(ctx, c, "other", "resume")
		if err == nil {
			i.welcome(ctx, i.screen.Console.Out, app.Terminal.Screen)
		}
		return conversation(i.frontend.session), err
	}
	app.Terminal.Detach, app.Terminal.Prefill = i.detach, i.screen.Offer
	app.Terminal.Editor = i.editorCommand(app)
	desktop := app.Terminal.Copy
	app.Terminal.Copy = func(ctx context.Context, text string) (string, error) {
		tmux := func(ctx context.Context, text string) (string, error) {
			return commands.TmuxBuffer(ctx, shell.UserEnvironment(i.opts.Env.Process.Environ()), text)
		}
		return i.screen.Copy(ctx, text, tmux, desktop)
	}
	return app
}

// choose lets the user choose from a list.
func (i *interactive) choose(ctx context.Context, ask, enter string, list []question.MenuItem) (at int, err error) {
	return i.screen.Console.Choose(ctx, repl.Menu{Ask: ask, Enter: enter, Choices: list})
}

// begin begins the conversation and greets its user. Warnings of the beginning are printed below
// the greeting.
func (i *interactive) begin(ctx context.Context, asker engine.Approver) error {
	warn := i.frontend.run.Status.PrintWarning
	var early []string
	i.frontend.run.Status.PrintWarning = func(text string) { early = append(early, text) }
	err := i.frontend.begin(ctx, asker)
	i.frontend.run.Status.PrintWarning = warn
	if err == nil {
		i.frontend.confirm = i.screen.Console.Confirm
		i.frontend.session.AddContext(ctx, i.frontend.startContext)
		i.setUpScreen()
		i.greet()
		i.startServers()
		i.startCompanion()
		early = append(early, i.frontend.session.Project.Commands.Faults("")...)
	}
	text.Each(early, i.frontend.notify)
	return err
}

// startServers connects to servers in the background while the user types. It collects warnings of
// the start and prints them when they interrupt nothing.
func (i *interactive) startServers() {
	c := i.frontend.session.Project.MCP
	if c.Servers == nil {
		return
	}
	tell := func(texts ...string) { i.screen.Show(func() { text.Each(texts, i.frontend.notify) }) }
	var early project.EventQueue
	end := early.Open()
	c.PrintNotice = func(text string) {
		if !early.Offer(engine.Notice{Text: text}) {
			tell(text)
		}
	}
	c.Servers.Start()
	go func() {
		c.Servers.Wait(context.Background(), project.SilentWait)
		end()
		texts := lists.Map(early.Take(), func(ev engine.Event) string { return ev.(engine.Notice).Text })
		if slices.Sort(texts); len(texts) > 0 {
			tell(texts...)
		}
	}()
}

// talk carries out the prompt of the command line, and then the typed lines.
func (i *interactive) talk(ctx context.Context, r *repl.REPL) error {
	if text := input.PromptText(i.opts.Flags.Text(), project.Charsets(i.opts), i.frontend.notify); text != "" {
		if err := r.Do(ctx, text); errors.Is(err, input.ErrQuit) {
			return nil
		}
	}
	err := r.Loop(ctx)
	if !isTerminal(i.opts.Env.Process.Stdin) && !r.Console.Sharing.IsLeft() {
		err = ending.Signal(syscall.SIGHUP) // the terminal is gone, and the signal will come
	}
	if left := leftRunning(i.frontend.session.Project.Launcher.Jobs); left != "" {
		r.Console.Out.Line(output.Info, "%s", output.EscapeLine(left))
	}
	if missing := i.frontend.session.Journal.Missing(); missing != "" && !i.frontend.discard {
		r.Console.Out.Line(output.Warning, "%s", output.EscapeLine(missing))
	}
	if len(journal.Turns(i.frontend.session.Engine.History())) > 0 && i.frontend.session.Journal.File.Stored() && !i.frontend.discard {
		r.Console.Out.Line(output.Info, "go on with %s", output.Unbroken(i.frontend.session.Journal.ResumeCommand()))
	}
	printWorktree(i.opts, i.frontend.run.Status, i.frontend.run.Status.PrintInfo)
	return err
}

// leftRunning lists the background commands that end with the session, "" if there are none.
func leftRunning(jobs *shell.Jobs) string {
	const longest = 60 // characters of a command
	running := lists.Filter(jobs.List(), func(j shell.Job) bool { return j.Running })
	if len(running) == 0 {
		return ""
	}
	return "ends with the session: " + text.List(lists.Map(running, func(j shell.Job) string {
		return fmt.Sprintf("%s (%d)", text.OneLine(j.Command, longest), j.PID)
	}))
}

// offerScreenReader says once how to make screen reader mode permanent, if the command line
// switches it on.
func (i *interactive) offerScreenReader() {
	const key = "ui.accessibility.screenReader"
	on := i.opts.Flags.ScreenReader
	if on == nil || !*on || i.screen.Console.Stable || i.opts.Settings.IsSet(key) || !i.opts.Paths.Once("screen-reader-offered") {
		return
	}
	i.screen.Console.Out.Line(output.Info, "/settings set %s true turns screen reader mode on for good", key)
}
