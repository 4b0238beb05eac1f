package disk

import (
	"io/fs"
	"time"
)

// A Stat is the metadata of a directory entry. Two equal Stats mean equal content, if the
// first is stable.
type Stat struct {
	Mode     fs.FileMode
	Size     int64
	Dev, Ino uint64

	Modified, Changed int64 // nanoseconds since 1970; 0 is a time that is not known
}

// soon is how long ago a change on a disk of this machine has to be, so that the
// next one surely comes with another time: more than a tick of the kernel's clock.
const soon = 50 * time.Millisecond

// Stable reports whether every change from at on results in another Stat; local says that
// the file is on a disk of this machine.
func (l Stat) Stable(at time.Time, local bool) bool {
	before := at.Add(-settled)
	if local {
		before = at.Add(-soon)
	}
	return l.Changed != 0 && max(l.Changed, l.Modified) < before.UnixNano()
}
