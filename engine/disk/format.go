package disk

import (
	"math"
	"strconv"
)

// A Format is the version of a format, as a file says it in formatVersion. A file that says
// nothing, or null, has the first format, 0. A value that is no whole number, or is beyond any
// version, is an UnknownFormat: only a newer program can have written it, so it is newer than
// every other.
type Format int

// UnknownFormat is the version of a format that nobody here knows.
const UnknownFormat Format = math.MaxInt32

// String returns the number, or "unknown".
func (f Format) String() string {
	if f == UnknownFormat {
		return "unknown"
	}
	return strconv.Itoa(int(f))
}

// UnmarshalJSON reads any value, so that a version of another kind hides no other field.
func (f *Format) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	*f = UnknownFormat
	if n, err := strconv.ParseFloat(string(b), 64); err == nil && n >= 0 && n == math.Trunc(n) && n < float64(UnknownFormat) {
		*f = Format(n)
	}
	return nil
}
