package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	words "gemline/engine/text"
	"gemline/repl/internal/line"
	"gemline/repl/output"
)

// A Conn is the connection to a session.
type Conn struct {
	Info Info

	sock *net.UnixConn
	in   chan message // closed at the end
}

// Close ends the connection.
func (c *Conn) Close() error { return c.sock.Close() }

// greet reads the greeting of the session, within patience. Later messages go to in.
func (c *Conn) greet(patience time.Duration) error {
	if err := sameUser(c.sock); err != nil {
		return err
	}
	c.sock.SetReadDeadline(time.Now().Add(patience))
	c.in = make(chan message)
	first := make(chan error, 1)
	go func() {
		defer close(c.in)
		greeted := false
		for m, err := range read(c.sock) {
			switch {
			case greeted && err == nil:
				c.in <- m
				continue
			case err == nil && m.Type == hello && m.Info != nil:
				c.Info, greeted = *m.Info, true
				c.sock.SetReadDeadline(time.Time{})
				first <- nil
				continue
			case err == nil && m.Type == bye:
				err = errors.New(m.Text)
			case err == nil:
				err = errors.New("it does not speak like gemline")
			case errors.Is(err, os.ErrDeadlineExceeded):
				err = errSilent
			}
			if !greeted {
				first <- err
			}
			return
		}
		if !greeted {
			first <- io.ErrUnexpectedEOF
		}
	}()
	return <-first
}

// A Terminal shows a session.
type Terminal struct {
	Lines      line.Config
	Out        *output.Writer
	Interrupts <-chan os.Signal
	Name       string // of the terminal
}

// errOver is the error of a session that has ended.
var errOver = errors.New("over")

// Show shows a session until it ends, or the user detaches from it with Ctrl-D.
func (t *Terminal) Show(ctx context.Context, c *Conn) error {
	t.Lines.Out = t.Out
	r, err := line.New(t.Lines)
	if err != nil {
		return err
	}
	defer r.Close()
	defer func() {
		go func() {
			for range c.in { //nolint:revive // drop later messages
			}
		}()
	}()
	defer c.Close()
	r.Quiet(true)
	v := &view{Terminal: t, conn: c, lines: r}
	c.sock.Write(encode(message{Type: hello, By: t.Name}))
	t.Out.Line(output.Info, "attached to the session in %s; Ctrl-D detaches", output.EscapeLine(c.Info.Folder))
	for err == nil {
		if v.open == nil {
			err = v.follow(ctx)
		} else {
			err = v.enter(ctx)
		}
	}
	t.Out.Fresh()
	switch {
	case err == errOver:
		return nil
	case err == io.EOF:
		t.Out.Line(output.Info, "detached; the session goes on, and gemline attach %s comes back", words.ShortID(c.Info.ID))
		return nil
	}
	return err
}

// A view shows a session to a listener.
type view struct {
	*Terminal
	conn  *Conn
	lines *line.Reader
	open  *message // the open question or prompt
}

// send sends a line of the user.
func (v *view) send(m message) { v.conn.sock.Write(encode(m)) }

// handle shows a message of the session. If ok is false, the session has ended.
func (v *view) handle(m message, ok bool) error {
	switch {
	case !ok:
		v.Out.Line(output.Warning, "the session is gone, or has dropped this terminal since it read too slowly; gemline attach lists the live sessions")
		return errOver
	case m.Type == text:
		output.ShowCopy(v.Out, []byte(m.Text))
	case m.Type == hello && m.Info != nil: // the session's id has changed
		v.conn.Info = *m.Info
	case m.Type == open:
		v.open = &m
	case m.Type == busy:
		v.open = nil
	case m.Type == late:
		v.Out.Line(output.Warning, "%s", output.EscapeLine(m.Text))
	case m.Type == bye:
		v.Out.Line(output.Info, "%s", output.EscapeLine(m.Text))
		return errOver
	}
	return nil
}

// follow shows messages while the session works. Lines typed meanwhile are sent to the session.
func (v *view) follow(ctx context.Context) error {
	came, stop := v.lines.Listen(func(lines []string) []line.LineAction {
		fates := make([]line.LineAction, len(lines))
		for i, l := range lines {
			if fates[i] = line.Taken; strings.TrimSpace(l) != "" {
				v.send(message{Type: said, Text: l})
			}
		}
		return fates
	})
	defer stop()
	for v.open == nil {
		select {
		case m, ok := <-v.conn.in:
			if err := v.handle(m, ok); err != nil {
				return err
			}
		case <-came:
			v.lines.HandleTyped()
			if v.lines.Ended() {
				return io.EOF
			}
		case <-v.Interrupts:
			v.Out.Touched()
			v.send(message{Type: interrupt})
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// enter reads the user's answer to the open question, unless a message of the session comes first.
func (v *view) enter(ctx context.Context) error {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	now := *v.open
	done := make(chan struct{})
	var m message
	var came, ok bool
	go func() {
		defer close(done)
		select {
		case m, ok = <-v.conn.in:
			came = true
			cancel(line.ErrSuperseded)
		case <-v.Interrupts:
			v.Out.Touched()
			cancel(line.ErrInterrupt)
		case <-inner.Done():
		}
	}()
	get := v.lines.Read
	if now.Question {
		get = v.lines.Ask
	}
	entered, err := get(inner, now.Text)
	cancel(nil)
	<-done
	if err == nil && (now.Question || strings.TrimSpace(entered) != "") {
		v.send(message{Type: said, Number: now.Number, Text: entered})
		v.open = nil
	}
	if came {
		if herr := v.handle(m, ok); herr != nil {
			return herr
		}
	}
	switch {
	case err == nil, errors.Is(err, line.ErrSuperseded), errors.Is(err, line.ErrCleared):
		return nil
	case errors.Is(err, line.ErrInterrupt):
		if now.Question {
			v.send(message{Type: interrupt})
			v.open = nil
		} else {
			v.Out.Line(output.Info, "Ctrl-D detaches; /quit ends the session")
		}
		return nil
	}
	return err
}

// Describe describes the activity of a session in a line.
func (i Info) Describe() string {
	said := fmt.Sprintf("%s: %s", output.EscapeLine(words.ShortID(i.ID)), output.EscapeLine(i.State))
	if i.Folder != "" {
		said += fmt.Sprintf(", in %s, process %d", output.EscapeLine(i.Folder), i.PID)
	}
	return said
}
