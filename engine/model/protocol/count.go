package protocol

import (
	"strconv"
	"strings"
)

// A Count is an integer from a server; any other value is 0. Some servers write 10.0 or "10".
type Count int

// UnmarshalJSON implements [json.Unmarshaler]. It gives no error.
func (c *Count) UnmarshalJSON(b []byte) error {
	f, _ := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if *c = 0; f > 0 { // false for "NaN"
		*c = Count(min(f, 1<<30))
	}
	return nil
}
