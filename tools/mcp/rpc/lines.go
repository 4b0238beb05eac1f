package rpc

import (
	"bytes"
	"context"
	"io"
	"sync"

	"gemline/engine/text"
)

// Lines returns the Stream of messages on lines, for a server on standard input and output.
// Closing it calls end.
func Lines(r io.Reader, w io.Writer, end func() error) Stream {
	l := &lines{r: text.NewLines(r, '\n', MaxMessage), w: w, writing: make(chan struct{}, 1), closed: make(chan struct{})}
	l.end = sync.OnceValue(func() error { close(l.closed); return end() })
	return l
}

type lines struct {
	r   *text.Lines
	w   io.Writer
	end func() error

	writing chan struct{} // full while a line is written
	closed  chan struct{}
}

// Send implements [Stream]. It writes in a goroutine, as the other side may read late or
// never.
func (l *lines) Send(ctx context.Context, m *Message) error {
	done := make(chan error, 1)
	select {
	case l.writing <- struct{}{}:
		go func() {
			_, err := l.w.Write(append(m.text(), '\n'))
			done <- err
			<-l.writing
		}()
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.closed:
		return ErrClosed
	}
	select {
	case err := <-done:
		return err
	case <-l.closed:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Next implements [Stream].
func (l *lines) Next() ([]byte, error) {
	const kept = 64 << 10 // of a line that is too long
	for {
		line, err := l.r.Next()
		if err == text.ErrLong {
			return line[:min(len(line), kept)], ErrTooLong
		}
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// Close implements [Stream].
func (l *lines) Close() error { return l.end() }
