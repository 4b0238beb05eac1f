package front

import (
	"context"
	"time"

	"gemline/commands"
	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/steer"
	"gemline/repl/input"
	"gemline/repl/question"
	"gemline/repl/report"
	"gemline/repl/talk"
)

// serveStream runs a session with a program that writes JSON lines to standard input.
func (r *Run) serveStream(ctx context.Context) error {
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
		if err := r.enterFolder(ctx, t); err != nil {
			return err
		}
		f.opts.Agents().Ask, f.opts.Agents().Notify = t.Consent, f.notify
	}
	if err := f.begin(ctx, asker); err != nil {
		return err
	}
	f.session.AddContext(ctx, f.startContext)
	app := f.commands(t, t.Show)
	if r.Options.Flags.AskTrust {
		app.Questions.Permit = project.Permit(r.Options, t, r.notify)
	}
	t.Expand = input.Chain(commands.Step(app), f.references)
	t.Run = report.FailTruncated(f.say)
	return t.Serve(ctx, report.Init{Model: f.session.Models.Router.Shown()})
}
