//go:build !race

package enginetest

// Raced says that this is built with the race detector.
const Raced = false
