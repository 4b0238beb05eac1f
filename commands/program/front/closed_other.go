//go:build !linux

package front

// outputClosed reports false: it can be found out on Linux only.
func outputClosed() bool { return false }
