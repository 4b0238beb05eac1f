package front

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"gemline/commands/program/ending"
	"gemline/commands/program/project"
	"gemline/commands/program/session"
	"gemline/engine"
	"gemline/engine/auth"
	"gemline/engine/limit"
	"gemline/engine/model"
	"gemline/repl/batch"
	"gemline/repl/input"
	"gemline/repl/report"
	"gemline/settings/flags"
)

// batch answers the prompts of a file.
func (r *Run) batch(ctx context.Context) (err error) {
	p, err := r.openProject()
	if err != nil {
		return err
	}
	defer p.Close()
	source, err := batch.Open(r.Options.Flags.Batch, r.Options.Env.Process.Stdin)
	if err != nil {
		return err
	}
	out, err := batch.Create(r.Options.Flags.Output, r.Options.Env.Process.Stdout, source)
	if err != nil {
		return err
	}
	defer func() {
		left, ferr := out.Finish(err == nil || errors.Is(err, batch.ErrFailed))
		if left != "" {
			r.notify("the output so far is in " + left)
		}
		if ferr != nil {
			err = cmp.Or(err, ending.OutputError(ferr))
		}
	}()
	c := batch.Config{
		Source: source, Format: cmp.Or(batch.Format(r.Options.Flags.BatchFormat), batch.FormatOf(r.Options.Flags.Batch)),
		State: batch.StateFile{File: r.Options.Flags.BatchState, Fresh: r.Options.Flags.BatchFresh},
		Key:   batch.Key(r.Options.Paths.Cwd, p.Model.Resolve(p.Options.Settings.Model), r.Options.Settings.ApprovalMode, schemaKey(r.schema, r.Options.Flags), r.Options.Flags.BatchAPI),
		Jobs:  r.Options.Flags.Jobs, Unordered: r.Options.Flags.Unordered,
		Ask:    func(ctx context.Context, t batch.Task) error { return r.batchItem(ctx, p, t) },
		Schema: func(it batch.Item) (*report.OutputSchema, error) { return itemSchema(r.Options.Flags, it) },
		Errors: batch.Errors{Spent: isOverBudget, Refused: isRefused, Outcome: r.outcome}, Tally: r.count,
		Out: out, Broken: r.onBroken, Notify: batch.NoteWriter(r.Options.Env.Process.Stderr, "", r.Options.Flags.Quiet), Quiet: r.Options.Flags.Quiet,
	}
	r.count.Cost = p.Model.Cost
	if r.store.Temp != "" {
		c.State.Dir = filepath.Join(r.store.Temp, "batches")
	}
	if r.Options.Flags.BatchAPI {
		g, err := p.Model.BatchAPI()
		if err != nil {
			return err
		}
		defer g.Close()
		c.Service = g
	}
	if _, auto := p.Model.Presets.Auto(p.Options.Settings.Model); auto && p.Options.Settings.Routing && !r.Options.Flags.BatchAPI {
		c.Notify("batch: model auto makes two requests for each item; -m NAME makes one")
	}
	return batch.Run(ctx, c)
}

// batchItem answers one item of a batch, in a separate conversation.
func (r *Run) batchItem(ctx context.Context, p *project.Project, t batch.Task) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &ending.Crash{Value: v}
		}
	}()
	s, err := session.Begin(ctx, p, session.Config{Open: project.SessionToOpen(r.Options), Model: t.Item.Model, MaxTurns: t.Item.MaxTurns,
		System: t.Item.System, Generator: t.Generator, Trial: t.Trial,
		Limits: &limit.Config{Tokens: t.Item.MaxTokens,
			Calls: cmp.Or(t.Item.MaxToolCalls, r.Options.Flags.MaxToolCalls), Time: cmp.Or(t.Item.Timeout,
				time.Duration(r.Options.Flags.Timeout))},
		Schema: t.Schema, Tally: t.Tally, Notify: r.Options.Redacting(func(text string) { t.Reporter.Event(engine.Notice{Text: text}) })})
	if err != nil {
		return err
	}
	defer s.Close()
	f := frontendOf(r, s)
	if err := f.files().Check(ctx, t.Item.Files); err != nil {
		return err
	}
	defer s.RunEndHooks(ctx, "exit")
	return f.reply(ctx, t.Reporter, t.Tally, report.Prompt{Text: t.Item.Text(), Context: s.RunStartHooks(ctx, "startup")})
}

// schemaKey returns the schema of answers, as a part of the key of a batch.
func schemaKey(d *report.OutputSchema, f *flags.Set) string {
	if d != nil && d.Schema != nil {
		return string(d.Schema.JSON())
	}
	return fmt.Sprint(f.Extract)
}

// isOverBudget reports whether a request was not made because the budget is used up.
func isOverBudget(err error) bool {
	var over *limit.Error
	return errors.As(err, &over) && over.Unsent
}

// isRefused reports whether the model's server refuses the key, or has no credit for it.
func isRefused(err error) bool {
	var e *model.Error
	var none *auth.Error
	return errors.As(err, &none) || errors.As(err, &e) && e.Kind == model.Auth
}

// itemSchema returns the schema for the answer to an item of a batch.
func itemSchema(all *flags.Set, it batch.Item) (d *report.OutputSchema, err error) {
	f := *all
	if len(it.Schema) > 0 {
		f.JSONSchema = string(it.Schema)
		json.Unmarshal(it.Schema, &f.JSONSchema) // a JSON string names a file
	}
	if d, err = outputSchema(&f); err != nil {
		return nil, &input.Error{Message: fmt.Sprintf("line %d: %v", it.Line, err)}
	}
	if all.BatchAPI && d != nil {
		d.Repairs = 0 // each item has one request
	}
	return d, nil
}
