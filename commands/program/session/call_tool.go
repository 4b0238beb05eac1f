package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/text"
)

// CallTool carries out a call of a client program, as one prompt. The call is added to the
// conversation if it may have changed something, or if the model knows of the program's calls
// (known).
func (s *Session) CallTool(ctx context.Context, title string, t engine.Tool, args map[string]any,
	known bool, show func(engine.Event)) (failed error) {
	run := engine.NewRun(func(ctx context.Context, _ []*genai.Part, yield engine.Yield) {
		over, left := false, errors.New("nobody listens")
		_, err := s.Engine.RunCall(ctx, t.Name(), args, func(ev engine.Event) error {
			f, ok := ev.(engine.CallFinished)
			if ok && (known || !t.Kind.ReadOnly()) {
				if err := s.Engine.Add(ctx, genai.NewPartFromText(callNote(title, f))); err != nil {
					s.Notices.Notify(err.Error())
				}
			}
			if over = over || ok; !yield(ev, nil) {
				return left
			}
			return nil
		})
		if err != nil && !over && err != left {
			yield(nil, err)
		}
	})
	run = s.Keeper.Run(s.Models.withinBudget(s.Models.recorder.Run(journal.SyncRun(run, s.Journal.sync))))
	for ev, err := range run(ctx, genai.NewPartFromText(title)) {
		if err != nil {
			return err
		}
		s.Config.Tally.Observe(ev, time.Now())
		show(ev)
	}
	return nil
}

// callNote returns the message that tells the model about a client's call.
func callNote(title string, f engine.CallFinished) string {
	const most = 10_000 // characters
	args, _ := text.JSON(f.Args, "")
	said := f.Result.Text
	if f.Err != nil {
		said += "\n" + f.Err.Error()
	}
	return fmt.Sprintf("(%s) %s %s\n\nIt gave:\n%s", title, f.Name, args, text.Shorten(said, most))
}
