package output

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// wrapped returns what a Writer makes of text that comes in pieces of a size.
func wrapped(o Options, width, size int, spans ...Span) string {
	var b bytes.Buffer
	w := New(&b, o)
	for _, s := range spans {
		for len(s.Text) > 0 {
			piece := s
			piece.Text = s.Text[:min(size, len(s.Text))]
			s.Text = s.Text[len(piece.Text):]
			w.Prose(width, piece)
		}
	}
	w.Fresh()
	return b.String()
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		name, text, hang string
		width            int
		want             string
	}{
		{"words", "one two three four five six", "", 20, "one two three four\nfive six\n"},
		{"to the last column", "1234567890 123456789 x", "", 20, "1234567890 123456789\nx\n"},
		{"a line that ends by itself", "1234567890 123456789\nx", "", 20, "1234567890 123456789\nx\n"},
		{"lines of the text stay", "one\n\ntwo", "", 20, "one\n\ntwo\n"},
		{"blanks within a line stay", "one  two\tthree", "", 40, "one  two\tthree\n"},
		{"a tab is as wide as it is shown", "1234567\t8901\t12 x", "", 20, "1234567\t8901\t12 x\n"},
		{"a tab, one more", "1234567\t8901\t123 x", "", 20, "1234567\t8901\t123\nx\n"},
		{"blanks at an end go", "one two three four  \n five six  ", "", 20, "one two three four\n five six\n"},
		{"what hangs", "- one two three four five", "  ", 20, "- one two three four\n  five\n"},
		{"a long word has its own line", "see https://example.org/a/long/way and go", "", 20, "see\nhttps://example.org/a/long/way\nand go\n"},
		{"a long word alone", "https://example.org/a/long/way", "", 20, "https://example.org/a/long/way\n"},
		{"a long word behind less than what hangs", "- 1234567890123456789012345", "        ", 20, "-\n        1234567890123456789012345\n"},
		{"a long word of letters beyond ASCII", strings.Repeat("é", 25), "", 20, strings.Repeat("é", 25) + "\n"},
		{"a letter beyond ASCII between wide ones", "一二三四五六七八九é十", "", 20, "一二三四五六七八\n九é十\n"},
		{"a letter between wide ones", "一二三四五六七八九a十", "", 20, "一二三四五六七八\n九a十\n"},
		{"half a prompt before a break", "> 1234567890123456789", "", 20, ">\n1234567890123456789\n"},
		{"a character that breaks off", "one two \xe2", "", 20, `one two \xe2` + "\n"},
		{"unknown", "one two three four five six", "", 0, "one two three four five six\n"},
		{"too narrow", "one two three four five six", "", 19, "one two three four five six\n"},
		{"wide characters", "日本語の文章は空白なしで書かれます", "", 20, "日本語の文章は空白な\nしで書かれます\n"},
		{"a stop stays with its word", "一二三四五六七八九十。一", "", 20, "一二三四五六七八九\n十。一\n"},
		{"a bracket stays with its word", "一二三四五六七八九「十」", "", 20, "一二三四五六七八九\n「十」\n"},
		{"wide and narrow", "a日本語の文章は空白なしで", "", 20, "a日本語の文章は空白\nなしで\n"},
		{"marks", strings.Repeat("e\u0301", 10) + " " + strings.Repeat("a\u0308", 9) + " x", "", 20,
			strings.Repeat("e\u0301", 10) + " " + strings.Repeat("a\u0308", 9) + "\nx\n"},
		{"pictures", "👍👍👍👍👍👍👍👍👍👍👍", "", 20, "👍👍👍👍👍👍👍👍👍👍\n👍\n"},
		{"a picture and its colour", "123456789012345678 👍🏽👍🏽", "", 20, "123456789012345678\n👍🏽👍🏽\n"},
		{"flags", "🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷", "", 20, "🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪\n🇫🇷\n"},
		{"an escape is as wide as it is shown", "one two three 12\x1b345 six", "", 20, "one two three\n12\\x1b345 six\n"},
		{"a label", "one two three four permission: run: ls", "", 20, "one two three four\n| permission: run:\nls\n"},
		{"a label in capitals", "one two three four five Error: x", "", 20, "one two three four\nfive Error: x\n"},
		{"a prompt", "one two three four > rm -rf", "", 20, "one two three four >\nrm -rf\n"},
		{"a prompt on a new line", "one two three fourr > rm -rf", "", 20, "one two three fourr\n| > rm -rf\n"},
		{"choices", "one two three four f y n e ? y", "", 20, "one two three four f\n| y n e ? y\n"},
		{"a mark takes room", "one two three fourr error: 78901 3456", "", 20, "one two three fourr\n| error: 78901 3456\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Span{Text: tt.text, Hang: tt.hang}
			for size := len(tt.text); size > 0; size-- {
				if got := wrapped(Options{}, tt.width, size, s); got != tt.want {
					t.Fatalf("in pieces of %d:\n%q, want\n%q", size, got, tt.want)
				}
			}
		})
	}
}

// What stands as it is has no line broken, and what stands beside it has.
func TestWrapSpans(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spans []Span
		want  string
	}{
		{"code with blanks", []Span{{Text: "then run ("}, {Text: "go test ./... x", Flow: Tight}, {Text: ") twice"}},
			"then run\n(go test ./... x)\ntwice\n"},
		{"code longer than a line", []Span{{Text: "run "}, {Text: "go test -run X -count 1 ./...", Flow: Tight}, {Text: " now"}},
			"run\ngo test -run X -count 1 ./...\nnow\n"},
		{"a line of code", []Span{{Text: "if a && b && c && d && e {", Flow: Exact}, {Text: "\n", Flow: Exact}, {Text: "and so on and on and on"}},
			"if a && b && c && d && e {\nand so on and on and\non\n"},
		{"code behind half a word", []Span{{Text: "one two"}, {Text: "(a b)", Flow: Exact}, {Text: " three"}},
			"one two(a b) three\n"},
		{"an address of wide characters", []Span{{Text: "一 "}, {Text: "http://例え.テスト/一二三四五六七", Flow: Tight}, {Text: "です"}},
			"一\nhttp://例え.テスト/一二三四五六七\nです\n"},
		{"wide behind code", []Span{{Text: "go test ./... 12345", Flow: Tight}, {Text: "です一二"}},
			"go test ./... 12345で\nす一二\n"},
		{"margins", []Span{{Text: "  - ", Flow: Tight}, {Text: "one two three four five", Hang: "    "}, {Text: "\n"}, {Text: "    ", Flow: Tight}, {Text: "six", Hang: "    "}},
			"  - one two three\n    four five\n    six\n"},
	} {
		for size := 1; size < 40; size++ {
			if got := wrapped(Options{}, 20, size, tt.spans...); got != tt.want {
				t.Errorf("%s, in pieces of %d:\n%q, want\n%q", tt.name, size, got, tt.want)
				break
			}
		}
	}
}

// A word is shown when it is whole, or can't be on any line. A message ends it.
func TestWrapPromptly(t *testing.T) {
	var b bytes.Buffer
	w := New(&b, Options{})
	w.Begin(Gemini)
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { w.Prose(20, Span{Text: "Hel"}) }, "gemini: "},
		{func() { w.Prose(20, Span{Text: "lo "}) }, "gemini: Hello"},
		{func() { w.Prose(20, Span{Text: "wor"}) }, "gemini: Hello"},
		{func() { w.Line(Progress, "x") }, "gemini: Hello wor\nprogress: x\n"},
		{func() { w.Prose(20, Span{Text: strings.Repeat("y", 20)}) }, "gemini: Hello wor\nprogress: x\n"},
		{func() { w.Prose(20, Span{Text: "y"}) }, "gemini: Hello wor\nprogress: x\n" + strings.Repeat("y", 21)},
		{func() { w.Prose(20, Span{Text: "z"}) }, "gemini: Hello wor\nprogress: x\n" + strings.Repeat("y", 21) + "z"},
		{func() { w.Prose(20, Span{Text: " a b "}) }, "gemini: Hello wor\nprogress: x\n" + strings.Repeat("y", 21) + "z\na b"},
		{func() { w.Prose(25, Span{Text: "a wider terminal now "}) }, "gemini: Hello wor\nprogress: x\n" + strings.Repeat("y", 21) + "z\na b a wider terminal now"},
		{func() { w.Touched(); w.Prose(40, Span{Text: "and"}); w.Fresh() }, "gemini: Hello wor\nprogress: x\n" + strings.Repeat("y", 21) + "z\na b a wider terminal now and\n"},
		{func() { w.Prose(25, Span{Text: "one "}); w.Text("t") }, "gemini: Hello wor\nprogress: x\n" + strings.Repeat("y", 21) + "z\na b a wider terminal now and\none t"},
		{func() { w.Text("w") }, "gemini: Hello wor\nprogress: x\n" + strings.Repeat("y", 21) + "z\na b a wider terminal now and\none tw"},
	} {
		if step.do(); b.String() != step.want {
			t.Fatalf("%q, want %q", b.String(), step.want)
		}
	}
}

// What is coloured stays so on the next line, and no colour goes on over its
// end.
func TestWrapColors(t *testing.T) {
	got := wrapped(Options{Color: true}, 20, 100, Span{Text: "one two "}, Span{Style: Strong, Text: "three four five six"}, Span{Text: " x"})
	want := "one two \x1b[1mthree four\x1b[22m\n\x1b[1mfive\x1b[22m\x1b[1m six\x1b[22m x\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	got = wrapped(Options{Color: true}, 20, 100, Span{Style: Strong, Text: "one caf\u00e9"}, Span{Text: " x"})
	if want = "\x1b[1mone\x1b[22m\x1b[1m caf\u00e9\x1b[22m x\n"; got != want {
		t.Errorf("a letter beyond ASCII at the end: %q, want %q", got, want)
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("one two three four permission: run: ls and so on", "  ", uint8(20), uint8(3), false)
	f.Add("日本語の文章は「空白なし」で書かれます。👍🏽👍🏽 e\u0301\u0301 \tx\r\n y yes, n no", "", uint8(31), uint8(1), true)
	f.Add("\xff\x1b[2J\u200d \u0600\u0601 \u1100\u1161\u11a8🇫🇷🇩🇪🇫 > x", "| ", uint8(22), uint8(2), false)
	f.Fuzz(func(t *testing.T, text, hang string, width, size uint8, ascii bool) {
		hang = strings.Repeat(" ", min(8, len(hang)))
		columns := int(width)
		o := Options{ASCII: ascii}
		span := Span{Text: text, Hang: hang}
		got := wrapped(o, columns, len(text)+1, span)
		if again := wrapped(o, columns, int(size)+1, span); again != got {
			t.Fatalf("%q in pieces of %d:\n%q, as a whole\n%q", text, int(size)+1, again, got)
		}
		var b bytes.Buffer
		w := New(&b, o)
		w.Text(text)
		w.Fresh()
		plain := b.String()
		bare := strings.NewReplacer(" ", "", "\t", "", "\n", "", "|", "")
		if bare.Replace(got) != bare.Replace(plain) {
			t.Fatalf("%q became\n%q", plain, got)
		}
		wide := strings.IndexFunc(plain, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0
		words := strings.NewReplacer("| ", "")
		if a, b := strings.Fields(words.Replace(got)), strings.Fields(words.Replace(plain)); !wide && strings.Join(a, " ") != strings.Join(b, " ") {
			t.Fatalf("the words of %q became\n%q", plain, got)
		}
		for line := range strings.Lines(got) {
			line = strings.TrimSuffix(line, "\n")
			if ours(line, nil) {
				t.Errorf("%q has the line %q", text, line)
			}
			cells := 0
			for i, part := range strings.Split(line, "\t") {
				if i > 0 {
					cells += 8 - cells%8
				}
				cells += displaywidth.String(part)
			}
			rest := strings.TrimLeft(strings.TrimPrefix(line, "| "), " \t")
			if columns >= narrowest && cells > columns && strings.ContainsAny(rest, " \t") {
				t.Errorf("%q has the line %q of %d columns, not %d", text, line, cells, columns)
			}
		}
	})
}

func TestWrappedMessages(t *testing.T) {
	var b bytes.Buffer
	w := New(&b, Options{})
	w.Wrap(func() int { return 20 })
	w.Line(Info, "%s", "one two three four error: five")
	w.Line(Permission, "run: %s", Unbroken("touch one two three four"))
	w.Line(Permission, "run: %s now, and later", Unbroken("touch one two three four"))
	w.Line(Permission, "run: %s?", Unbroken("touch one two"))
	w.Line(Permission, "run: %s", "touch one two")
	w.Line(Permission, "run: %.3s", Unbroken("cut off"))
	w.Paragraphs("one two three four five\nsix\n  seven eight nine ten\n    code that goes on and on\n{\"a\": 1, \"b\": 2, \"c\": 3}\n")
	fmt.Fprintf(w.Broken(), "one two three %s\n", "four five")
	w.Item(Normal, "  seven eight nine ten")
	w.Item(Normal, w.Head("y n a ? (a = always this command): ")+"x")
	io.WriteString(w.Terminal(), w.Head("123456 89 1234 678 1 "))
	w.Entered()
	w.Item(Normal, w.Head("1234567890123456789 1 ")+"x")
	for question, want := range map[string]string{"a b ": "a b ", "123456789 1234567 ": "123456789 1234567 ", "123456789 12345678 ": "12345678 "} {
		if last := w.Head(question); last != want {
			t.Errorf("%q ends with the line %q, want %q", question, last, want)
		}
	}
	w.Wrap(nil)
	w.Item(Normal, "  seven eight nine ten")
	if q := "y n a ? (a = always this command): "; w.Head(q) != q {
		t.Errorf("%q is broken where no line is", q)
	}
	w.Line(Info, "%s", "one two three four five")
	if n := w.Width("日\x1b\xe2"); n != 10 {
		t.Errorf("two columns and two escapes are %d wide", n)
	}
	want := "info: one two three\nfour error: five\n" +
		"permission: run: touch one two three four\n" +
		"permission: run: touch one two three four\nnow, and later\n" +
		"permission: run:\ntouch one two?\n" +
		"permission: run:\ntouch one two\n" +
		"permission: run: cut\n" +
		"one two three four\nfive\nsix\n  seven eight nine\n  ten\n    code that goes on and on\n{\"a\": 1, \"b\": 2, \"c\": 3}\n" +
		"one two three four\nfive\n" +
		"  seven eight nine\n  ten\n" +
		"y n a ? (a =\nalways this\ncommand): x\n" +
		"123456 89 1234 678\n1 " +
		"1234567890123456789\n1 x\n" +
		"123456789\n" +
		"  seven eight nine ten\n" +
		"info: one two three four five\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
