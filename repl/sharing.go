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

// DetachCommand is the line that detaches the terminal, also while a question is open.
const DetachCommand = "/detach"

// longestLine is the longest shown part, in characters, of another terminal's line.
const longestLine = 200

// errLeft is the cause of a read that ends because the terminal was detached.
var errLeft = errors.New("the terminal was left")

// A Sharing manages the terminals of a session: its own, until that is detached, and attached
// terminals.
type Sharing struct {
	// Hub, if not nil, lets other terminals attach.
	Hub *attach.Hub

	// Gone reports whether the session's own terminal has gone away, which also looks like the end
	// of the input. It is nil without a terminal.
	Gone func() bool

	// OnHangup lets the session continue for other terminals when its own terminal goes away.
	OnHangup bool

	// Detach detaches the terminal at the user's request. It is nil if that is impossible.
	Detach func() error

	away     bool              // the last line came from another terminal
	waiting  []attach.SentLine // lines of other terminals for the next prompts
	detached atomic.Bool       // whether the terminal was detached

	mu     sync.Mutex
	cancel context.CancelCauseFunc // of the present read, may be nil
}

// reads sets the function that cancels a read when the terminal is detached.
func (s *Sharing) reads(cancel context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = cancel
}

// IsLeft reports whether the session continues without its terminal.
func (s *Sharing) IsLeft() bool { return s.detached.Load() }

// IsAway reports whether the last line came from another terminal, or the session has no terminal
// of its own. No program gets the terminal then.
func (s *Sharing) IsAway() bool { return s.away || s.IsLeft() }

// Tell shows attached terminals a text that only the session's own terminal has shown.
func (s *Sharing) Tell(text string) {
	if s.Hub != nil && text != "" {
		s.Hub.Print(output.CopiedText(text))
	}
}

// Leave lets the session continue without its terminal: other terminals can attach to it. If they
// can't, Leave returns an error. It may be called on any goroutine.
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

// HungUp is called when the terminal has gone away. It reports whether the session continues
// without the terminal. It may be called on any goroutine.
func (s *Sharing) HungUp() bool { return s.IsLeft() || s.OnHangup && s.Leave() == nil }

// sent returns the lines that other terminals send during a turn.
func (s *Sharing) sent() <-chan attach.SentLine {
	if s.Hub == nil {
		return nil
	}
	return s.Hub.Typed()
}

// detach detaches the terminal at the user's request, and prints an error.
func (c *Console) detach() {
	err := errors.New("this terminal can't be left: the session is not stored, and nobody could attach to it")
	if c.Sharing.Detach != nil {
		err = c.Sharing.Detach()
	}
	if err != nil {
		c.Out.Line(output.Failure, "%s", output.EscapeLine(err.Error()))
	}
}

// A ScreenFile writes to the terminal, until the terminal is detached.
type ScreenFile struct {
	File    *os.File
	Sharing *Sharing
}

// Write implements [io.Writer]. It drops output for a detached terminal.
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

// shared reads a line from the first source: the user, through get, or another terminal.
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
	case s != nil && c.Sharing.refuseDetach(*s):
		return c.shared(ctx, prompt, question, get)
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

// came prints a line of another terminal, and returns it.
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

// first returns the first entered line. Said is not nil if the line comes from another terminal.
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
	case said != nil && err == nil: // both terminals have entered a line
		s.Hub.Late(*said, "answered already, at the session's own terminal; not sent: "+text.OneLine(said.Text, longestLine))
		return own, nil, nil
	case said != nil:
		return "", said, nil
	case err == io.EOF && s.gone() && s.HungUp(), err == errLeft:
	default:
		return own, nil, err
	}
	select { // only other terminals are left
	case one := <-lines:
		return "", &one, nil
	case <-ctx.Done():
		return "", nil, context.Cause(ctx)
	}
}

// queue adds a line from the detached terminal to the next prompts.
func (s *Sharing) queue(l string) {
	s.waiting = append(s.waiting, attach.SentLine{Text: l, By: "the session's own terminal"})
}

// refuseDetach reports whether a line of another terminal would detach the session's own terminal,
// which the line does not do.
func (s *Sharing) refuseDetach(l attach.SentLine) bool {
	refused := strings.TrimSpace(l.Text) == DetachCommand && !s.IsLeft()
	if refused {
		s.Hub.Late(l, DetachCommand+" is for the session's own terminal; Ctrl-D detaches this terminal")
	}
	return refused
}

// takeSent handles a line that another terminal has sent during a turn.
func (r *REPL) takeSent(s attach.SentLine) {
	if r.Console.Sharing.refuseDetach(s) {
		return
	}
	switch r.typed([]string{s.Text})[0] {
	case line.Queued:
		r.Console.Sharing.waiting = append(r.Console.Sharing.waiting, s)
	case line.Ahead:
		r.Console.Sharing.Hub.Late(s, "no question is open; not sent: "+text.OneLine(s.Text, longestLine))
	}
}

// unsent tells other terminals that their lines of this turn are dropped.
func (r *REPL) unsent(how string) {
	for _, s := range r.Console.Sharing.waiting {
		r.Console.Sharing.Hub.Late(s, "the turn was "+how+"; not sent: "+text.OneLine(s.Text, longestLine))
	}
	r.Console.Sharing.waiting = nil
}
