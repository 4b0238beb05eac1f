package limit

import (
	"context"
	"errors"
	"iter"
	"strconv"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// Watch returns a Run that yields the events of run, and ends when a limit is reached. Its error
// is then an [*Error], also if an [*Error] is the cause of ctx.
//
// If a message requests more calls than remain, none of its calls runs; each is reported as
// finished, with an error that is a cancellation.
func (b *Budget) Watch(run engine.Run) engine.Run {
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		if d := b.cfg.Time; d > 0 {
			late := Timeout(d)
			late.Advice = "--timeout sets how long an answer may take"
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, d, late)
			defer cancel()
		}
		if err := b.watch(ctx, run(ctx, parts...), yield); err != nil {
			yield(nil, err)
		}
	})
}

// watch yields the events of run. The caller yields its error, which is nil if the consumer has
// left.
func (b *Budget) watch(ctx context.Context, run iter.Seq2[engine.Event, error],
	yield func(engine.Event, error) bool) error {
	var cut, over error
	var wanted []engine.CallRequested // requested by the last message, if none has begun
	begun := false                    // a call has begun; later calls are replacements by hooks, not requests of the model
	for ev, err := range run {
		if err != nil {
			return because(ctx, err)
		}
		switch ev := ev.(type) {
		case engine.RequestStarted:
			if over != nil {
				return over
			}
			cut, wanted, begun = nil, nil, false
		case engine.CallFinished: // perhaps the call of an agent that a limit stopped
			if by := (*Error)(nil); errors.As(ev.Err, &by) {
				over = by
			}
		case engine.Notice:
			if by := (*Error)(nil); errors.As(ev.Cause, &by) {
				cut = by
				continue
			}
		case engine.CallRequested:
			if !begun {
				wanted = append(wanted, ev)
			}
		case engine.CallStateChanged:
			if len(wanted) == 0 || ev.State != engine.Validating {
				break
			}
			if err := b.claim(len(wanted)); err != nil {
				// The engine sees the consumer leave when this returns.
				if !engine.NotRun(wanted, "not run: --max-tool-calls is used up", yield) {
					return nil
				}
				return err
			}
			wanted, begun = nil, true
		}
		if !yield(ev, nil) {
			return nil
		}
	}
	return cut
}

// because returns the error of the limit that ended ctx, or else err.
func because(ctx context.Context, err error) error {
	var late *Error
	if errors.Is(err, ctx.Err()) && errors.As(context.Cause(ctx), &late) {
		return late
	}
	return err
}

// claim subtracts n calls from the rest, if that suffices.
func (b *Budget) claim(n int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := b.cfg.Calls
	left := max(0, limit-b.calls)
	if limit <= 0 || n <= left {
		b.calls += n
		return nil
	}
	calls := "a call"
	if n > 1 {
		calls = text.Number(n) + " calls"
	}
	rest := "is used up"
	if left > 0 {
		rest = "leaves " + text.Number(left)
	}
	return b.cfg.stopped(Calls, "stopped: the model wants %s more, and %s %s", calls,
		quoted(Calls, strconv.Itoa(limit)), rest)
}
