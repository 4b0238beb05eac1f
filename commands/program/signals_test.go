package program

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A run that was told to stop is waited for, unless it is told again.
func TestOverdue(t *testing.T) {
	for _, c := range []struct {
		again, done time.Duration // when, 0 for never
		want        bool
		took        time.Duration
	}{
		{0, 0, true, 3 * time.Second},
		{0, time.Second, false, time.Second},
		{100 * time.Millisecond, time.Second, false, time.Second},
		{100 * time.Millisecond, 0, true, 3 * time.Second},
		{time.Second, 2 * time.Second, true, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			again, done := make(chan os.Signal, 1), make(chan struct{})
			if c.again > 0 {
				time.AfterFunc(c.again, func() { again <- syscall.SIGTERM })
			}
			if c.done > 0 {
				time.AfterFunc(c.done, func() { close(done) })
			}
			began := time.Now()
			if got := overdue(3*time.Second, again, done); got != c.want || time.Since(began) != c.took {
				t.Errorf("%+v: %v after %s", c, got, time.Since(began))
			}
			time.Sleep(time.Minute) // the others have come
		})
	}
}
