package repl

import (
	"context"
	"strings"

	"gemline/engine/text"
	"gemline/repl/internal/line"
	"gemline/repl/output"
)

// A LineAction is what becomes of a line that is typed during a turn.
type LineAction = line.LineAction

// Steering is how the model is told what the user types while it works.
type Steering struct {
	// Hint has the model be told with the next request, on any goroutine.
	Hint func(text string)

	// Late returns what came too late for that.
	Late func() []string
}

// numericAnswer matches an answer of numbers alone, which means nothing to the model.
var numericAnswer = text.Pattern(`^[0-9, ]*$`)

// isAnswer reports whether a line is no more than an answer, for which a question was
// expected.
func isAnswer(s string) bool {
	c, ok := parseAnswer(s, nil)
	return ok && c.note == "" || numericAnswer().MatchString(s)
}

// typed decides about lines that were typed during a turn, and says so.
func (r *REPL) typed(lines []string) []LineAction {
	const most = 300 // characters of a line that are shown
	fates := make([]LineAction, len(lines))
	for i, l := range lines {
		l = strings.TrimSpace(l)
		said := output.EscapeLine(text.Shorten(l, most))
		switch {
		case isAnswer(l): // as it would be without anybody who listens
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

// queueLateHints makes hints that came too late the next prompts. If the turn has failed they
// wait for Enter, and the end of the turn says so.
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

// handOver passes on queued lines if the terminal is not read any more: if the session has left the
// terminal, the lines are its next prompts; if the session ends, they go to the history.
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
