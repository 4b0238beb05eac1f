// Package steer passes messages of the user to the working model: a [Hint] goes with the next
// request, and the work is not interrupted.
//
// # For front ends
//
// The reader of the user's input calls [Hints.Add], on any goroutine, during the Run. The Run
// that [Hints.Run] returns reports the hints of a request by an [engine.Notice] whose cause is a
// [*GivenHints]. After the Run, [Hints.Take] returns the hints that came too late. They are the
// next prompt or, if the user has stopped the Run, the REPL lists them as kept.
//
// # A hint is sent once
//
// A hint is either in the history and the journal, or it is returned by Take. It goes with a
// request that follows calls. The first request of a Run takes no hint, since its question is
// removed if the request fails.
package steer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// A Hint is a message of the user during a Run.
type Hint struct {
	ID   string // the front end's id for the hint
	Text string
}

// Hints are the pending hints of a conversation. They are safe for concurrent use. A nil Hints is
// empty.
type Hints struct {
	mu      sync.Mutex
	waiting []Hint
	refused []Hint // the check of Run has refused them
}

// Add has h sent with the next request that follows calls.
func (s *Hints) Add(h Hint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, h)
}

// Take removes and returns the pending hints.
func (s *Hints) Take() []Hint {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	hs := s.waiting
	s.waiting = nil
	return hs
}

// Drop removes the pending hints with an id, and reports whether there were any.
func (s *Hints) Drop(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := len(s.waiting)
	s.waiting = slices.DeleteFunc(s.waiting, func(h Hint) bool { return h.ID == id })
	return len(s.waiting) < all
}

// Refused reports whether the check of Run has refused a hint with an id.
func (s *Hints) Refused(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.refused, func(h Hint) bool { return h.ID == id })
}

// A GivenHints is the cause of a [engine.Notice] that the request about to be made has hints.
type GivenHints struct{ Hints []Hint }

// Error lists the hints, on one line.
func (g *GivenHints) Error() string {
	var texts []string
	for _, h := range g.Hints {
		texts = append(texts, text.Words(h.Text))
	}
	return "the model is told: " + strings.Join(texts, "; ")
}

// An Interjector accepts messages during its Run, as an [engine.Engine] does.
type Interjector interface {
	Interject(emit func(engine.Event) error, parts ...*genai.Part) error
}

// Run returns a Run around run, the Run of c, that gives the hints to the model. Check, if not
// nil, returns a text to append to a hint, and whether the hint is given.
func (s *Hints) Run(c Interjector, run engine.Run, check func(context.Context, string) (more string, ok bool)) engine.Run {
	if s == nil {
		return run
	}
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		first := true
		for ev, err := range run(ctx, parts...) {
			if _, ok := ev.(engine.RequestStarted); ok {
				if !first && !s.give(ctx, c, yield, check) {
					return
				}
				first = false
			}
			if !yield(ev, err) {
				return
			}
		}
	})
}

// give gives the pending hints to the model, and reports whether the consumer continues.
func (s *Hints) give(ctx context.Context, c Interjector, yield engine.Yield,
	check func(context.Context, string) (string, bool)) bool {
	var added []*genai.Part
	hs := slices.DeleteFunc(s.Take(), func(h Hint) bool {
		if check == nil {
			return false
		}
		more, ok := check(ctx, h.Text)
		switch {
		case !ok:
			s.mu.Lock()
			s.refused = append(s.refused, h)
			s.mu.Unlock()
		case more != "":
			added = append(added, genai.NewPartFromText(more))
		}
		return !ok
	})
	if len(hs) == 0 {
		return true
	}
	left := fmt.Errorf("nobody listens")
	emit := func(ev engine.Event) error {
		if !yield(ev, nil) {
			return left
		}
		return nil
	}
	if c.Interject(emit, append([]*genai.Part{HintPart(hs...)}, added...)...) != nil {
		return false
	}
	g := &GivenHints{hs}
	return emit(engine.Notice{Text: g.Error(), Cause: g, Info: true}) == nil
}

// The text around hints, as the Gemini CLI has it.
const (
	opening = "User hints:\n<user_input>\n"
	closing = "\n</user_input>\n\n"
	advice  = "The user has said this while you were working. Find out for each hint what it is: ADD_TASK, MODIFY_TASK, CANCEL_TASK or EXTRA_CONTEXT. " +
		"Change your plan by no more than it asks for, say in one short sentence that you have read it, and go on working."
)

// HintPart returns the part that tells the model of hints.
func HintPart(hs ...Hint) *genai.Part {
	var b strings.Builder
	b.WriteString(opening)
	for i, h := range hs {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("- " + strings.ReplaceAll(strings.TrimSpace(h.Text), "\n", "\n  "))
	}
	return genai.NewPartFromText(b.String() + closing + advice)
}

// HintLines returns the hints in a text of the user, one per line, "" if it has none.
func HintLines(text string) string {
	hints, ok := strings.CutPrefix(text, opening)
	hints, _, whole := strings.Cut(hints, closing)
	if !ok || !whole {
		return ""
	}
	return hints
}
