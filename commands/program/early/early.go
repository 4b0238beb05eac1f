// Package early does for a start what pays before main.
//
// The runtime collects garbage first when 4 MB are allocated, which is in the middle of a start:
// libraries make their tables, and what is made then stays. One collection costs a fifth of
// a start. So the first waits for 16 MB, which one turn does not come to, and those after it
// are as ever. A GOGC other than 100, which is the usual, counts as it is set.
//
// Libraries are initialized one after the other, which takes a third of a start, half of it for
// the schemas of JSON Schema. Meanwhile other goroutines make the parser of the command line and
// read the table of models.
//
// A program imports the package for that alone. It needs few packages, and is therefore initialized
// before the libraries that take time.
package early

import (
	"runtime"
	"runtime/debug"

	"gemline/engine/model/catalog"
	"gemline/settings/flags"
)

const usual, first = 100, 400 // per cent of what lives; of 4 MB, at the least

func init() {
	for _, prepare := range []func(){flags.Prepare, func() { catalog.Shipped() }} {
		go func() {
			defer func() { recover() }() // whoever needs it gets the panic
			prepare()
		}()
	}
	if was := debug.SetGCPercent(first); was != usual {
		debug.SetGCPercent(was)
		return
	}
	// A pointer, since what has none may share its memory with what lives.
	runtime.AddCleanup(new(*int), func(percent int) { debug.SetGCPercent(percent) }, usual)
}
