package output

import (
	"encoding/json"
	"strings"
	"testing"
)

// JSON says the same as before, and shows everything.
func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"b c"}`:                        `{"a":"b c"}`,
		"\"\x7f\"":                           `"\u007f"`,
		"\"\x7f\u0085\u009b\"":               `"\u007f\u0085\u009b"`,
		"[\"\u202e\u200b\ufeff\",\n\t\"é\"]": "[\"\\u202e\\u200b\\ufeff\",\n\t\"é\"]",
		"\"\U000e0041\U0001f600\"":           "\"\\udb40\\udc41\U0001f600\"",
	} {
		if got := string(JSON([]byte(text))); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := string(VisibleJSON([]byte("\"می\u200cخ\u00ad\u202e\""))); got != "\"می\u200cخ\u00ad\\u202e\"" {
		t.Error(got)
	}
}

func FuzzJSON(f *testing.F) {
	f.Add("a\u202eb\x00\u200d\U000e0041\xff")
	f.Fuzz(func(t *testing.T, s string) {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var before, after string
		json.Unmarshal(b, &before)
		b = JSON(b)
		if err := json.Unmarshal(b, &after); err != nil || before != after {
			t.Errorf("%q became %q: %v", before, after, err)
		}
		if strings.ContainsFunc(string(b), hidden) {
			t.Errorf("%q shows not everything", b)
		}
	})
}
