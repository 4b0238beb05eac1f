package repl

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"gemline/engine/text"
	"gemline/repl/attach"
	"gemline/repl/internal/line"
	"gemline/repl/output"
)

// DetachCommand is the line that leaves the terminal, also where a question is open.
const DetachCommand = "/detach"

// longestLine is how many characters are shown of a line that another terminal has sent.
const longestLine = 200

// errLeft is the cause of a read that ends since the terminal was left.
var errLeft = errors.New("the terminal was left")

// A Sharing is at which terminals a session is: its own, until that is left, and the others
// that are attached to it.
type Sharing struct {
	// Hub, if not nil, has other terminals look on, and answer.
	Hub *attach.Hub

	// Gone reports whether the session's own terminal has gone away, which also looks
	// like the end of the input. It is nil where there is none.
	Gone func() bool

	// OnHangup says that a session whose terminal goes away goes on for the others.
	OnHangup bool

	// Detach has the session go on without its terminal by hand. It is nil where it can't.
	Detach func() error

	away     bool              // the last line came from another terminal
	waiting  []attach.SentLine // lines of other terminals for the next prompts
	detached atomic.Bool       // whether the terminal was left

	mu     sync.Mutex
	cancel context.CancelCauseFunc // of the present reading, may be nil
}

// reads has cancel be called when the terminal is left.
func (s *Sharing) reads(cancel context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = cancel
}

// IsLeft reports whether the session goes on without its terminal.
func (s *Sharing) IsLeft() bool { return s.detached.Load() }

// IsAway reports whether whoever has entered the last line sits at another terminal, or the
// session has none of its own: nothing is lent the terminal then.
func (s *Sharing) IsAway() bool { return s.away || s.IsLeft() }

// Tell has the terminals that are attached shown what only the session's own has seen.
func (s *Sharing) Tell(text string) {
	if s.Hub != nil && text != "" {
		s.Hub.Print(output.CopiedText(text))
	}
}

// Leave has the session go on without its terminal: other terminals can attach to it. It
// is an error that they can't. It may be called on any goroutine.
func (s *Sharing) Leave() error {
	if s.Hub == nil {
		return errors.New("nobody can attach to this session")
	}
	if err := s.Hub.Reachable(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.detached.Swap(true) && s.cancel != nil {
		s.cancel(errLeft)
	}
	return nil
}

// gone reports whether the terminal has gone away.
func (s *Sharing) gone() bool { return s.Gone != nil && s.Gone() }

// HungUp is called when the terminal has gone away, and reports whether the session goes on
// without it. It may be called on any goroutine.
func (s *Sharing) HungUp() bool { return s.IsLeft() || s.OnHangup && s.Leave() == nil }

// sent returns where lines of other terminals come during a turn.
func (s *Sharing) sent() <-chan attach.SentLine {
	if s.Hub == nil {
		return nil
	}
	return s.Hub.Typed()
}

// detach leaves the terminal, since the user wants that, and tells of an error.
func (c *Console) detach() {
	err := errors.New("this terminal can't be left: the session is not stored, and nobody could attach to it")
	if c.Sharing.Detach != nil {
		err = c.Sharing.Detach()
	}
	if err != nil {
		c.Out.Line(output.Failure, "%s", output.EscapeLine(err.Error()))
	}
}

// A ScreenFile is the terminal that is written to, until it is left.
type ScreenFile struct {
	File    *os.File
	Sharing *Sharing
}

// Write implements [io.Writer]. What nobody can see is not written.
func (f *ScreenFile) Write(b []byte) (int, error) {
	if f.Sharing.IsLeft() {
		return len(b), nil
	}
	n, err := f.File.Write(b)
	if err != nil && f.Sharing.gone() && f.Sharing.HungUp() {
		return len(b), nil
	}
	return n, err
}

// shared reads a line from whoever enters one first: the user by get, or another terminal.
func (c *Console) shared(ctx context.Context, prompt string, question bool,
	get func(context.Context, string) (string, error)) (string, error) {
	if c.Sharing.Hub == nil {
		return get(ctx, prompt)
	}
	if len(c.Sharing.waiting) > 0 && !question {
		s := c.Sharing.waiting[0]
		c.Sharing.waiting, c.Sharing.away = c.Sharing.waiting[1:], true
		return c.came(s, question), nil
	}
	lines := c.Sharing.Hub.Open(prompt, question)
	text, s, err := c.Sharing.first(ctx, lines, prompt, get)
	by, entered := "at the session's own terminal", text
	if s != nil {
		by, entered = "at "+s.By, s.Text
	}
	c.Sharing.Hub.Shut(by)
	c.Sharing.away = s != nil
	switch {
	case err == nil && question && strings.TrimSpace(entered) == DetachCommand: // the question stays open
		c.detach()
		return c.shared(ctx, prompt, question, get)
	case s != nil:
		return c.came(*s, question), nil
	case err == nil && question:
		c.Sharing.Hub.Print(output.Copied(output.Info, "answered "+by+": "+text))
	case err == nil:
		c.Sharing.Hub.Turn()
		c.Sharing.Hub.Print(output.Copied(output.You, text))
	}
	return text, err
}

// came shows a line of another terminal, and returns it.
func (c *Console) came(s attach.SentLine, question bool) string {
	if question {
		c.Out.Line(output.Info, "answered at %s: %s", s.By, text.OneLine(s.Text, longestLine))
		return s.Text
	}
	c.Out.Fresh()
	c.Sharing.Hub.Turn()
	c.Out.Line(output.You, "%s", output.Sanitize(s.Text))
	return s.Text
}

// first returns the line that is entered first. said is not nil if it is another terminal's.
func (s *Sharing) first(ctx context.Context, lines <-chan attach.SentLine, prompt string,
	get func(context.Context, string) (string, error)) (own string, said *attach.SentLine, err error) {
	inner, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case one := <-lines:
			said = &one
			cancel(line.ErrSuperseded)
		case <-inner.Done():
		}
	}()
	s.reads(cancel)
	if err = errLeft; !s.IsLeft() {
		own, err = get(inner, prompt)
	}
	s.reads(nil)
	cancel(nil)
	<-done
	switch {
	case said != nil && err == nil: // both have entered something
		s.Hub.Late(*said, "answered already, at the session's own terminal; not sent: "+text.OneLine(said.Text, longestLine))
		return own, nil, nil
	case said != nil:
		return "", said, nil
	case err == io.EOF && s.gone() && s.HungUp(), err == errLeft:
	default:
		return own, nil, err
	}
	select { // nobody else is there
	case one := <-lines:
		return "", &one, nil
	case <-ctx.Done():
		return "", nil, context.Cause(ctx)
	}
}

// queue adds a line from the terminal that the session has left to the next prompts.
func (s *Sharing) queue(l string) {
	s.waiting = append(s.waiting, attach.SentLine{Text: l, By: "the session's own terminal"})
}

// takeSent takes a line that another terminal has sent during a turn.
func (r *REPL) takeSent(s attach.SentLine) {
	switch r.typed([]string{s.Text})[0] {
	case line.Queued:
		r.Console.Sharing.waiting = append(r.Console.Sharing.waiting, s)
	case line.Ahead:
		r.Console.Sharing.Hub.Late(s, "no question is open; not sent: "+text.OneLine(s.Text, longestLine))
	}
}

// unsent tells other terminals that their lines of this turn go nowhere.
func (r *REPL) unsent(how string) {
	for _, s := range r.Console.Sharing.waiting {
		r.Console.Sharing.Hub.Late(s, "the turn was "+how+"; not sent: "+text.OneLine(s.Text, longestLine))
	}
	r.Console.Sharing.waiting = nil
}
