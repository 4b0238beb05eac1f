package journal

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/genai"
)

func TestFields(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                                  "",
		` {"a" : 1 , "b":[1,{"c":"]}"}] } `:   `a=1 b=[1,{"c":"]}"}]`,
		`{"a":"\"}\\","b":null}`:              `a="\"}\\" b=null`,
		`{"a":1`:                              "broken",
		`{"a":"x}`:                            "broken",
		`{"a":"x\"}`:                          "broken",
		`{"a"}`:                               "broken",
		`{"a":}`:                              "broken",
		`{"a":1}}`:                            "broken",
		`{a:1}`:                               "broken",
		`[1]`:                                 "broken",
		``:                                    "broken",
		`{"a":[[[[[}`:                         "broken",
		`{"a":1 "b":2}`:                       "broken",
		strings.Repeat(`{"a":`, 100_000):      "broken",
		`{"a":` + strings.Repeat("[", 100000): "broken",
	} {
		var got []string
		if !eachField([]byte(in), func(k, v []byte) { got = append(got, string(k)+"="+string(v)) }) {
			got = []string{"broken"}
		}
		if all := strings.Join(got, " "); all != want {
			t.Errorf("%.40s: %.80q, want %q", in, all, want)
		}
	}
}

// FuzzSimple takes the standard library for the judge.
func FuzzSimple(f *testing.F) {
	for _, s := range []string{`{"text":"a"}`, `{"functionResponse":{"id":"1","name":"n","response":{"output":"x","error":"y"}}}`,
		`{"functionCall":{"id":"1","name":"n","args":{"a":"b","n":1,"a":"c"}},"thoughtSignature":"c2ln"}`, `{"functionCall":{"args":{"\\u0061":"b"}}}`, `{"functionCall":{"args":null}}`, `{"thoughtSignature":"x"}`,
		`{"text":"a","thought":true}`, `{"functionResponse":{"response":{"output":1}}}`, `{"functionResponse":{"response":null}}`, `{"functionResponse":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ok := decodeSimple(b)
		want := &genai.Part{}
		if !ok || json.Unmarshal(b, want) != nil { // more is taken than is JSON
			return
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("decodeSimple(%q) = %+v, want %+v", b, got, want)
		}
	})
}
