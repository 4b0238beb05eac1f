package output

import (
	"bytes"
	"testing"
)

// A copy shows the messages of another terminal at a width of its own, and nothing else.
func TestCopy(t *testing.T) {
	var from, to, copied bytes.Buffer
	w := New(&from, Options{Color: true})
	w.CopyTo(func(b []byte) { copied.Write(b) })
	w.Wrap(func() int { return 20 })
	w.Line(Warning, "one two three four\x1b\nfive")
	w.Prompt("> ")
	w.Entered()
	w.Spans(Span{Style: Strong, Text: "six"})
	w.Fresh()
	copied.Write(Copied(You, "a\nb"))
	copied.Write(CopiedText("c\n\n\n\n"))
	copied.WriteString("\x01info") // what is cut off, or was written by somebody else
	w = New(&to, Options{})
	ShowCopy(w, copied.Bytes())
	ShowCopy(w, []byte("\n\x01nobody\x02d\x01done\x02e"))
	w.Fresh()
	want := "warning: one two three four\\x1b\nfive\nsix\nyou: a\nb\nc\n(4 blank lines)\ninfo\nnobody\\x02d\ndone: e\n"
	if got := to.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
