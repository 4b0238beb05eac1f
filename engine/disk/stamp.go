package disk

import "time"

// A Stamp is what tells whether a file, or what a directory lists, is as it was:
// on a disk that is this machine's own, two that are equal are of the same.
type Stamp struct {
	Dev, Ino uint64
	Changed  time.Time
}

// settled is how long ago a change has to be, so that the next one surely comes
// with another time.
const settled = 3 * time.Second

// Stable reports whether whatever changes from at on gets another stamp.
func (s Stamp) Stable(at time.Time) bool { return s.Changed.Before(at.Add(-settled)) }
