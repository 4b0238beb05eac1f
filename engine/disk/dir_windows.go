package disk

import "io/fs"

// These have no meaning here.
const (
	NoWait   = 0
	NoFollow = 0
	careful  = 0
)

// LinkCount returns how many names a file has, which is not known here.
func LinkCount(fs.FileInfo) uint64 { return 1 }
