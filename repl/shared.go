package repl

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"gemline/repl/attach"
	"gemline/repl/internal/line"
	"gemline/repl/output"
)

// DetachCommand is the line that leaves the terminal, also where a question is open.
const DetachCommand = "/detach"

// errLeft is the cause of a read that ends since the terminal was left.
var errLeft = errors.New("the terminal was left")

// leaving is whether a terminal was left, and who is to be told.
type leaving struct {
	yes atomic.Bool

	mu     sync.Mutex
	cancel context.CancelCauseFunc // of what is read now, nil if nothing is
}

// reads has cancel be called when the terminal is left.
func (l *leaving) reads(cancel context.CancelCauseFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancel = cancel
}

// Left reports whether the session goes on without its terminal.
func (c *Console) Left() bool { return c.left.yes.Load() }

// Away reports whether whoever has entered the last line sits at another terminal, or the
// session has none of its own: nothing is lent the terminal then.
func (c *Console) Away() bool { return c.away || c.Left() }

// Tell has the terminals that are attached shown what only the session's own has seen.
func (c *Console) Tell(text string) {
	if c.Remote != nil && text != "" {
		c.Remote.Print(output.CopiedText(text))
	}
}

// Leave has the session go on without its terminal: other terminals can attach to it. It
// is an error that they can't. It may be called on any goroutine.
func (c *Console) Leave() error {
	if c.Remote == nil {
		return errors.New("nobody can attach to this session")
	}
	if err := c.Remote.Reachable(); err != nil {
		return err
	}
	c.left.mu.Lock()
	defer c.left.mu.Unlock()
	if !c.left.yes.Swap(true) && c.left.cancel != nil {
		c.left.cancel(errLeft)
	}
	return nil
}

// detach leaves the terminal, since the user wants that, and tells of an error.
func (c *Console) detach() error {
	err := errors.New("this terminal can't be left: the session is not kept, and nobody could attach to it")
	if c.Detach != nil {
		err = c.Detach()
	}
	if err != nil {
		c.Out.Line(output.Failure, "%s", output.EscapeLine(err.Error()))
	}
	return err
}

// HungUp is called when the terminal has gone away, and reports whether the session goes on
// without it. It may be called on any goroutine.
func (c *Console) HungUp() bool { return c.Left() || c.OnHangup && c.Leave() == nil }

// A ScreenFile is the terminal that is written to, until it is left.
type ScreenFile struct {
	File    *os.File
	Console *Console
}

// Write implements [io.Writer]. What nobody can see is not written.
func (s *ScreenFile) Write(b []byte) (int, error) {
	c := s.Console
	if c.Left() {
		return len(b), nil
	}
	n, err := s.File.Write(b)
	if err != nil && c.Gone != nil && c.Gone() && c.HungUp() {
		return len(b), nil
	}
	return n, err
}

// shared reads a line from whoever enters one first: the user by get, or another terminal.
func (c *Console) shared(ctx context.Context, prompt string, question bool,
	get func(context.Context, string) (string, error)) (string, error) {
	if c.Remote == nil {
		return get(ctx, prompt)
	}
	if len(c.waiting) > 0 && !question {
		s := c.waiting[0]
		c.waiting, c.away = c.waiting[1:], true
		return c.came(s, question), nil
	}
	lines := c.Remote.Open(prompt, question)
	text, s, err := c.first(ctx, lines, prompt, get)
	by, entered := "at the session's own terminal", text
	if s != nil {
		by, entered = "at "+s.By, s.Text
	}
	c.Remote.Shut(by)
	c.away = s != nil
	switch {
	case err == nil && question && strings.TrimSpace(entered) == DetachCommand: // the question stays open
		c.detach()
		return c.shared(ctx, prompt, question, get)
	case s != nil:
		return c.came(*s, question), nil
	case err == nil && question:
		c.Remote.Print(output.Copied(output.Info, "answered "+by+": "+text))
	case err == nil:
		c.Remote.Turn()
		c.Remote.Print(output.Copied(output.You, text))
	}
	return text, err
}

// came shows a line of another terminal, and returns it.
func (c *Console) came(s attach.Said, question bool) string {
	if question {
		c.Out.Line(output.Info, "answered at %s: %s", s.By, output.EscapeLine(s.Text))
		return s.Text
	}
	c.Out.Fresh()
	c.Remote.Turn()
	c.Out.Line(output.You, "%s", output.EscapeLine(s.Text))
	return s.Text
}

// first returns what is entered first. s is not nil if it is another terminal's.
func (c *Console) first(ctx context.Context, lines <-chan attach.Said, prompt string,
	get func(context.Context, string) (string, error)) (text string, s *attach.Said, err error) {
	inner, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case one := <-lines:
			s = &one
			cancel(line.ErrElsewhere)
		case <-inner.Done():
		}
	}()
	c.left.reads(cancel)
	if err = errLeft; !c.Left() {
		text, err = get(inner, prompt)
	}
	c.left.reads(nil)
	cancel(nil)
	<-done
	switch {
	case s != nil && err == nil: // both have entered something
		c.Remote.Late(*s, "answered already, at the session's own terminal; not sent: "+s.Text)
		return text, nil, nil
	case s != nil:
		return "", s, nil
	case err == io.EOF && c.Gone != nil && c.Gone() && c.HungUp(), err == errLeft:
	default:
		return text, nil, err
	}
	select { // nobody else is there
	case s := <-lines:
		return "", &s, nil
	case <-ctx.Done():
		return "", nil, context.Cause(ctx)
	}
}

// sent returns where lines of other terminals come during a turn.
func (c *Console) sent() <-chan attach.Said {
	if c.Remote == nil {
		return nil
	}
	return c.Remote.Typed()
}

// takeSent takes a line that another terminal has sent during a turn.
func (r *REPL) takeSent(s attach.Said) {
	switch r.typed([]string{s.Text})[0] {
	case line.Queued:
		r.Console.waiting = append(r.Console.waiting, s)
	case line.Ahead:
		r.Console.Remote.Late(s, "no question is open; not sent: "+s.Text)
	}
}

// unsent tells other terminals that what they have sent during a turn goes nowhere.
func (r *REPL) unsent(how string) {
	for _, s := range r.Console.waiting {
		r.Console.Remote.Late(s, "the turn was "+how+"; not sent: "+s.Text)
	}
	r.Console.waiting = nil
}
