package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/text"
)

const (
	// summedUp is how many turns a session has at least that is summed up in a line: one
	// of fewer is known by its first question.
	summedUp = 3
)

// sumUp has a small model say in a line what was talked about, "" if it does not in a
// moment.
func (s *Session) sumUp(ctx context.Context, turns []journal.Turn) (line string) {
	const most, length = 10, 500 // turns, and letters of each text
	if n := len(turns); n > most {
		turns = slices.Concat(turns[:most/2], turns[n-most/2:])
	}
	var b strings.Builder
	for _, t := range turns {
		fmt.Fprintf(&b, "User: %s\n\nModel: %s\n\n", text.Shorten(t.Question, length), text.Shorten(t.Answer, length))
	}
	s.Project.Status.Wait(ctx, func() string { return "summing up the session" }, func(ctx context.Context, _ func(func())) {
		said := s.Models.sumUp(ctx, s.Project.Options.Secrets.Text(b.String()), func(ev engine.Event) { s.Tally.Observe(ev, time.Now()) })
		line = s.Project.Options.Secrets.Text(strings.Trim(strings.TrimSpace(said), `"'`))
	})
	return line
}

// Summarize says in the session's file what it was about, where a person has held it and
// nobody has said so.
func (s *Session) Summarize(ctx context.Context) {
	turns := journal.Turns(s.Engine.History())
	if !s.Project.Options.User.Interactive || s.Trial || s.Generator != nil || s.Project.Store.Temp == "" || ctx.Err() != nil ||
		s.Chat.File.Titled() || len(turns) < summedUp {
		return
	}
	if line := s.sumUp(ctx, turns); line != "" {
		if err := s.Chat.File.SetSummary(line); err != nil {
			s.Notices.Notify(fmt.Sprintf("the summary of the session is not kept: %v", err))
		}
	}
}

// SummarizeListed does the same for the newest of other sessions that lacks it, which was
// killed perhaps.
func (s *Session) SummarizeListed(ctx context.Context, list []journal.Session) {
	for _, other := range slices.Backward(list) {
		if other.Summary != "" || other.Messages < 2*summedUp || other.ID == s.Chat.File.ID() ||
			strings.HasSuffix(other.Path, ".json") {
			continue
		}
		if talk, err := journal.Load(other.Path); err == nil {
			if line := s.sumUp(ctx, journal.Turns(talk.History)); line != "" {
				journal.Summarize(other, line) // whoever works with it does it at its end
			}
		}
		return
	}
}
