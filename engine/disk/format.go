package disk

import (
	"math"
	"strconv"
)

// A Format is the format version of a file, in its field formatVersion. A file without the field,
// or with null, has the first format, 0. A value that is no integer, or too large, is an
// UnknownFormat: only a newer program can have written it, so it is newer than every other.
type Format int

// UnknownFormat is a version that this program can't read.
const UnknownFormat Format = math.MaxInt32

// String returns the number, or "unknown".
func (f Format) String() string {
	if f == UnknownFormat {
		return "unknown"
	}
	return strconv.Itoa(int(f))
}

// UnmarshalJSON accepts any value, so that an invalid version hides no other field.
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
