package disk

import "time"

// A Stamp identifies a state of a file, or of a directory's list: on a local disk, equal Stamps
// mean that nothing changed.
type Stamp struct {
	Dev, Ino uint64
	Changed  time.Time
}

// settled is the age of a change from which on the next change surely gets another time.
const settled = 3 * time.Second

// Stable reports whether every change since the time at results in another Stamp.
func (s Stamp) Stable(at time.Time) bool { return s.Changed.Before(at.Add(-settled)) }
