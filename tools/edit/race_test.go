//go:build race

package edit

// scale makes hostile input smaller: the race detector is slow, and this
// package has no goroutine for it to watch.
const scale = 16
