package enginetest

import (
	"testing"
	"time"
)

// Eventually looks a hundred times a second whether something holds that another process
// brings about, and ends the test when it doesn't within five minutes. It leaves the
// processors to who works meanwhile.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(5 * time.Minute); !holds(); <-look.C {
		if time.Now().After(end) {
			t.Fatalf("not within 5 minutes: %s", what)
		}
	}
}
