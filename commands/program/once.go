package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"gemline/commands"
	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/steer"
	"gemline/engine/tally"
	"gemline/repl"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/repl/question"
	"gemline/repl/report"
	"gemline/repl/talk"
)

// once answers one prompt.
func (r *run) once(ctx context.Context, reporter report.Reporter) error {
	f := newFrontend(r)
	defer f.close()
	approver, err := f.approver(ctx)
	if err != nil {
		return err
	}
	if err := f.begin(ctx, approver); err != nil {
		return err
	}
	p, err := piped(ctx, r.opts, r.notify)
	if err != nil {
		return err
	}
	p.Context = f.first
	return f.reply(ctx, reporter, r.count, p)
}

// reply answers the one prompt of a run, with its numbers in count.
func (f *frontend) reply(ctx context.Context, reporter report.Reporter, count *tally.Tally, p report.Prompt) error {
	f.session.project.mcp.await(ctx, f.session.project.status.tell) // whose prompts are commands
	app := f.commands(report.Speaker(reporter), func(ev engine.Event) {
		count.Observe(ev, time.Now())
		reporter.Event(ev)
	})
	app.Restart, app.Sessions.Resume = nil, nil // one prompt has nothing to forget, and what it may spend is not its own
	ask := f.session.promptRun()                // a schema has it asked again
	if f.session.Schema == nil {                // which knows better what is missing
		ask = report.FailTruncated(ask)
	}
	ask = report.Waiting(ask, f.session.project.model.lastHeard, reporter.Event)
	runner := &report.Once{Model: f.session.models.router.Shown(), Reporter: reporter, Tally: count,
		Session: f.session.chat.file.ID(), Now: time.Now, FailOnDeny: f.opts.Flags.FailOnDeny,
		NoRestart: f.opts.Flags.Stream == "token" && !f.opts.Flags.AllowRestart && f.run.text(f.session.Schema) && !isTerminal(f.opts.Env.Process.Stdout),
		Ask:       ask, Schema: f.session.Schema, Expand: input.Chain(commands.Step(app), f.references)}
	if err := runner.Run(ctx, p); err != nil && !errors.Is(err, input.ErrQuit) {
		return err
	}
	if dir := f.session.tools.rehearsal.ApplyDir(); dir != "" {
		f.notify(fmt.Sprintf("the patch edits files outside of this directory: apply it in %s", dir))
	}
	return nil
}

// approver returns who decides in a run without a session. With --ask-tty it is the
// user at the terminal, wherever the streams lead; else it is nobody, which is nil.
func (f *frontend) approver(ctx context.Context) (engine.Approver, error) {
	if !f.opts.Flags.AskTTY {
		return nil, nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, &input.Error{Message: "--ask-tty: there is no terminal to ask at", Err: err}
	}
	out := output.New(tty, output.Options{ASCII: f.opts.Settings.ASCII || output.OnlyASCII(f.opts.Env.Process.Lookup)})
	console := &repl.Console{Out: out, Stable: f.opts.Flags.PromptFormat == "stable",
		Spoken:      output.Decide(f.opts.Signs()).Asked,
		Interleaved: isTerminal(f.opts.Env.Process.Stdout) || isTerminal(f.opts.Env.Process.Stderr)}
	screen := &repl.Screen{Console: console, Config: repl.LinesConfig{In: tty, Out: out, Screen: tty}}
	if err := screen.Open(); err != nil {
		return nil, err
	}
	f.closers = append(f.closers, func() { screen.Close(); tty.Close() })
	f.run.shown.Store(screen)
	return &repl.Asker{Console: console}, f.run.enter(ctx, console)
}

// serve holds a session with a program.
func (r *run) serve(ctx context.Context) error {
	f := newFrontend(r)
	defer f.close()
	asker, err := f.approver(ctx)
	if err != nil {
		return err
	}
	t := &talk.Conversation{Config: talk.Config{In: r.opts.Env.Process.Stdin, Stream: r.stream, Tally: r.count,
		Now: time.Now, Outcome: r.outcome, Nobody: asker,
		Steering:   talk.Steering{Hints: func() *steer.Hints { return &f.session.hints }, Always: r.opts.Settings.Steering},
		FailOnDeny: r.opts.Flags.FailOnDeny, Session: func() string { return f.session.chat.file.ID() }}}
	if asker == nil {
		t.Nobody = &question.Headless{FailOnAsk: r.opts.Flags.FailOnAsk,
			Flags: func(q engine.Proposal) string { return f.session.rules.allowing(q) }}
		if !r.opts.Flags.NoInput {
			asker = t
		}
	}
	r.status.warn = r.opts.Redacting(t.Notify)
	r.status.tell = r.opts.Redacting(func(text string) { t.Show(engine.Notice{Text: text, Info: true}) })
	if r.opts.Flags.AskTrust {
		if err := r.enter(ctx, t); err != nil {
			return err
		}
		f.opts.Agents().Ask, f.opts.Agents().Tell = t.Consent, f.notify
	}
	if err := f.begin(ctx, asker); err != nil {
		return err
	}
	f.session.addContext(ctx, f.first)
	app := f.commands(t, t.Show)
	if r.opts.Flags.AskTrust {
		app.Questions.Permit = project.Permit(r.opts, t, r.notify)
	}
	t.Expand = input.Chain(commands.Step(app), f.references)
	t.Run = report.FailTruncated(f.say)
	return t.Serve(ctx, report.Init{Model: f.session.models.router.Shown()})
}

// piped returns the prompt of the command line and of standard input.
func piped(ctx context.Context, o *project.Options, notify func(string)) (report.Prompt, error) {
	p := report.Prompt{Text: input.Words(o.Flags.Text(), project.Charsets(o), notify)}
	in := input.Stdin{Terminal: isTerminal(o.Env.Process.Stdin), Force: o.Flags.Stdin || o.Flags.Dash(),
		Forbid: o.Flags.NoStdin, Prompt: p.Text != ""}
	info, err := o.Env.Process.Stdin.Stat()
	if err != nil {
		in.Closed = true
	} else {
		in.Mode = info.Mode()
	}
	if !in.Wanted() {
		return p, nil
	}
	b, err := input.ReadAll(ctx, o.Env.Process.Stdin, input.MaxStdin, notify)
	if err != nil {
		return p, err
	}
	d, err := input.Decode(b, project.Charsets(o), notify)
	p.Piped, p.Media, p.Bytes, p.Encoding = d.Text, d.Media, d.Bytes, d.Encoding
	return p, err
}
