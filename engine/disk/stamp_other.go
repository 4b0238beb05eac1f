//go:build !linux

package disk

import "io/fs"

// StampOf returns a file's stamp, if the system has stamps.
func StampOf(fs.FileInfo) (Stamp, bool) { return Stamp{}, false }

// OnLocalDisk reports whether a path is known to lie on a disk that nobody but this
// machine writes to.
func OnLocalDisk(string) bool { return false }
