//go:build race

package enginetest

// raced says that this is built with the race detector.
const raced = true
