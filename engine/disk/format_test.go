package disk

import (
	"encoding/json"
	"testing"
)

// Whatever stands in formatVersion is read, and what is no version is newer than all versions.
func TestFormat(t *testing.T) {
	for in, want := range map[string]Format{
		`{}`: 0, `{"formatVersion":null}`: 0, `{"formatVersion":0}`: 0, `{"formatVersion":1}`: 1,
		`{"formatVersion":1.0}`: 1, `{"formatVersion":1e1}`: 10, `{"formatVersion":2147483646}`: 2147483646,
		`{"formatVersion":2147483647}`: UnknownFormat, `{"formatVersion":99999999999999999999}`: UnknownFormat,
		`{"formatVersion":1e999}`: UnknownFormat,
		`{"formatVersion":"99"}`:  UnknownFormat, `{"formatVersion":""}`: UnknownFormat, `{"formatVersion":1.5}`: UnknownFormat,
		`{"formatVersion":-1}`: UnknownFormat, `{"formatVersion":true}`: UnknownFormat, `{"formatVersion":{}}`: UnknownFormat,
		`{"formatVersion":[1]}`: UnknownFormat,
	} {
		got := struct {
			FormatVersion Format
			Next          string
		}{}
		if err := json.Unmarshal([]byte(in[:len(in)-1]+comma(in)+`"next":"x"}`), &got); err != nil || got.FormatVersion != want || got.Next != "x" {
			t.Errorf("%s: %v, %+v", in, err, got)
		}
		b, err := json.Marshal(got.FormatVersion)
		if want != UnknownFormat && (err != nil || string(b) != want.String()) {
			t.Errorf("%s is written as %s: %v", in, b, err)
		}
	}
}

func comma(in string) string {
	if in == "{}" {
		return ""
	}
	return ","
}
