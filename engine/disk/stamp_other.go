//go:build !linux

package disk

import "io/fs"

// StampOf returns a file's stamp, if the system has stamps.
func StampOf(fs.FileInfo) (Stamp, bool) { return Stamp{}, false }

// OnLocalDisk reports whether a path is known to be on a local disk, to which no other machine
// writes.
func OnLocalDisk(string) bool { return false }
