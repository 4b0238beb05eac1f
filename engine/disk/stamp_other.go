//go:build !linux

package disk

import "io/fs"

// StampOf returns the stamp of a file, if there is one.
func StampOf(fs.FileInfo) (Stamp, bool) { return Stamp{}, false }

// Local reports whether a path is known to lie on a disk that nobody but this
// machine writes to.
func Local(string) bool { return false }
