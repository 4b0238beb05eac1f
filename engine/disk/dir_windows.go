package disk

import "io/fs"

// careful has no meaning here.
const careful = 0

// links returns how many names a file has, which is not known here.
func links(fs.FileInfo) uint64 { return 1 }
