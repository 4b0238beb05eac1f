package batch

import (
	"context"
	"fmt"
	"runtime/debug"
)

// A fall is a panic on a goroutine of the batch's, on its way to the caller's.
type fall struct{ value string }

func (f *fall) Error() string { return f.value }

// fallen returns the error of a panic with the value v.
func fallen(v any) error { return &fall{fmt.Sprintf("%v\n%s", v, debug.Stack())} }

// A read is an item that was read, or why there is none.
type read struct {
	Item
	err error
}

// read reads the items as they are taken. A read that is under way when ctx is
// done can't be stopped; it goes on until the input ends or is closed.
func (r *runner) read(ctx context.Context) <-chan read {
	c := make(chan read)
	in := NewReader(r.Source, r.Format)
	next := func() (it Item, err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fallen(v)
			}
		}()
		return in.Next()
	}
	go func() {
		for {
			it, err := next()
			select {
			case c <- read{it, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return c
}
