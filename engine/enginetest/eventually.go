package enginetest

import (
	"testing"
	"time"
)

// Eventually waits for a condition that another process causes, and fails the test after five
// minutes. It must be called on the test's goroutine; other goroutines call [Comes].
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if !Comes(holds) {
		t.Fatalf("not within 5 minutes: %s", what)
	}
}

// Comes checks a condition a hundred times per second, for at most five minutes, and reports
// whether it became true. It sleeps between checks, to let the other process run.
func Comes(holds func() bool) bool {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(5 * time.Minute); !holds(); <-look.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
