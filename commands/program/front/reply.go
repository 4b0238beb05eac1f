package front

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gemline/commands"
	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/input"
	"gemline/repl/report"
)

// reply answers the prompt of a one-shot run, and counts its use in count.
func (f *frontend) reply(ctx context.Context, reporter report.Reporter, count *tally.Tally, p report.Prompt) error {
	f.session.Project.MCP.Await(ctx, f.session.Project.Status.PrintInfo) // the prompts of servers are commands
	app := f.commands(report.CommandWriter(reporter), func(ev engine.Event) {
		count.Observe(ev, time.Now())
		reporter.Event(ev)
	})
	app.Restart, app.Sessions.Resume = nil, nil // one prompt has nothing to forget, and shares the budget of the run
	ask := f.session.PromptRun()                // for a schema, it may be called again
	if f.session.Config.Schema == nil {         // the check of a schema reports a missing part better
		ask = report.FailTruncated(ask)
	}
	ask = report.WithWaitingNotices(ask, f.session.Project.Model.LastHeard, reporter.Event)
	runner := &report.OneShot{Model: f.session.Models.Router.Shown(), Reporter: reporter, Tally: count,
		Session: f.session.Journal.File.ID(), Now: time.Now, FailOnDeny: f.opts.Flags.FailOnDeny,
		NoRestart: f.opts.Flags.Stream == "token" && !f.opts.Flags.AllowRestart && f.run.printsText(f.session.Config.Schema) && !isTerminal(f.opts.Env.Process.Stdout),
		Ask:       ask, Schema: f.session.Config.Schema, Expand: input.Chain(commands.Step(app), f.references)}
	if err := runner.Run(ctx, p); err != nil && !errors.Is(err, input.ErrQuit) {
		return err
	}
	if dir := f.session.Tools.Rehearsal.ApplyDir(); dir != "" {
		f.notify(fmt.Sprintf("the patch edits files outside of this directory: apply it in %s", dir))
	}
	return nil
}
