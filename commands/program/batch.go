package program

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"gemline/commands/program/project"
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
func (r *run) batch(ctx context.Context) (err error) {
	p, err := r.openProject()
	if err != nil {
		return err
	}
	defer p.Close()
	source, err := batch.Open(r.opts.Flags.Batch, r.opts.Env.Process.Stdin)
	if err != nil {
		return err
	}
	out, err := batch.Create(r.opts.Flags.Output, r.opts.Env.Process.Stdout, source)
	if err != nil {
		return err
	}
	defer func() {
		left, ferr := out.Finish(err == nil || errors.Is(err, batch.ErrFailed))
		if left != "" {
			r.notify("the output so far is in " + left)
		}
		if ferr != nil {
			err = cmp.Or(err, unwritten(ferr))
		}
	}()
	c := batch.Config{
		Source: source, Format: cmp.Or(batch.Format(r.opts.Flags.BatchFormat), batch.FormatOf(r.opts.Flags.Batch)),
		State: batch.StateFile{File: r.opts.Flags.BatchState, Fresh: r.opts.Flags.BatchFresh},
		Key:   batch.Key(r.opts.Paths.Cwd, p.model.resolve(p.opts.Settings.Model), r.opts.Settings.ApprovalMode, shape(r.schema, r.opts.Flags), r.opts.Flags.BatchAPI),
		Jobs:  r.opts.Flags.Jobs, Unordered: r.opts.Flags.Unordered,
		Ask:    func(ctx context.Context, t batch.Task) error { return r.item(ctx, p, t) },
		Schema: func(it batch.Item) (*report.OutputSchema, error) { return itemSchema(r.opts.Flags, it) },
		Errors: batch.Errors{Spent: spent, Refused: refused, Outcome: r.outcome}, Tally: r.count,
		Out: out, Broken: r.broken, Notify: batch.Notes(r.opts.Env.Process.Stderr, "", r.opts.Flags.Quiet), Quiet: r.opts.Flags.Quiet,
	}
	r.count.Cost = p.model.cost
	if r.store.Temp != "" {
		c.State.Dir = filepath.Join(r.store.Temp, "batches")
	}
	if r.opts.Flags.BatchAPI {
		g, err := p.model.service()
		if err != nil {
			return err
		}
		defer g.Close()
		c.Service = g
	}
	if _, auto := p.model.presets.Auto(p.opts.Settings.Model); auto && p.opts.Settings.Routing && !r.opts.Flags.BatchAPI {
		c.Notify("batch: model auto makes two requests for each item; -m NAME makes one")
	}
	return batch.Run(ctx, c)
}

// item answers one item of a batch, in a conversation of its own.
func (r *run) item(ctx context.Context, p *Project, t batch.Task) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &crash{value: v}
		}
	}()
	s, err := p.Begin(ctx, Choice{OpenOptions: project.Chosen(r.opts), Model: t.Item.Model, MaxTurns: t.Item.MaxTurns,
		System: t.Item.System, Generator: t.Generator, Trial: t.Trial,
		Limits: &limit.Config{Tokens: t.Item.MaxTokens,
			Calls: cmp.Or(t.Item.MaxToolCalls, r.opts.Flags.MaxToolCalls), Time: cmp.Or(t.Item.Timeout,
				time.Duration(r.opts.Flags.Timeout))},
		Schema: t.Schema, Tally: t.Tally, Notify: r.opts.Redacting(func(text string) { t.Reporter.Event(engine.Notice{Text: text}) })})
	if err != nil {
		return err
	}
	defer s.Close()
	f := frontendOf(r, s)
	if err := f.files().Check(ctx, t.Item.Files); err != nil {
		return err
	}
	defer s.end(ctx, "exit")
	return f.reply(ctx, t.Reporter, t.Tally, report.Prompt{Text: t.Item.Text(), Context: s.start(ctx, "startup")})
}

// shape tells what answers must hold.
func shape(d *report.OutputSchema, f *flags.Set) string {
	if d != nil && d.Schema != nil {
		return string(d.Schema.JSON())
	}
	return fmt.Sprint(f.Extract)
}

// spent reports whether a request was not made because nothing is left.
func spent(err error) bool {
	var over *limit.Error
	return errors.As(err, &over) && over.Unsent
}

// refused reports whether the model's server refuses the key, or has no credit for it.
func refused(err error) bool {
	var e *model.Error
	var none *auth.Error
	return errors.As(err, &none) || errors.As(err, &e) && e.Kind == model.Auth
}

// itemSchema returns what the answer to an item of a batch must hold.
func itemSchema(all *flags.Set, it batch.Item) (d *report.OutputSchema, err error) {
	f := *all
	if len(it.Schema) > 0 {
		f.JSONSchema = string(it.Schema)
		json.Unmarshal(it.Schema, &f.JSONSchema) // a text names a file
	}
	if d, err = outputSchema(&f); err != nil {
		return nil, &input.Error{Message: fmt.Sprintf("line %d: %v", it.Line, err)}
	}
	if all.BatchAPI && d != nil {
		d.Repairs = 0 // each item has one request
	}
	return d, nil
}
