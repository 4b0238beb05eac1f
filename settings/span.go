package settings

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// A span is the range of a number. An empty bound is none.
type span struct{ least, most json.Number }

// largest is the largest whole number, which is small enough for any count.
const largest = math.MaxInt32

// holds reports whether a number is in the range.
func (r span) holds(n json.Number) bool {
	f, _ := n.Float64()
	return f >= bound(r.least, math.Inf(-1)) && f <= bound(r.most, math.Inf(1))
}

// String returns the words for the range behind the type, "" if all numbers are in it.
func (r span) String() string {
	switch {
	case r.most != "":
		return " from " + r.least.String() + " to " + r.most.String()
	case r.least != "":
		return " of at least " + r.least.String()
	}
	return ""
}

// above returns the largest number that the key allows, if v is a number above it, or spells one.
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
