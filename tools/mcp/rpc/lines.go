package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"

	"gemline/engine/text"
)

// Lines returns the Stream of messages on lines, which a server has on its standard input
// and output. Closing it calls end.
func Lines(r io.Reader, w io.Writer, end func() error) Stream {
	l := &lines{r: text.NewLines(r, '\n', MaxMessage), w: w, queue: make(chan writing), closed: make(chan struct{})}
	l.end = sync.OnceValue(func() error { close(l.closed); return end() })
	go l.write()
	return l
}

type lines struct {
	r   *text.Lines
	w   io.Writer
	end func() error

	queue  chan writing // to the goroutine that writes
	closed chan struct{}
}

// A writing is a line that is to be written.
type writing struct {
	line []byte
	done chan error
}

// Send implements [Stream]. A goroutine writes, since the other side may read late or
// never.
func (l *lines) Send(ctx context.Context, m *Message) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	w := writing{append(b, '\n'), make(chan error, 1)}
	select {
	case l.queue <- w:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.closed:
		return ErrClosed
	}
	select {
	case err := <-w.done:
		return err
	case <-l.closed:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// write writes until the stream is closed.
func (l *lines) write() {
	for {
		select {
		case w := <-l.queue:
			_, err := l.w.Write(w.line)
			w.done <- err
		case <-l.closed:
			return
		}
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
