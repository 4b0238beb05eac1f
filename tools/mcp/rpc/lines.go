package rpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
)

// Lines returns the Stream of messages on lines, which a server has on its standard input
// and output. Closing it calls end.
func Lines(r io.Reader, w io.Writer, end func() error) Stream {
	l := &lines{r: bufio.NewReaderSize(r, 64<<10), w: w, queue: make(chan writing), closed: make(chan struct{})}
	l.end = sync.OnceValue(func() error { close(l.closed); return end() })
	go l.write()
	return l
}

type lines struct {
	r    *bufio.Reader
	line []byte
	w    io.Writer
	end  func() error

	queue  chan writing // to the goroutine that writes
	closed chan struct{}
}

// A writing is a line that is to be written.
type writing struct {
	line []byte
	done chan error
}

// Send implements [Stream]. The other side may read late or never, so that it is a
// goroutine that writes.
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
	const kept = 1 << 20
	for {
		if cap(l.line) > kept {
			l.line = nil
		}
		line, err := readLine(l.r, l.line[:0], MaxMessage)
		l.line = line
		if err != nil {
			return line, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// Close implements [Stream].
func (l *lines) Close() error { return l.end() }

// readLine appends the next line to buf. Of one that is longer than most bytes it keeps
// the beginning and returns [ErrTooLong].
func readLine(r *bufio.Reader, buf []byte, most int) ([]byte, error) {
	const kept = 64 << 10
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(buf)+len(part) > most; !long {
			buf = append(buf, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(buf) > 0 && !long:
			return buf, nil
		case err != nil:
			return nil, err
		case long:
			return buf[:min(len(buf), kept)], ErrTooLong
		}
		return buf, nil
	}
}
