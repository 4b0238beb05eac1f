package limit_test

import (
	"errors"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/limit"
)

// A prompt takes as many requests as it may, and the next prompt as many again.
func TestTurns(t *testing.T) {
	for _, test := range []struct {
		most, wants, left int
		stopped           bool
	}{{0, 5, 0, false}, {5, 5, 0, false}, {4, 5, 1, true}} {
		b := limit.New(limit.Config{})
		var replies []et.Reply
		for range test.wants - 1 {
			replies = append(replies, et.Says("hm", et.Call("", "none")))
		}
		replies = append(replies, et.Says("done"))
		e, script := converse(t, b, append(replies, replies...)...)
		for range 2 {
			r := et.Record(limit.Turns(e.Run, test.most)(t.Context(), genai.NewPartFromText("go")))
			if stopped := len(r.Errs) == 1 && errors.Is(r.Errs[0], engine.ErrMaxTurns); stopped != test.stopped {
				t.Errorf("%d of %d: %v", test.wants, test.most, r.Errs)
			}
			if test.stopped {
				break
			}
		}
		if left := script.Left() - test.left; left != 0 && !test.stopped {
			t.Errorf("%d of %d: %d replies are left", test.wants, test.most, left)
		}
		et.CheckHistory(t, e.History())
	}
}

// What is said again about the same prompt counts with it.
func TestTurnsAgain(t *testing.T) {
	e, script := converse(t, limit.New(limit.Config{}), et.Says("a", et.Call("", "none")), et.Says("b"), et.Says("c"), et.Says("d"))
	run := limit.Turns(e.Run, 3)
	var errs []error
	for range 3 {
		errs = append(errs, et.Record(run(t.Context(), genai.NewPartFromText("go"))).Errs...)
	}
	if len(errs) != 1 || !errors.Is(errs[0], engine.ErrMaxTurns) || script.Left() != 1 {
		t.Errorf("%v, %d replies are left", errs, script.Left())
	}
}
