package teletype

import (
	"io"
	"net"
	"testing"
)

// A Latch holds up a program under test, at a point of its choosing, until the
// test lets it go on.
type Latch struct {
	// Addr is what the program gives to [Await].
	Addr string

	t testing.TB
	l net.Listener
}

// NewLatch returns a Latch that is shut.
func NewLatch(t testing.TB) *Latch {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &Latch{Addr: l.Addr().String(), t: t, l: l}
}

// Open waits for the program to arrive at the latch and lets it go on.
func (l *Latch) Open() {
	l.t.Helper()
	c, err := l.l.Accept()
	if err != nil {
		l.t.Fatal(err)
	}
	c.Close()
}

// Await waits, in the program, until the latch at addr is opened. Without an
// address it returns at once.
func Await(addr string) {
	if addr == "" {
		return
	}
	if c, err := net.Dial("tcp", addr); err == nil {
		io.Copy(io.Discard, c)
		c.Close()
	}
}
