package line

import (
	"strings"
	"testing"
	"unicode"
)

// No control sequence is part of a text that was typed.
func TestTypedText(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext":                           "plain\ttext",
		"a\x1b[Db\x1b[1;5Cc\x1bOAd":             "abcd",
		"\x1b[200~pasted\nlines\x1b[201~":       "pasted\nlines",
		"\x1b]11;rgb:0000/0000/0000\x1b\\go":    "go",
		"\x1b[24;80Rgo\x1b[?62;4c":              "go",
		"\x1bfix the bug\x1b":                   "fix the bug",
		"\x1b\x1b/stats":                        "/stats",
		"\x1b[1] fix\x1bPlease\x1bOnly\x1b[Use": "[1] fixPleaseOnly[Use",
		"\x1b[Mabcgo\x1b[<0;3;4mgo\x1bOP":       "gogo",
		"\x1b[[Ago\x1b[7^\x1b[3@go\x1b[[1]":     "gogo[[1]", // keys of the console of Linux, and of rxvt
		"\x1b[":                                 "",
		"cut\x1b[1":                             "cut1",
		"helo\x7flo":                            "hello",
		"h\u00e9\b\be":                          "e",
		"\x7f\x7fgo":                            "go",
		"one two\x17three":                      "one three",
		"wrong\x15right":                        "right",
		"one\n\x7f\x15two":                      "one\ntwo",
		"\x01a\x05b\x0b\x0c\x00c\u009bd\u0085":  "abcd",
		"dos\r":                                 "dos",
		"a\rb":                                  "a b",
		"می\u200cخواهم 👨\u200d👩":                "می\u200cخواهم 👨\u200d👩",
		"\xff":                                  "\uFFFD",
	} {
		if got := typedText([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzTypedText(f *testing.F) {
	f.Add([]byte("a\x1b[Db\x7f\x17\x1b]0;t\x07\x1b[M   \x1b\x1b[A"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := typedText(b)
		if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Errorf("%q is %q", b, s)
		}
	})
}
