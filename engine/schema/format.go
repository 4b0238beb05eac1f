package schema

import lib "github.com/google/jsonschema-go/jsonschema"

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

// lower puts the format of sub, if it is one that is checked, into a pattern.
func (s *Schema) lower(sub *lib.Schema) {
	sh, ok := shapes[sub.Format]
	if !ok || sub.Pattern == sh.pattern {
		return
	}
	if err := s.compile(sh.pattern); err != nil {
		panic(err) // a mistake in shapes
	}
	sub.AllOf = append(sub.AllOf, &lib.Schema{Format: sub.Format, Pattern: sh.pattern})
}
