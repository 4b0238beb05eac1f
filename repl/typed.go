package repl

import (
	"context"
	"strings"

	"gemline/engine/text"
	"gemline/repl/internal/line"
	"gemline/repl/output"
)

// A LineAction says how a line that was typed during a turn is handled.
type LineAction = line.LineAction

// Steering passes the user's lines to the model while it works.
type Steering struct {
	// Hint sends text to the model with the next request. It may be called on any goroutine.
	Hint func(text string)

	// Late returns the hints that came after the last request.
	Late func() []string
}

// numericAnswer matches an answer of numbers, which means nothing to the model.
var numericAnswer = text.Pattern(`^[0-9, ]*$`)

// isAnswer reports whether a line is only an answer to an expected question.
func isAnswer(s string) bool {
	c, ok := parseAnswer(s, nil)
	return ok && c.note == "" || numericAnswer().MatchString(s)
}

// typed decides about lines that were typed during a turn, and prints the decision.
func (r *REPL) typed(lines []string) []LineAction {
	const most = 300 // printed characters of a line
	fates := make([]LineAction, len(lines))
	for i, l := range lines {
		l = strings.TrimSpace(l)
		said := output.EscapeLine(text.Shorten(l, most))
		switch {
		case isAnswer(l): // treat it as without Steering
		case l == DetachCommand:
			fates[i] = line.Taken
			r.Printer.settle()
			r.Console.detach()
		case r.Steering != nil && !strings.HasPrefix(l, "/") && !strings.HasPrefix(l, "!"):
			fates[i] = line.Taken
			r.Steering.Hint(l)
			r.Printer.aside(output.Info, "hint for the next request: %s", said)
		default:
			fates[i] = line.Queued
			r.queued = true
			r.Printer.aside(output.Info, "queued: %s", said)
		}
	}
	return fates
}

// queueLateHints makes late hints the next prompts. After a failed turn they wait for Enter, as the
// end of the turn says.
func (r *REPL) queueLateHints(failed bool) {
	if r.Steering == nil {
		return
	}
	for _, l := range r.Steering.Late() {
		r.queued = true
		if r.Console.Sharing.IsLeft() {
			r.Console.Sharing.queue(l)
			continue
		}
		r.Console.Terminal.Enter(l)
		if failed {
			continue
		}
		r.Printer.settle()
		r.Console.Out.Line(output.Info, "queued, since it was too late for a hint: %s", output.EscapeLine(l))
	}
}

// handOver moves queued lines when the terminal is not read any more. If the terminal was detached,
// the lines are the next prompts; if the session ends, they go to the history.
func (r *REPL) handOver(ctx context.Context, queued []string) {
	for _, l := range queued {
		switch {
		case r.Console.Sharing.IsLeft():
			r.Console.Sharing.queue(l)
		case ctx.Err() != nil:
			r.Console.Terminal.Keep(l)
		}
	}
}
