package talk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"gemline/engine/parallel"
	"gemline/repl/input"
)

// Limits of unprocessed input from a client. Lines above the limits are refused, not left in the
// pipe: a later cancel must be read, and a client that writes before it reads must not block.
const (
	mostWaiting = 1000     // messages
	mostHeld    = 64 << 20 // bytes of messages; the same again for other lines
)

// errFull is the error of a line above the limits.
var errFull = errors.New("too much input is waiting; read the results before you send more")

// An inbox reads lines at once, even while they can't be processed.
type inbox struct {
	lines <-chan line // closed after the last line

	waiting []line // messages that wait for their turn
	ended   bool   // the input has ended
	lost    int    // unusable lines

	messages, bytes atomic.Int64   // of unprocessed lines
	panic           parallel.Panic // of the reader, which ends the lines
}

// openInbox returns an inbox of the lines of r, in order. Its goroutines end after the last line,
// or soon after ctx. A running read can't be cancelled; it continues until r ends.
func openInbox(ctx context.Context, r io.Reader) *inbox {
	b := &inbox{}
	in, out := make(chan line), make(chan line)
	b.lines = out
	go func() {
		defer close(in)
		defer b.panic.Catch()
		for l := range readLines(r) {
			select {
			case in <- l:
			case <-ctx.Done():
				return
			}
		}
	}()
	go func() {
		defer close(out)
		defer b.panic.Catch()
		b.hold(ctx, in, out)
	}()
	return b
}

// hold stores lines at once, and passes them on when the reader is ready.
func (b *inbox) hold(ctx context.Context, source <-chan line, out chan<- line) {
	var held []line
	for source != nil || len(held) > 0 {
		var sink chan<- line
		var first line
		if len(held) > 0 {
			sink, first = out, held[0]
		}
		select {
		case l, ok := <-source:
			if !ok {
				source = nil
				continue
			}
			held = b.add(held, l)
		case sink <- first:
			held[0] = line{} // so that its memory is freed
			held = held[1:]
		case <-ctx.Done():
			return
		}
	}
}

// add adds l to held, or a refusal above the limits. It joins consecutive refusals.
func (b *inbox) add(held []line, l line) []line {
	m, user := l.Message.(userMessage)
	size, most := int64(l.Size), int64(mostHeld)
	if !user {
		most *= 2
	}
	_, last := l.Message.(endMessage)
	if !last && (b.bytes.Load()+size > most || user && b.messages.Load() >= mostWaiting) {
		if n := len(held); n > 0 && held[n-1].Err == errFull && held[n-1].Through == l.Number-1 {
			held[n-1].Through, held[n-1].ID = l.Number, ""
			return held
		}
		l = line{Number: l.Number, Through: l.Number, ID: m.ID, Err: errFull}
		user, size = false, 0
	}
	b.bytes.Add(size)
	if user {
		b.messages.Add(1)
	}
	return append(held, l)
}

// done says that l is processed.
func (b *inbox) done(l line) {
	b.bytes.Add(-int64(l.Size))
	if _, user := l.Message.(userMessage); user {
		b.messages.Add(-1)
	}
}

// wait stores the message of a line until its turn.
func (b *inbox) wait(l line) { b.waiting = append(b.waiting, l) }

// next removes and returns the message that has waited longest.
func (b *inbox) next() (m userMessage, ok bool) {
	if len(b.waiting) == 0 {
		return m, false
	}
	return b.take(0), true
}

// remove removes and returns the waiting message with an id.
func (b *inbox) remove(id string) (m userMessage, ok bool) {
	at := slices.IndexFunc(b.waiting, func(l line) bool { return id != "" && l.Message.(userMessage).ID == id })
	if at < 0 {
		return m, false
	}
	return b.take(at), true
}

func (b *inbox) take(at int) userMessage {
	l := b.waiting[at]
	b.waiting = slices.Delete(b.waiting, at, at+1)
	b.done(l)
	return l.Message.(userMessage)
}

// verdict returns the error of a conversation after the end of its input: that of the last turn. If
// the input ended with a panic, verdict repeats the panic, after the results of all messages.
func (b *inbox) verdict(last error) error {
	b.panic.Raise()
	switch {
	case last != nil:
		return last
	case b.lost == 1:
		return &input.Error{Message: "a line of the input could not be used; a record of the type error says why"}
	case b.lost > 1:
		return &input.Error{Message: fmt.Sprintf("%d lines of the input could not be used; records of the type error say why", b.lost)}
	}
	return nil
}
