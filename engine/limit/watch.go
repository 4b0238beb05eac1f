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

// Watch returns a Run that yields what run does, and ends when a limit is
// reached. Its error is then an [*Error], also where ctx has one as its cause.
//
// When a message wants more calls than are left, none of its calls is made;
// each is told as finished, with an error that is a cancellation.
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

// watch yields the events of run. Its error is still to be yielded; it is nil if
// the consumer has left.
func (b *Budget) watch(ctx context.Context, run iter.Seq2[engine.Event, error],
	yield func(engine.Event, error) bool) error {
	var cut, over error
	var wanted []engine.CallRequested // by the last message, while none has begun
	begun := false                    // a call has begun; a hook's replacement for a call is not wanted by the model
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
		case engine.CallFinished: // perhaps the call of an agent, which a limit stopped
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

// because returns err, or the error of the limit if a limit ended ctx.
func because(ctx context.Context, err error) error {
	var late *Error
	if errors.Is(err, ctx.Err()) && errors.As(context.Cause(ctx), &late) {
		return late
	}
	return err
}

// claim takes n calls from the rest, if there are so many.
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
