// Package talk holds a conversation with a program, in lines of JSON both ways: messages of the
// program, and records of events and questions. A first caller fills a [Server] and calls
// [Server.Serve].
//
// # One goroutine
//
// Everything that is written, and everything that is known about the
// conversation, belongs to the goroutine that called [Server.Serve]. A turn
// runs beside it, so that a line of the input is heeded at once.
//
// # A line is a message or a mistake
//
// Every line that is not blank is a message or a mistake. After a line that is
// broken, too long or of an unknown type the next one is read all the same.
// Nothing a line can hold ends the reading, a message that says so apart.
//
// # Every message has its result
//
// A message that was read is answered by one record of the type turn_result,
// also if no turn was made of it. An answer counts while its question is open.
package talk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/input"
	"gemline/repl/internal/turn"
	"gemline/repl/question"
	"gemline/repl/report"
)

// Version is the version of the protocol, which a conversation begins with.
// Within a version, types and fields are only ever added.
const Version = 1

// Config is what a [Server] needs.
type Config struct {
	In      io.Reader
	Stream  *report.Stream
	Tally   *tally.Tally
	Now     func() time.Time
	Session func() string // the id of the session, which a command may change
	Expand  input.Processor
	Run     engine.Run

	// Steering has messages be hints. Without Hints, none is.
	Steering Steering

	// Outcome classifies how a turn ended.
	Outcome func(error) report.Outcome

	// Nobody answers once the input has ended.
	Nobody engine.Approver

	// FailOnDeny ends a turn with [question.ErrDenied] when a rule denies a
	// call.
	FailOnDeny bool
}

// A Server holds a conversation with a program. It is the engine's approver, too.
type Server struct {
	Config

	inbox *inbox
	turns int
	last  error        // of the last turn, unless the client stopped it
	now   *runningTurn // nil between turns

	consent  *openConsent // nil if nothing is asked about the folder
	consents int          // number of questions about the folder

	begun bool
	early []userMessage // stopped before the conversation began; without their texts
}

// A runningTurn is the turn that a message has begun.
type runningTurn struct {
	userMessage
	number int // from 1; prompts dropped while another turn runs are counted, too
	desk   turn.Desk
	cancel context.CancelCauseFunc
	tally  *tally.Tally
	denied int            // calls that were denied before it
	open   *openQuestion  // nil if nothing is asked
	counts map[string]int // how often a call was asked about
	hints  []line         // that are to go with its next request
	hinted bool           // it is no turn: its message has gone with the one before
}

// errStopped is the cause of a turn that the client has stopped.
var errStopped = fmt.Errorf("stopped by the client: %w", context.Canceled)

// Serve answers messages in the session of in, until the
// input has ended, or ctx has. Its error is that of the last turn, or says that
// lines were lost. The caller finishes the Stream.
func (c *Server) Serve(ctx context.Context, in report.Init) error {
	in.Session, in.Protocol = c.Session(), Version
	c.Stream.Begin(in)
	c.begun = true
	for _, m := range c.early {
		c.drop(m, errStopped)
	}
	c.open(ctx)
	for {
		if ctx.Err() != nil {
			return c.abandon(context.Cause(ctx))
		}
		if m, ok := c.inbox.next(); ok {
			if quit := c.turn(ctx, m); quit {
				c.abandon(errStopped)
				return c.inbox.verdict(c.last)
			}
			continue
		}
		if c.inbox.ended {
			return c.inbox.verdict(c.last)
		}
		select {
		case l, ok := <-c.inbox.lines:
			c.handle(l, ok)
		case <-ctx.Done():
		}
	}
}

// open begins to read, unless that has begun.
func (c *Server) open(ctx context.Context) {
	if c.inbox == nil {
		c.inbox = openInbox(ctx, c.In)
	}
}

// abandon ends the messages that wait, so that each has its result.
func (c *Server) abandon(cause error) error {
	for m, ok := c.inbox.next(); ok; m, ok = c.inbox.next() {
		c.drop(m, cause)
	}
	return cause
}

// drop ends a message that no turn was made of.
func (c *Server) drop(m userMessage, cause error) {
	c.turns++
	c.result(&runningTurn{userMessage: m, number: c.turns, tally: &tally.Tally{},
		denied: denied(c.Stream)}, 0, c.outcome(cause))
}

// handle takes a line of the input into account; not ok is its end.
func (c *Server) handle(l line, ok bool) {
	if !ok {
		c.hangUp()
		return
	}
	switch m := l.Message.(type) {
	case userMessage:
		if !c.steers(l, m) {
			c.inbox.wait(l) // and held until its turn comes
		}
		return
	case approvalMessage:
		c.reply(l, m.ID, func(q *openQuestion) (engine.Answer, string) { return q.approval(m) })
	case answersMessage:
		c.reply(l, m.ID, func(q *openQuestion) (engine.Answer, string) { return q.answers(m) })
	case consentMessage:
		c.agreed(l, m)
	case cancelMessage:
		c.stop(l, m)
	case endMessage:
		c.hangUp()
	default:
		c.inbox.lost += max(0, l.Through-l.Number) + 1
		c.complain(l, l.ID, l.Err.Error())
	}
	c.inbox.done(l)
}

// hangUp notes that nobody answers any more: an open question is answered by
// Nobody, and the messages that wait still have their turn.
func (c *Server) hangUp() {
	c.inbox.ended = true
	if t := c.now; t != nil && t.open != nil {
		close(t.open.reply)
		t.open = nil
	}
	if c.consent != nil {
		close(c.consent.reply)
		c.consent = nil
	}
}

// stop stops the turn that runs, or the message of an id.
func (c *Server) stop(l line, m cancelMessage) {
	if t := c.now; t != nil && (m.ID == "" || m.ID == t.ID) {
		t.cancel(errStopped)
		return
	}
	w, ok := c.inbox.remove(m.ID)
	if !ok {
		var hint line
		hint, ok = c.now.withdraw(m.ID, func(id string) bool { return c.Steering.Hints().Drop(id) })
		if ok {
			c.inbox.done(hint)
			w = hint.Message.(userMessage)
		}
	}
	switch {
	case ok && c.begun:
		c.drop(w, errStopped)
		return
	case ok: // its result comes behind the beginning
		c.early = append(c.early, userMessage{ID: w.ID})
		return
	}
	c.complain(l, m.ID, "there is nothing to cancel") // most likely it has just ended
}

// turn answers one message and reports how that went. It returns whether the
// client has had enough.
func (c *Server) turn(ctx context.Context, m userMessage) (quit bool) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := &runningTurn{userMessage: m, desk: make(turn.Desk), cancel: cancel, denied: denied(c.Stream),
		counts: map[string]int{},
		tally:  &tally.Tally{Class: c.Tally.Class, Cost: c.Tally.Cost}}
	c.now = t
	defer func() { c.now = nil }()
	c.turns++
	t.number = c.turns
	began := c.Now()
	c.Stream.Add(func(r *report.Records) { r.User(m.text(), m.ID) })
	c.Tally.Start(began)
	t.tally.Start(began)
	var failure error
	t.desk.Beside(func() { failure = c.say(inner, t) }, func() { c.attend(t) })
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
	if c.last = failure; errors.Is(failure, errStopped) {
		c.last = nil
	}
	o := c.outcome(failure)
	c.result(t, max(0, c.Now().Sub(began)), o)
	c.steered(t, o)
	return quit
}

// attend does what a turn asks for, and heeds the input, until the turn is over.
func (c *Server) attend(t *runningTurn) {
	for {
		lines := c.inbox.lines
		if c.inbox.ended {
			lines = nil
		}
		select {
		case f, ok := <-t.desk:
			if !ok {
				return
			}
			f()
		case l, ok := <-lines:
			c.handle(l, ok)
		}
	}
}

// say carries out the message of a turn, beside the goroutine of the
// conversation.
func (c *Server) say(ctx context.Context, t *runningTurn) (failure error) {
	parts := t.Parts
	if !t.Literal {
		var err error
		if parts, err = c.Expand(ctx, parts); err != nil || len(parts) == 0 {
			return err
		}
	}
	for ev, err := range c.Run(ctx, parts...) {
		if err != nil {
			failure = err
			continue // it is the last
		}
		t.desk.Do(func() { c.happened(t, ev) })
		if err := question.DeniedError(ev); err != nil && c.FailOnDeny {
			failure = err
			break
		}
	}
	t.desk.Do(func() {
		now := c.Now()
		c.Tally.End(failure, now)
		t.tally.End(failure, now)
	})
	return failure
}

// Notify tells about something beside the answer. It may be called from a turn
// and, between turns, on the goroutine of the conversation.
func (c *Server) Notify(text string) { c.tell(engine.Notice{Text: text}) }

// Write implements [io.Writer]: it takes what a slash command has to tell, as
// an answer.
func (c *Server) Write(b []byte) (int, error) {
	c.tell(engine.Text{Delta: string(b)})
	return len(b), nil
}

// happened counts and tells what happens in a turn.
func (c *Server) happened(t *runningTurn, ev engine.Event) {
	now := c.Now()
	c.Tally.Observe(ev, now)
	t.tally.Observe(ev, now)
	c.Stream.Event(ev)
}

// Show counts and tells what happens in a turn, and is no part of an answer, such as what a
// command asks of a model.
func (c *Server) Show(ev engine.Event) {
	if t := c.now; t != nil {
		t.desk.Do(func() { c.happened(t, ev) })
		return
	}
	c.tell(ev)
}

func (c *Server) tell(ev engine.Event) {
	if c.now == nil {
		c.Stream.Event(ev)
		return
	}
	c.now.desk.Do(func() { c.Stream.Event(ev) })
}

// outcome returns how a turn ended.
func (c *Server) outcome(err error) report.Outcome {
	o := c.Outcome(err)
	if errors.Is(err, errStopped) {
		o.Message = "stopped by the client"
	}
	return o.Complete()
}
