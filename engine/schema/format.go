package schema

import (
	"errors"
	"regexp"
	"regexp/syntax"
)

// A pattern is one of the schema's.
type pattern struct {
	*regexp.Regexp
	size int // about how many steps its program has
}

// maxPattern is how many steps the programs of all patterns may have.
const maxPattern = 200_000

// compile notes a pattern. What its program would take is found out before.
func (s *Schema) compile(text string) error {
	if _, known := s.patterns[text]; known {
		return nil
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return err
	}
	size := steps(tree)
	if s.size += size; s.size > maxPattern {
		return errors.New("takes too much, with all the other patterns")
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return err
	}
	s.patterns[text] = pattern{re, size}
	return nil
}

// steps returns about how many steps the program of a pattern has.
func steps(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/2
	for _, sub := range re.Sub {
		n += steps(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return n
}

// A shape is what texts of a format look like. It does not know how many days
// a month has.
type shape struct{ pattern, words string }

const (
	date   = `\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])`
	clock  = `([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)`
	byte10 = `(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`
	label  = `[0-9A-Za-z]([0-9A-Za-z-]{0,61}[0-9A-Za-z])?`
)

// shapes has the formats that are checked. Draft 2020-12 takes format for a
// remark, which surprises whoever asks for a date.
var shapes = map[string]shape{
	"date":      {`^` + date + `$`, "a date such as 2026-11-21"},
	"time":      {`^` + clock + `$`, "a time such as 16:30:00Z"},
	"date-time": {`^` + date + `[Tt ]` + clock + `$`, "a date and time such as 2026-11-21T16:30:00Z"},
	"duration":  {`^P(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)$`, "a duration such as PT1H30M"},
	"email":     {`^[^\s@]+@[^\s@]+$`, "an e-mail address"},
	"hostname":  {`^` + label + `(\.` + label + `)*$`, "the name of a host"},
	"ipv4":      {`^` + byte10 + `(\.` + byte10 + `){3}$`, "an IPv4 address"},
	"uri":       {`^[A-Za-z][A-Za-z0-9+.-]*:[^\s]*$`, "a URI with its scheme"},
	"uuid":      {`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`, "a UUID"},
}
