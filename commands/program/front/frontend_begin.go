package front

import (
	"context"
	"slices"

	"google.golang.org/genai"

	"gemline/commands/program/ending"
	"gemline/commands/program/project"
	"gemline/commands/program/session"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/repl/input"
)

// begin opens the project and begins the conversation that the command line names.
func (f *frontend) begin(ctx context.Context, approver engine.Approver) error {
	p, err := f.run.openProject()
	if err != nil {
		return err
	}
	f.closers = append(f.closers, p.Close)
	return f.beginIn(ctx, p, project.SessionToOpen(f.opts), approver)
}

// beginIn begins a conversation in p.
func (f *frontend) beginIn(ctx context.Context, p *project.Project, c journal.OpenOptions, approver engine.Approver) error {
	s, err := session.Begin(ctx, p, session.Config{Open: c, Schema: f.run.schema, Tally: ending.NewTally(), Approver: f.run.count.Asking(approver)})
	if err != nil {
		return err
	}
	f.setSession(s)
	f.confirm = confirmBy(approver)
	f.closers = append(f.closers, f.prune, func() { f.session.Close() }, func() {
		if !f.discard {
			f.session.Summarize(ctx)
		}
		f.session.RunEndHooks(ctx, "exit")
	})
	f.startContext = s.RunStartHooks(ctx, s.Journal.Source())
	return nil
}

// confirmBy returns a confirm that asks an Approver, nil without an Approver.
func confirmBy(asker engine.Approver) confirm {
	if asker == nil {
		return nil
	}
	return func(ctx context.Context, about string) (bool, error) {
		const name = "command"
		answer, err := asker.Approve(ctx, engine.Proposal{ID: name,
			Tool:   engine.Tool{Declaration: &genai.FunctionDeclaration{Name: name}},
			Intent: engine.Intent{Questions: []engine.Question{{Text: about, Kind: engine.YesNo}}}})
		switch a := answer.(type) {
		case engine.Replied:
			return len(a.Replies) == 1 && a.Replies[0] == engine.Yes, err
		case engine.Unasked:
			return false, &input.Error{Message: "nobody could be asked: " + about, Advice: a.Advice}
		}
		return false, err
	}
}

// close ends the conversation and closes the project.
func (f *frontend) close() {
	for _, end := range slices.Backward(f.closers) {
		end()
	}
}
