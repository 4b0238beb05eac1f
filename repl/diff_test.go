package repl

import (
	"bytes"
	"strings"
	"testing"

	"gemline/repl/output"
)

// A diff is coloured, and what only looks like one is not.
func TestDiffColors(t *testing.T) {
	mark := map[output.Style]string{output.Good: "g", output.Bad: "r", output.Code: "h", output.Strong: "b", output.Normal: "."}
	for _, tt := range []struct{ name, text, want string }{
		{"one", "--- a\n+++ b\n@@ -1,3 +1,3 @@ func f\n a\n-b\n+c\n d\nend", "bbh.rg.."},
		{"one line", "@@ -1 +1 @@\n-b\n+c\n- list", "hrg."},
		{"lines that look like headers", "@@ -1,2 +1,2 @@\n--- x\n+++ y\n a\n--- c", "hrg.b"},
		{"two files", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n--- a/y\n+++ b/y\n@@ -1 +0,0 @@\n-a", "bbbhg.bbhr"},
		{"an empty line of context", "@@ -1,2 +1,2 @@\n\n-a\n+b", "h.rg"},
		{"a hunk that breaks off", "@@ -1,9 +1,9 @@\n-a\nwarning\n-rw-r--r-- x", "hr.."},
		{"ls", "-rw-r--r-- 1 a a 0 x\n+ set -x\n- item\n-- \n@@ x @@\n@@ - + @@", "....." + "h"},
	} {
		var d diff
		var b strings.Builder
		for l := range strings.SplitSeq(tt.text, "\n") {
			b.WriteString(mark[d.style(l)])
		}
		if b.String() != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, b.String(), tt.want)
		}
	}
}

// The last lines of a long diff are coloured though those before them are not
// shown.
func TestDiffInExcerpt(t *testing.T) {
	var b bytes.Buffer
	p := &Printer{Out: output.New(&b, output.Options{Color: true})}
	var c call
	p.show(c.out.add("@@ -0,0 +1,60 @@\n" + strings.Repeat("+a\n", 60) + "+ no more\n"))
	_, rest := c.out.end()
	p.show(rest)
	if !strings.Contains(b.String(), "\x1b[32m  +a\x1b[0m\n") || strings.Count(b.String(), "\x1b[32m") != firstLines+lastLines-2 {
		t.Errorf("%q", b.String())
	}
}
