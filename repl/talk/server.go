// Package talk connects a conversation to a client program, with lines of JSON in both directions:
// messages of the program, and records of events and questions. A first caller fills a [Server] and
// calls [Server.Serve].
//
// # One goroutine owns the conversation
//
// The goroutine that called [Server.Serve] owns the output and the state of the conversation. A
// turn runs on another goroutine, so that a line of the input is handled at once.
//
// # A broken line does not end the input
//
// Every line that is not blank is a message or a mistake. After a line that is broken, too long or
// of an unknown type, the next line is read. No line ends the input but an end message.
//
// # Every message has a result
//
// Each message gets one record of the type turn_result, even without a turn. An answer counts while
// its question is open.
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

// Version is the version of the protocol, which the first record names. Within a version, types and
// fields are only added.
const Version = 1

// Config is the configuration of a [Server].
type Config struct {
	In      io.Reader
	Stream  *report.Stream
	Tally   *tally.Tally
	Now     func() time.Time
	Session func() string // the id of the session, which a command may change
	Expand  input.Processor
	Run     engine.Run

	// Steering makes messages hints. Without Hints, no message is a hint.
	Steering Steering

	// Outcome classifies the end of a turn.
	Outcome func(error) report.Outcome

	// Nobody answers after the end of the input.
	Nobody engine.Approver

	// FailOnDeny ends a turn with [question.ErrDenied] when a rule denies a
	// call.
	FailOnDeny bool
}

// A Server holds a conversation with a client. It is also the engine's approver.
type Server struct {
	Config

	inbox *inbox
	turns int
	last  error        // of the last turn, unless the client stopped it
	now   *runningTurn // nil between turns

	consent  *openConsent // nil without an open question about the folder
	consents int          // number of questions about the folder

	begun bool
	early []userMessage // messages stopped before the conversation began; without their texts
}

// A runningTurn is the turn of a message.
type runningTurn struct {
	userMessage
	number int // from 1; also counts prompts that were dropped during another turn
	desk   turn.Desk
	cancel context.CancelCauseFunc
	tally  *tally.Tally
	denied int            // calls denied before it
	open   *openQuestion  // nil without a question
	counts map[string]int // by call, how often it needed an approval
	hints  []line         // hints for its next request
	hinted bool           // its message was a hint, so it is no turn
}

// errStopped is the cause of a turn that the client has stopped.
var errStopped = fmt.Errorf("stopped by the client: %w", context.Canceled)

// Serve answers messages in the session of in, until the input or ctx ends. It returns the error of
// the last turn, or reports lost lines. The caller finishes the Stream.
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

// open starts reading the input, once.
func (c *Server) open(ctx context.Context) {
	if c.inbox == nil {
		c.inbox = openInbox(ctx, c.In)
	}
}

// abandon ends the waiting messages, each with a result.
func (c *Server) abandon(cause error) error {
	for m, ok := c.inbox.next(); ok; m, ok = c.inbox.next() {
		c.drop(m, cause)
	}
	return cause
}

// drop ends a message without a turn.
func (c *Server) drop(m userMessage, cause error) {
	c.turns++
	c.result(&runningTurn{userMessage: m, number: c.turns, tally: &tally.Tally{},
		denied: denied(c.Stream)}, 0, c.outcome(cause))
}

// handle handles a line of the input. If ok is false, the input has ended.
func (c *Server) handle(l line, ok bool) {
	if !ok {
		c.hangUp()
		return
	}
	switch m := l.Message.(type) {
	case userMessage:
		if !c.steers(l, m) {
			c.inbox.wait(l) // it is stored until its turn
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

// hangUp handles the end of the input: Nobody answers the open question, and waiting messages still
// get their turn.
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

// stop stops the running turn, or the message with an id.
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
	case ok: // its result follows the first record
		c.early = append(c.early, userMessage{ID: w.ID})
		return
	}
	c.complain(l, m.ID, "there is nothing to cancel") // it has probably just ended
}

// turn answers one message and reports the outcome. It returns true if the client quits.
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

// attend serves the requests of a turn, and handles input, until the turn ends.
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

// say runs the message of a turn, on another goroutine.
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
			continue // the last event
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

// Notify sends a notice beside the answer. It may be called from a turn and, between turns, on the
// goroutine of the conversation.
func (c *Server) Notify(text string) { c.tell(engine.Notice{Text: text}) }

// Write implements [io.Writer]: it sends output of a slash command as an answer.
func (c *Server) Write(b []byte) (int, error) {
	c.tell(engine.Text{Delta: string(b)})
	return len(b), nil
}

// happened counts and sends an event of a turn.
func (c *Server) happened(t *runningTurn, ev engine.Event) {
	now := c.Now()
	c.Tally.Observe(ev, now)
	t.tally.Observe(ev, now)
	c.Stream.Event(ev)
}

// Show counts and sends an event outside of an answer, such as a request of a command to a model.
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

// outcome classifies the end of a turn.
func (c *Server) outcome(err error) report.Outcome {
	o := c.Outcome(err)
	if errors.Is(err, errStopped) {
		o.Message = "stopped by the client"
	}
	return o.Complete()
}
