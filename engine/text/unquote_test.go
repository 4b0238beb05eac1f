package text_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"gemline/engine/text"
)

// FuzzUnquote takes the standard library for the judge.
func FuzzUnquote(f *testing.F) {
	for _, s := range []string{`""`, `"a\n\"\\\/\b\f\r\t"`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83d"`, `"\ud83dx"`, `"\u12"`, `"\x"`, `"a"b"`, `"\"`, "\"\x01\"", "\"\xff\"", `"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var want string
		err := json.Unmarshal(b, &want)
		got, ok := text.Unquote(b)
		if ok && (err != nil || got != want) {
			t.Errorf("Unquote(%q) = %q, want %q, %v", b, got, want, err)
		}
		if n := text.Quoted(b); err == nil && b[0] == '"' && string(bytes.TrimRight(b, " \t\r\n")) != string(b[:n]) {
			t.Errorf("Quoted(%q) = %d", b, n)
		}
	})
}
