package line

import (
	"context"
	"io"
	"runtime"
	"testing"
	"time"
)

// Ctrl-C takes what was typed away, also between the moment the terminal says
// that there is a line and the one in which it is read.
func TestInterruptBehindALine(t *testing.T) {
	s, control := onTerminal(t)
	go io.Copy(io.Discard, control) // the echo
	for i := range 20_000 {
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			for err := error(nil); err == nil; _, err = s.read(ctx) {
			}
			close(over)
		}()
		for range i % 100 { // until the reading is at any of its points
			runtime.Gosched()
		}
		control.WriteString("one\r\x03")
		cancel()
		select {
		case <-over:
		case <-time.After(5 * time.Minute):
			t.Fatalf("interrupt %d did not end the reading", i)
		}
	}
}
