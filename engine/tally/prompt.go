package tally

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/text"
)

// A prompt holds the counts of the current prompt.
type prompt struct {
	span    Span
	start   time.Time
	idle    time.Duration // while the user was asked
	changed map[string]bool
	used    []engine.Usage
}

// Span returns the work since [Tally.Start], as of now, without the time in which the user is asked.
func (t *Tally) Span(now time.Time) Span {
	p := &t.prompt
	s := p.span
	if !p.start.IsZero() {
		s.Took = max(0, elapsed(p.start, now)-p.idle)
	}
	if c := t.cost(p.used); c != nil {
		s.Cost = text.Money(c.USD)
	}
	return s
}

// finished counts a call that is over.
func (p *prompt) finished(ev engine.CallFinished) {
	p.span.Calls++
	var ce *engine.CallError
	switch {
	case errors.Is(ev.Err, engine.ErrRefused):
		p.span.Refused++
	case errors.As(ev.Err, &ce) && ce.Type == engine.PolicyViolation:
		p.span.Denied++
	case engine.Outcome(ev.Err) == engine.Cancelled:
		p.span.Cancelled++
	case ev.Err != nil:
		p.span.Failed++
	}
	for _, c := range ev.Result.Changes {
		put(&p.changed, c.Path, true)
	}
	p.span.Files = len(p.changed)
}

// A Span is the work for one prompt.
type Span struct {
	Took   time.Duration
	Calls  int // of tools
	Files  int // that were changed
	Tokens int
	Cost   string // in words; empty if it is not known
	Check  string // how the last check of the work went; empty if there was none

	Failed, Denied, Refused, Cancelled int // of Calls

	brief bool // times under a second are omitted
}

// String returns the span as the line at the end of a turn, such as "12 s, 3
// tools, 2 files changed, 8,412 tokens". Zeros are left out.
func (s Span) String() string {
	parts := []string{Duration(s.Took)}
	if s.Calls > 0 {
		tools := text.Count(s.Calls, "tool")
		var odd []string
		for _, o := range []struct {
			n    int
			what string
		}{{s.Failed, "failed"}, {s.Denied, "denied"}, {s.Refused, "refused"}, {s.Cancelled, "cancelled"}} {
			if o.n > 0 {
				odd = append(odd, fmt.Sprintf("%d %s", o.n, o.what))
			}
		}
		if odd != nil {
			tools += " (" + strings.Join(odd, ", ") + ")"
		}
		parts = append(parts, tools)
	}
	if s.Files > 0 {
		parts = append(parts, text.Count(s.Files, "file")+" changed")
	}
	if s.Check != "" {
		parts = append(parts, "check "+s.Check)
	}
	if s.Tokens > 0 {
		parts = append(parts, text.Count(s.Tokens, "token"))
	}
	if s.Cost != "" {
		parts = append(parts, s.Cost)
	}
	if s.brief && len(parts) > 1 {
		parts = parts[1:]
	}
	return strings.Join(parts, ", ")
}

// Brief returns the span without the only tool, if its call succeeded, and without a time under a
// second: a user of a screen reader has just heard both.
func (s Span) Brief() Span {
	if s.Calls == 1 && s.Failed+s.Denied+s.Refused+s.Cancelled == 0 {
		s.Calls = 0
	}
	s.brief = s.Took < time.Second
	return s
}
