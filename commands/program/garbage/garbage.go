// Package garbage has the runtime begin to collect garbage later than it would.
//
// The runtime collects first when 4 MB are allocated, which is in the middle of a start:
// libraries make their tables, and what is made then stays. One collection costs a fifth of
// a start. So the first waits for 16 MB, which one turn does not come to, and those after it
// are as ever. A GOGC other than 100, which is the usual, counts as it is set.
//
// A program imports the package for that alone. It needs little, and is therefore initialized
// before what allocates.
package garbage

import (
	"runtime"
	"runtime/debug"
)

const usual, first = 100, 400 // per cent of what lives; of 4 MB, at the least

func init() {
	if was := debug.SetGCPercent(first); was != usual {
		debug.SetGCPercent(was)
		return
	}
	// A pointer, since what has none may share its memory with what lives.
	runtime.AddCleanup(new(*int), func(percent int) { debug.SetGCPercent(percent) }, usual)
}
