package output

import (
	"strings"
	"testing"
)

// Blanks push nothing out of sight, and nothing covers what stands beside it.
func TestSanitize(t *testing.T) {
	blanks := func(n int) string { return strings.Repeat(" ", n) }
	for in, want := range map[string]string{
		"a\n\n\nb\n\n\n\nc\n\n\n": "a\n\n\nb\n(3 blank lines)\nc\n(3 blank lines)",
		"+a\n" + strings.Repeat("+\n", 100) + "+b\n-\n-  \n+\n \n \n \n-c": "+a\n+(100 blank lines)\n+b\n-\n-  \n+\n(3 blank lines)\n-c",
		"a" + blanks(8) + "b" + blanks(9) + "c":                            "a" + blanks(8) + "b (9 blanks) c",
		"a\t\t\t\t \t\t\t\tb":                                              "a (9 blanks) b",
		"ab" + blanks(8) + "\nab" + blanks(9):                              "ab" + blanks(8) + "\nab (9 blanks) ",
		blanks(100) + "a\n" + blanks(101) + "a":                            blanks(100) + "a\n (101 blanks) a",
		"-rm" + blanks(9) + "x\na" + blanks(9) + "x":                       "-rm (9 blanks) x\na (9 blanks) x",
		"+" + blanks(100) + "a\n-" + blanks(101) + "a":                     "+" + blanks(100) + "a\n- (101 blanks) a",
		blanks(8) + "\n" + blanks(9) + "\n+" + blanks(9):                   blanks(8) + "\n (9 blanks) \n+ (9 blanks) ",
		"x\u2800y\u202ez":                                                  `x\u{2800}y\u{202e}z`,
		"e\u0301\u0302\u0303\u0304!\u0305":                                 "e\u0301\u0302\u0303" + `\u{304}` + "!\u0305",
		"\u0301a\n\u0302 \u0303":                                           `\u{301}a` + "\n" + `\u{302} \u{303}`,
	} {
		if got := Sanitize(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
