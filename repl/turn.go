package repl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genai"

	"gemline/repl/internal/turn"
	"gemline/repl/output"
)

// While nothing else is printed, a progress line appears at these intervals.
const (
	firstProgress = 10 * time.Second
	nextProgress  = 30 * time.Second
)

// longTurn is the least duration of a turn whose end calls for attention.
const longTurn = 5 * time.Second

// turn sends parts to the engine and prints the events. It prints and returns an error, unless the
// user stopped the turn.
func (r *REPL) turn(ctx context.Context, parts []*genai.Part) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d := make(turn.Desk)
	if r.Asker != nil {
		r.Asker.desk, r.Asker.agent = d, r.Printer.turn.agents.asking
		defer func() { r.Asker.desk, r.Asker.agent = nil, nil }()
	}
	began := time.Now()
	r.Printer.Begin(began)
	var failure error
	var queued []string
	d.Beside(func() {
		for ev, err := range r.Run(inner, parts...) {
			if err != nil {
				failure = err
				continue // the last event
			}
			d.Do(func() { r.Printer.Print(ev, time.Now()) })
		}
	}, func() {
		came, stop := r.Console.Terminal.Listen(r.typed)
		defer func() { queued = stop() }()
		r.attend(d, came, cancel)
	})
	r.queueLateHints(failure != nil)
	r.handOver(ctx, queued)
	if failure != nil && ctx.Err() == nil &&
		(errors.Is(failure, errInterrupt) || errors.Is(context.Cause(inner), errInterrupt)) {
		failure = errInterrupt
	}
	if failure != nil && !errors.Is(failure, errInterrupt) && ctx.Err() == nil {
		r.Printer.settle()
		r.report(failure)
	}
	now := time.Now()
	r.Printer.End(failure, now)
	if r.stopped = errors.Is(failure, errInterrupt); r.stopped {
		return nil // the done line has said so
	}
	if now.Sub(began) >= longTurn && ctx.Err() == nil {
		event := "done"
		if failure != nil {
			event = "failed"
		}
		r.Console.Notifier.Notify(Alert{Event: event, Text: fmt.Sprintf("%s: %s", event, r.Printer.Tally.Span(now))})
	}
	return failure
}

// attend serves the requests of a turn until the turn ends.
func (r *REPL) attend(d turn.Desk, typed <-chan struct{}, cancel context.CancelCauseFunc) {
	progress := time.NewTimer(firstProgress)
	defer progress.Stop()
	start, stopping := time.Now(), false
	told := start.Add(firstProgress - nextProgress) // so that the first line comes early
	for {
		select {
		case f, ok := <-d:
			if !ok {
				return
			}
			shown, began := r.Printer.shown, time.Now()
			f()
			if r.Printer.shown != shown || time.Since(began) > time.Second { // it printed or asked
				progress.Reset(max(firstProgress, nextProgress-time.Since(told)))
			}
		case <-typed:
			r.Console.Terminal.HandleTyped()
		case s := <-r.Console.Sharing.sent():
			r.takeSent(s)
		case <-r.Console.Interrupts:
			r.Console.Out.Touched()
			if stopping {
				r.Console.Out.Line(output.Progress, "still stopping, %s", r.Printer.WaitingFor())
			}
			stopping = true
			cancel(errInterrupt)
		case <-progress.C:
			told = time.Now()
			r.Printer.Progress(told)
			progress.Reset(nextProgress)
		}
	}
}
