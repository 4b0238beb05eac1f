package settings

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// A span is the range of a number. An empty bound means no limit.
type span struct{ least, most json.Number }

// largest is the largest integer, which fits any count.
const largest = math.MaxInt32

// holds reports whether a number is in the range.
func (r span) holds(n json.Number) bool {
	f, _ := n.Float64()
	return f >= bound(r.least, math.Inf(-1)) && f <= bound(r.most, math.Inf(1))
}

// String describes the range, for use after the type, "" if all numbers are in it.
func (r span) String() string {
	switch {
	case r.most != "":
		return " from " + r.least.String() + " to " + r.most.String()
	case r.least != "":
		return " of at least " + r.least.String()
	}
	return ""
}

// above returns the key's largest number if v is a number above it, or a text of such a number.
func (k Key) above(v any) (most json.Number, ok bool) {
	s, is := numeral(v)
	if !is {
		s, _ = v.(string)
	}
	if most = k.span.most; most == "" && k.is(isWhole) {
		most = json.Number(strconv.Itoa(largest))
	}
	f, _ := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return most, f > bound(most, math.Inf(1))
}

// bound returns a bound, or otherwise if there is none.
func bound(n json.Number, otherwise float64) float64 {
	if n == "" {
		return otherwise
	}
	f, _ := n.Float64()
	return f
}
