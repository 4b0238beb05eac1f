package workspace

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// A fall is the first panic of goroutines that work for another one. It goes
// on there, where whoever called can recover; on its own goroutine it would be
// the end of the program.
type fall struct {
	mu    sync.Mutex
	value string
}

// catch is deferred by a worker. After a panic it calls stop, so that the
// others end, too.
func (f *fall) catch(stop func()) {
	v := recover()
	if v == nil {
		return
	}
	f.mu.Lock()
	if f.value == "" {
		f.value = fmt.Sprintf("%v\n%s", v, debug.Stack())
	}
	f.mu.Unlock()
	stop()
}

// raise goes on with the panic, if there was one. All workers must be over.
func (f *fall) raise() {
	if f.value != "" {
		panic(f.value)
	}
}
