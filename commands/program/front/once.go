package front

import (
	"context"
	"os"
	"time"

	"gemline/commands"
	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/steer"
	"gemline/repl"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/repl/question"
	"gemline/repl/report"
	"gemline/repl/talk"
)

// once answers one prompt.
func (r *Run) once(ctx context.Context, reporter report.Reporter) error {
	f := newFrontend(r)
	defer f.close()
	approver, err := f.approver(ctx)
	if err != nil {
		return err
	}
	if err := f.begin(ctx, approver); err != nil {
		return err
	}
	p, err := piped(ctx, r.Options, r.notify)
	if err != nil {
		return err
	}
	p.Context = f.first
	return f.reply(ctx, reporter, r.count, p)
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
func (r *Run) serve(ctx context.Context) error {
	f := newFrontend(r)
	defer f.close()
	asker, err := f.approver(ctx)
	if err != nil {
		return err
	}
	t := &talk.Server{Config: talk.Config{In: r.Options.Env.Process.Stdin, Stream: r.stream, Tally: r.count,
		Now: time.Now, Outcome: r.outcome, Nobody: asker,
		Steering:   talk.Steering{Hints: func() *steer.Hints { return &f.session.Hints }, Always: r.Options.Settings.Steering},
		FailOnDeny: r.Options.Flags.FailOnDeny, Session: func() string { return f.session.Journal.File.ID() }}}
	if asker == nil {
		t.Nobody = &question.Headless{FailOnAsk: r.Options.Flags.FailOnAsk,
			Flags: func(q engine.Proposal) string { return f.session.Rules.AllowingFlags(q) }}
		if !r.Options.Flags.NoInput {
			asker = t
		}
	}
	r.Status.PrintWarning = r.Options.Redacting(t.Notify)
	r.Status.PrintInfo = r.Options.Redacting(func(text string) { t.Show(engine.Notice{Text: text, Info: true}) })
	if r.Options.Flags.AskTrust {
		if err := r.enter(ctx, t); err != nil {
			return err
		}
		f.opts.Agents().Ask, f.opts.Agents().Notify = t.Consent, f.notify
	}
	if err := f.begin(ctx, asker); err != nil {
		return err
	}
	f.session.AddContext(ctx, f.first)
	app := f.commands(t, t.Show)
	if r.Options.Flags.AskTrust {
		app.Questions.Permit = project.Permit(r.Options, t, r.notify)
	}
	t.Expand = input.Chain(commands.Step(app), f.references)
	t.Run = report.FailTruncated(f.say)
	return t.Serve(ctx, report.Init{Model: f.session.Models.Router.Shown()})
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
