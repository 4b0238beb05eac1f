package program

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"gemline/engine"
	"gemline/engine/limit"
	"gemline/engine/model"
	"gemline/repl"
	"gemline/repl/batch"
	"gemline/repl/input"
	"gemline/settings"
)

// demanded returns what must come of the answer to an item of a batch.
func (s *session) demanded(it batch.Item) (d *repl.Demand, err error) {
	f := *s.flags
	if len(it.Schema) > 0 {
		f.JSONSchema = string(it.Schema)
		json.Unmarshal(it.Schema, &f.JSONSchema) // a text names a file
	}
	if d, err = demand(&f); err != nil {
		return nil, &input.Error{Message: fmt.Sprintf("line %d: %v", it.Line, err)}
	}
	if s.flags.BatchAPI && d != nil {
		d.Repairs = 0 // each item has one request
	}
	return d, nil
}

// batch answers the prompts of a file.
func (s *session) batch(ctx context.Context) (err error) {
	defer s.close()
	if err := s.govern(); err != nil {
		return err
	}
	source, err := batch.Open(s.flags.Batch, s.os.Stdin)
	if err != nil {
		return err
	}
	if err := s.work(); err != nil {
		return err
	}
	if err := s.limit(); err != nil {
		return err
	}
	if err := s.ask(); err != nil {
		return err
	}
	out, err := batch.Create(s.flags.Output, s.os.Stdout, source)
	if err != nil {
		return err
	}
	defer func() {
		left, ferr := out.Finish(err == nil || errors.Is(err, batch.ErrFailed))
		if left != "" {
			s.notify("the output so far is in " + left)
		}
		if ferr != nil {
			err = cmp.Or(err, unwritten(ferr))
		}
	}()
	r := &batch.Runner{
		Source: source, Format: cmp.Or(batch.Format(s.flags.BatchFormat), batch.FormatOf(s.flags.Batch)),
		StateFile: s.flags.BatchState, Fresh: s.flags.BatchFresh,
		Key:  batch.Key(s.paths.Cwd, s.modelName(), s.settings.ApprovalMode, s.shape(), s.flags.BatchAPI),
		Jobs: s.flags.Jobs, Unordered: s.flags.Unordered,
		Ask: s.item, Demand: s.demanded, Spent: spent, Outcome: s.outcome,
		Out: out, Broken: s.broken, Notify: batch.Notes(s.os.Stderr, "", s.flags.Quiet), Quiet: s.flags.Quiet,
	}
	if s.project.Temp != "" {
		r.StateDir = filepath.Join(s.project.Temp, "batches")
	}
	if s.flags.BatchAPI {
		if r.Service, err = s.service(); err != nil {
			return err
		}
	}
	return r.Run(ctx)
}

// service returns what works on many requests by itself.
func (s *session) service() (batch.Service, error) {
	if api := s.setup.API; s.setup.Fake != "" || api.Vertex || api.CodeAssist {
		return nil, &settings.UsageError{Message: "--batch-api works with the Gemini API only, not with Vertex AI, Code Assist or a recording"}
	}
	g, err := model.NewGenai(s.setup.API)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() { g.Close() })
	return g, nil
}

// item answers one item of a batch, in a session of its own beside s: they
// share what is safe to share.
func (s *session) item(ctx context.Context, t batch.Turn) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &crash{value: v}
		}
	}()
	own := *s.settings
	own.Model, own.MaxTurns = cmp.Or(t.Model, own.Model), cmp.Or(t.MaxTurns, own.MaxTurns)
	t.Tally.Cost = s.count.Cost
	x := &session{os: s.os, secrets: s.secrets, kept: s.kept, flags: s.flags, settings: &own, trust: s.trust, dotenv: s.dotenv, paths: s.paths, project: s.project,
		count: t.Tally, policy: s.policy, workspace: s.workspace, jobs: s.jobs, shell: s.shell, pen: s.pen, web: s.web, reach: s.reach, whole: s.budget, demand: t.Demand,
		system: t.System, notify: s.redacting(func(text string) { t.Reporter.Event(engine.Notice{Text: text}) })}
	x.budget = limit.New(limit.Config{Tokens: t.MaxTokens, Calls: cmp.Or(t.MaxToolCalls, s.flags.MaxToolCalls),
		Time: cmp.Or(t.Timeout, time.Duration(s.flags.Timeout)), Resume: x.goOn})
	x.generator, x.alone, x.trial = s.generator, t.Generator != nil, t.Trial
	if x.alone {
		x.generator = t.Generator
	}
	x.generator = x.budget.Generator(x.generator)
	x.aside = x.generator
	defer x.close()
	if _, err := x.open(); err != nil {
		return err
	}
	x.equip()
	if err := x.files().Check(ctx, t.Files); err != nil {
		return err
	}
	if err := x.structure(); err != nil {
		return err
	}
	if err := x.instruct(); err != nil {
		return err
	}
	nobody := s.nobody()
	x.converse(nobody, nil)
	return x.reply(ctx, nobody, t.Reporter, repl.Prompt{Text: t.Text()})
}

// shape tells what is demanded of answers.
func (s *session) shape() string {
	if d := s.demand; d != nil && d.Schema != nil {
		return string(d.Schema.JSON())
	}
	return fmt.Sprint(s.flags.Extract)
}

// spent reports whether a request was not made because nothing is left.
func spent(err error) bool {
	var over *limit.Error
	return errors.As(err, &over) && over.Unsent
}
