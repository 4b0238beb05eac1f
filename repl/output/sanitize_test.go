package output

import (
	"strings"
	"testing"
)

func TestBlankLinesOfADiff(t *testing.T) {
	got := Sanitize("+a\n" + strings.Repeat("+\n", 100) + "+b\n-\n-  \n+\n \n \n \n-c")
	want := "+a\n+(100 blank lines)\n+b\n-\n-  \n+\n(3 blank lines)\n-c"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
