//go:build !linux

package disk

// OnLocalDisk reports whether a path is known to be on a local disk, to which no other machine
// writes.
func OnLocalDisk(string) bool { return false }
