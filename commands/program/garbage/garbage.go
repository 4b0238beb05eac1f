// Package garbage delays the first collection of garbage.
//
// The runtime collects first when 4 MB are allocated, which is in the middle of a start: libraries
// make their tables, which then stay in use. One collection costs a fifth of a start. So the first
// collection waits for 16 MB, which one turn does not allocate; later collections are as usual. A
// GOGC other than the usual 100 is left as it is set.
//
// A program imports the package for its init alone. The package imports little, and is therefore
// initialized before the packages that allocate.
package garbage

import (
	"runtime"
	"runtime/debug"
)

const usual, first = 100, 400 // per cent of the live memory, at least 4 MB

func init() {
	if was := debug.SetGCPercent(first); was != usual {
		debug.SetGCPercent(was)
		return
	}
	// A pointer, since a value without pointers may share memory with values that stay in use.
	runtime.AddCleanup(new(*int), func(percent int) { debug.SetGCPercent(percent) }, usual)
}
