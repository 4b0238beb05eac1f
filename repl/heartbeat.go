package repl

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"google.golang.org/genai"

	"gemline/repl/output"
)

// While nothing else is shown, a line says that work goes on.
const (
	firstBeat = 10 * time.Second
	nextBeat  = 30 * time.Second
)

// longTurn is how long a turn takes at least whose end calls for attention.
const longTurn = 5 * time.Second

// A desk is where a turn that runs beside the terminal's goroutine brings what
// it has to show or to ask.
type desk chan func()

// do has the terminal's goroutine call f, and waits for it.
func (d desk) do(f func()) {
	done := make(chan struct{})
	d <- func() { defer close(done); f() }
	<-done
}

// turn runs parts through the engine and shows what happens. What went wrong
// is told, and is its error, unless the user stopped the turn.
func (r *REPL) turn(ctx context.Context, parts []*genai.Part) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d := make(desk)
	if r.Asker != nil {
		r.Asker.desk = d
		defer func() { r.Asker.desk = nil }()
	}
	began := time.Now()
	r.Printer.Begin(began)
	var failure error
	var fallen any
	go func() {
		defer close(d)
		defer func() {
			if v := recover(); v != nil {
				fallen = fmt.Sprintf("%v\n%s", v, debug.Stack())
			}
		}()
		for ev, err := range r.Run(inner, parts...) {
			if err != nil {
				failure = err
				continue // it is the last
			}
			d.do(func() { r.Printer.Print(ev, time.Now()) })
		}
	}()
	r.attend(d, cancel)
	if fallen != nil {
		panic(fallen) // on the goroutine whose caller can recover
	}
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
		return nil // the done line has said it
	}
	if now.Sub(began) >= longTurn && ctx.Err() == nil {
		event := "done"
		if failure != nil {
			event = "failed"
		}
		r.attention(event, fmt.Sprintf("%s: %s", event, r.Printer.Tally.Span(now)))
	}
	return failure
}

// attend does what the turn asks for until it is over.
func (r *REPL) attend(d desk, cancel context.CancelCauseFunc) {
	beat := time.NewTimer(firstBeat)
	defer beat.Stop()
	start, stopping := time.Now(), false
	beaten := start.Add(firstBeat - nextBeat) // so that the first one may come early
	for {
		select {
		case f, ok := <-d:
			if !ok {
				return
			}
			shown, began := r.Printer.Shown(), time.Now()
			f()
			if r.Printer.Shown() != shown || time.Since(began) > time.Second { // it showed or asked
				beat.Reset(max(firstBeat, nextBeat-time.Since(beaten)))
			}
		case <-r.Interrupts:
			r.Out.Touched()
			if stopping {
				r.Out.Line(output.Progress, "still stopping, %s", r.Printer.Doing())
			}
			stopping = true
			cancel(errInterrupt)
		case <-beat.C:
			beaten = time.Now()
			r.Printer.Beat(beaten)
			beat.Reset(nextBeat)
		}
	}
}
