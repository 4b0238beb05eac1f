package turn

import (
	"slices"
	"strings"
	"testing"
)

// What a turn brings is done in order, and the turn waits for each of it.
func TestBeside(t *testing.T) {
	d, after := make(Desk), 0
	var done []int
	d.Beside(func() {
		for i := range 3 {
			d.Do(func() { done = append(done, i) })
			after = len(done)
		}
	}, func() {
		for f := range d {
			f()
		}
	})
	if !slices.Equal(done, []int{0, 1, 2}) || after != 3 {
		t.Errorf("%v, %d", done, after)
	}
}

// A panic goes on where somebody waits, with the place where it began.
func TestPanic(t *testing.T) {
	d := make(Desk)
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "oh no\n") || !strings.Contains(text, "TestPanic") {
			t.Errorf("%q", text)
		}
	}()
	d.Beside(func() { panic("oh no") }, func() {
		for range d {
		}
	})
	t.Error("it returned")
}
