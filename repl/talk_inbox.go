package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"

	"gemline/repl/protocol"
)

// How much a client may send ahead. What goes beyond is refused instead of left
// in the pipe: a cancel behind it has to be seen, and a client that writes
// before it reads must not be stuck.
const (
	mostWaiting = 1000     // messages
	mostHeld    = 64 << 20 // bytes of messages; other lines may have as many again
)

// errFull is the error of a line that there is no room for.
var errFull = errors.New("too much input is waiting; read the results before you send more")

// An inbox reads lines whether or not anybody has time for them.
type inbox struct {
	messages, bytes atomic.Int64 // of lines that are not done
	fallen          atomic.Pointer[string]
}

// catch is deferred by the goroutines of the inbox. A panic is the end of the
// lines, and is kept for [inbox.raise].
func (b *inbox) catch() {
	if v := recover(); v != nil {
		text := fmt.Sprintf("%v\n%s", v, debug.Stack())
		b.fallen.CompareAndSwap(nil, &text)
	}
}

// raise goes on with a panic, if there was one, where the caller can recover.
func (b *inbox) raise() {
	if text := b.fallen.Load(); text != nil {
		panic(*text)
	}
}

// open returns the lines of r, in order. The channel is closed behind the last
// one; its goroutines end then, or soon after ctx. Only a read that is under
// way can't be broken off: it goes on until r ends.
func (b *inbox) open(ctx context.Context, r io.Reader) <-chan protocol.Line {
	in, out := make(chan protocol.Line), make(chan protocol.Line)
	go func() {
		defer close(in)
		defer b.catch()
		for l := range protocol.Lines(r) {
			select {
			case in <- l:
			case <-ctx.Done():
				return
			}
		}
	}()
	go func() {
		defer close(out)
		defer b.catch()
		var held []protocol.Line
		for source := in; source != nil || len(held) > 0; {
			var sink chan protocol.Line
			var first protocol.Line
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
				held[0] = protocol.Line{} // or it could not be collected
				held = held[1:]
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// add adds l to held, or a refusal if there is no room. Refusals in a row are
// one.
func (b *inbox) add(held []protocol.Line, l protocol.Line) []protocol.Line {
	m, user := l.Message.(protocol.User)
	size, most := int64(l.Size), int64(mostHeld)
	if !user {
		most *= 2
	}
	_, last := l.Message.(protocol.End)
	if !last && (b.bytes.Load()+size > most || user && b.messages.Load() >= mostWaiting) {
		if n := len(held); n > 0 && held[n-1].Err == errFull && held[n-1].Through == l.Number-1 {
			held[n-1].Through, held[n-1].ID = l.Number, ""
			return held
		}
		l = protocol.Line{Number: l.Number, Through: l.Number, ID: m.ID, Err: errFull}
		user, size = false, 0
	}
	b.bytes.Add(size)
	if user {
		b.messages.Add(1)
	}
	return append(held, l)
}

// done makes room: l is no longer held.
func (b *inbox) done(l protocol.Line) {
	b.bytes.Add(-int64(l.Size))
	if _, user := l.Message.(protocol.User); user {
		b.messages.Add(-1)
	}
}
