package tools

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// each calls f with the numbers below n, so many at once at most, and returns
// when all are over. The first panic of one goes on here, where the caller can
// recover; on its own goroutine it would be the end of the program.
func each(n, most int, f func(int)) {
	var wg sync.WaitGroup
	var once sync.Once
	var fallen any
	slots := make(chan struct{}, most)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					once.Do(func() { fallen = fmt.Sprintf("%v\n%s", v, debug.Stack()) })
				}
				<-slots
			}()
			f(i)
		})
	}
	wg.Wait()
	if fallen != nil {
		panic(fallen)
	}
}
