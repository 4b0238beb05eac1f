package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/input"
	"gemline/repl/protocol"
	"gemline/repl/question"
)

// A Talk is a conversation with a program, in lines of JSON both ways. It is
// the engine's approver, too.
//
// Everything that is written, and everything that is known about the
// conversation, belongs to the goroutine that called Talk.Run. A turn runs
// beside it, so that a line of the input is heeded at once.
type Talk struct {
	In       io.Reader
	Reporter Reporter // one of the format stream-json
	Tally    *tally.Tally
	Now      func() time.Time
	Session  func() string // the id of the session, which a command may change
	Expand   input.Processor
	Engine   engine.Run

	// Outcome classifies how a turn ended.
	Outcome func(error) Outcome

	// Nobody answers once the input has ended.
	Nobody engine.Approver

	// FailOnDeny ends a turn with [question.ErrDenied] when a rule denies a call.
	FailOnDeny bool

	inbox   *inbox
	waiting []protocol.Line // messages whose turn has not come
	ended   bool            // no line follows
	lost    int             // lines that could not be used
	last    error           // of the last turn, unless the client stopped it

	// Of the turn that runs.
	desk   desk
	cancel context.CancelCauseFunc
	now    protocol.User
	open   *posed
	counts map[string]int // how often a call was asked about
	turns  int
}

// errStopped is the cause of a turn that the client has stopped.
var errStopped = fmt.Errorf("stopped by the client: %w", context.Canceled)

// Run answers what comes in, in the session that in is about, until the input has ended, or ctx has. Its error is
// that of the last turn, or says that lines were lost. The caller finishes the
// Reporter.
func (t *Talk) Run(ctx context.Context, in Init) error {
	t.inbox = &inbox{}
	in.Session, in.Protocol = t.Session(), protocol.Version
	t.Reporter.Begin(in)
	lines := t.inbox.open(ctx, t.In)
	for {
		if ctx.Err() != nil {
			return t.abandon(context.Cause(ctx))
		}
		if len(t.waiting) > 0 {
			next := t.waiting[0]
			t.waiting = t.waiting[1:]
			t.inbox.done(next)
			if quit := t.turn(ctx, next.Message.(protocol.User), lines); quit {
				t.abandon(errStopped)
				return t.verdict()
			}
			continue
		}
		if t.ended {
			return t.verdict()
		}
		select {
		case l, ok := <-lines:
			t.take(l, ok)
		case <-ctx.Done():
		}
	}
}

// verdict returns the error of a conversation whose input has ended. If it
// ended in a panic, that goes on here, behind the results of all messages.
func (t *Talk) verdict() error {
	t.inbox.raise()
	switch {
	case t.last != nil:
		return t.last
	case t.lost == 1:
		return &input.Error{Message: "a line of the input could not be used; a record of the type error says why"}
	case t.lost > 1:
		return &input.Error{Message: fmt.Sprintf("%d lines of the input could not be used; records of the type error say why", t.lost)}
	}
	return nil
}

// abandon ends the messages that wait, so that each has its result.
func (t *Talk) abandon(cause error) error {
	for _, l := range t.waiting {
		t.inbox.done(l)
		t.drop(l.Message.(protocol.User), cause)
	}
	t.waiting = nil
	return cause
}

// drop ends a message that no turn was made of.
func (t *Talk) drop(m protocol.User, cause error) {
	t.turns++
	t.result(m, &tally.Tally{}, 0, t.denied(), t.outcome(cause))
}

// take heeds a line of the input; not ok is its end.
func (t *Talk) take(l protocol.Line, ok bool) {
	if !ok {
		t.hangUp()
		return
	}
	switch m := l.Message.(type) {
	case protocol.User:
		t.waiting = append(t.waiting, l) // and held until its turn comes
		return
	case protocol.Approval:
		t.settle(l, m.ID, func(q *posed) (engine.Answer, string) { return q.approval(m) })
	case protocol.Answers:
		t.settle(l, m.ID, func(q *posed) (engine.Answer, string) { return q.answers(m) })
	case protocol.Cancel:
		t.stop(l, m)
	case protocol.End:
		t.hangUp()
	default:
		t.lost += max(0, l.Through-l.Number) + 1
		t.complain(l, l.ID, l.Err.Error())
	}
	t.inbox.done(l)
}

// hangUp notes that nobody answers any more: an open question is answered by
// Nobody, and the messages that wait still have their turn.
func (t *Talk) hangUp() {
	t.ended = true
	if t.open != nil {
		close(t.open.reply)
		t.open = nil
	}
}

// stop stops the turn that runs, or the message of an id.
func (t *Talk) stop(l protocol.Line, m protocol.Cancel) {
	if t.desk != nil && (m.ID == "" || m.ID == t.now.ID) {
		t.cancel(errStopped)
		return
	}
	at := slices.IndexFunc(t.waiting, func(w protocol.Line) bool {
		return m.ID != "" && w.Message.(protocol.User).ID == m.ID
	})
	if at < 0 { // most likely it has just ended
		t.complain(l, m.ID, "there is nothing to cancel")
		return
	}
	w := t.waiting[at]
	t.waiting = slices.Delete(t.waiting, at, at+1)
	t.inbox.done(w)
	t.drop(w.Message.(protocol.User), errStopped)
}

// turn answers one message and reports how that went. It returns whether the
// client has had enough.
func (t *Talk) turn(ctx context.Context, m protocol.User, lines <-chan protocol.Line) (quit bool) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d, own := make(desk), &tally.Tally{Class: t.Tally.Class, Cost: t.Tally.Cost}
	t.desk, t.cancel, t.now, t.counts = d, cancel, m, map[string]int{}
	t.turns++
	began, denied := t.Now(), t.denied()
	t.write(func(s *stream) { s.hear(m) })
	t.Tally.Start(began)
	own.Start(began)
	var failure error
	var fallen any
	go func() {
		defer close(d)
		defer func() {
			if v := recover(); v != nil {
				fallen = fmt.Sprintf("%v\n%s", v, debug.Stack())
			}
		}()
		failure = t.say(inner, m, own)
	}()
	for busy := true; busy; {
		from := lines
		if t.ended {
			from = nil
		}
		select {
		case f, ok := <-d:
			if busy = ok; ok {
				f()
			}
		case l, ok := <-from:
			t.take(l, ok)
		}
	}
	t.desk, t.open = nil, nil
	if fallen != nil {
		panic(fallen) // on the goroutine whose caller can recover
	}
	if quit = errors.Is(failure, input.ErrQuit); quit {
		failure = nil
	}
	switch {
	case failure == nil:
	case ctx.Err() != nil:
		failure = context.Cause(ctx)
	case errors.Is(context.Cause(inner), errStopped):
		failure = errStopped
	}
	if t.last = failure; errors.Is(failure, errStopped) {
		t.last = nil
	}
	t.result(m, own, max(0, t.Now().Sub(began)), denied, t.outcome(failure))
	return quit
}

// say carries out a message, beside the goroutine of the conversation.
func (t *Talk) say(ctx context.Context, m protocol.User, own *tally.Tally) (failure error) {
	parts := m.Parts
	if !m.Literal {
		var err error
		if parts, err = t.Expand(ctx, parts); err != nil || len(parts) == 0 {
			return err
		}
	}
	for ev, err := range t.Engine(ctx, parts...) {
		if err != nil {
			failure = err
			continue // it is the last
		}
		t.desk.do(func() {
			now := t.Now()
			t.Tally.Observe(ev, now)
			own.Observe(ev, now)
			t.Reporter.Event(ev)
		})
		if err := question.Denied(ev); err != nil && t.FailOnDeny {
			failure = err
			break
		}
	}
	t.desk.do(func() {
		now := t.Now()
		t.Tally.End(failure, now)
		own.End(failure, now)
	})
	return failure
}

// Notify tells about something beside the answer. It may be called from a turn
// and, between turns, on the goroutine of the conversation.
func (t *Talk) Notify(text string) { t.report(engine.Notice{Text: text}) }

// Write implements [io.Writer]: it takes what a slash command has to tell, as
// an answer.
func (t *Talk) Write(b []byte) (int, error) {
	t.report(engine.Text{Delta: string(b)})
	return len(b), nil
}

func (t *Talk) report(ev engine.Event) {
	if t.desk == nil {
		t.Reporter.Event(ev)
		return
	}
	t.desk.do(func() { t.Reporter.Event(ev) })
}

// outcome returns how a turn ended.
func (t *Talk) outcome(err error) Outcome {
	o := t.Outcome(err)
	if errors.Is(err, errStopped) {
		o.Message = "stopped by the client"
	}
	return o.complete()
}

// spoken returns the text of a message.
func spoken(m protocol.User) string {
	var words []string
	for _, p := range m.Parts {
		if p.Text != "" {
			words = append(words, p.Text)
		}
	}
	return strings.Join(words, "\n")
}
