package parallel

import (
	"strings"
	"sync/atomic"
	"testing"
)

// A panic of one of several comes back to whoever waits for them, when all are
// over.
func TestEachFalls(t *testing.T) {
	var done atomic.Int32
	defer func() {
		v, _ := recover().(string)
		if !strings.HasPrefix(v, "oh no\n") || !strings.Contains(v, "TestEachFalls") || done.Load() != 9 {
			t.Errorf("%d are done, and the panic is %q", done.Load(), v)
		}
	}()
	Each(10, 3, func(i int) {
		if i == 4 {
			panic("oh no")
		}
		done.Add(1)
	})
	t.Error("nothing has fallen")
}

func TestEach(t *testing.T) {
	var now, most atomic.Int32
	seen := make([]int, 50)
	Each(len(seen), 4, func(i int) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		seen[i]++
		now.Add(-1)
	})
	for i, n := range seen {
		if n != 1 {
			t.Errorf("%d is called %d times", i, n)
		}
	}
	if most.Load() > 4 {
		t.Errorf("%d at once", most.Load())
	}
	Each(0, 1, func(int) { t.Error("called") })
}

// A panic of a call comes back to whoever ends the calls.
func TestEveryFalls(t *testing.T) {
	called := make(chan struct{})
	end := Every(1, func() {
		close(called)
		panic("oh no")
	})
	<-called
	defer func() {
		if v, _ := recover().(string); !strings.HasPrefix(v, "oh no\n") {
			t.Errorf("the panic is %q", v)
		}
	}()
	end()
	t.Error("nothing has fallen")
}
