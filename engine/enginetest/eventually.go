package enginetest

import (
	"testing"
	"time"
)

// Eventually waits until something holds that another process brings about, and ends the test
// if that takes five minutes. It is called on the test's goroutine; others call [Comes].
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if !Comes(holds) {
		t.Fatalf("not within 5 minutes: %s", what)
	}
}

// Comes looks a hundred times a second whether something holds, for five minutes at most, and
// reports whether it did. It leaves the processors to the other process meanwhile.
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
