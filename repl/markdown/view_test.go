package markdown

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/google/go-cmp/cmp"

	"gemline/repl/output"
)

// screen is a View of so many columns.
func screen(columns int) *View {
	return &View{Columns: func() int { return columns }, Width: displaywidth.String}
}

// seen renders text for those who see, in pieces of a size.
func seen(columns int, text string, size int) (all []Span) {
	r := New(screen(columns))
	for ; len(text) > 0; text = text[min(size, len(text)):] {
		all = append(all, r.Write(text[:min(size, len(text))])...)
	}
	return append(all, r.Close()...)
}

// textOf returns what spans say, without blanks at the ends of lines, which no
// paragraph has when it is shown.
func textOf(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	var trimmed strings.Builder
	for l := range strings.Lines(b.String()) {
		body := strings.TrimSuffix(l, "\n")
		trimmed.WriteString(strings.TrimRight(body, " ") + l[len(body):])
	}
	return trimmed.String()
}

func TestView(t *testing.T) {
	table := "| Name | Age | Where |\n|:-----|----:|:-----:|\n| **Ada** | 36 | `here` |\n| Bob | 4 |\n| 日本 |  | there, too |\n"
	for _, tt := range []struct {
		name    string
		columns int
		text    string
		want    string
	}{
		{"headings", 80, "# One\ntext\n## Two\n### Three\ntext", "One\n\ntext\n\nTwo\n\n  Three\n\ntext\n"},
		{"underlined headings", 80, "One\n===\n\nTwo\n---\ntext", "One\n=====\n\nTwo\n-----\n\ntext\n"},
		{"code", 80, "Run\n```go title=x\nfunc f() {\n\t// **no**\n}\n```\nand", "Run\n\nfunc f() {\n\t// **no**\n}\n\nand\n"},
		{"code first", 80, "```\na\n```\n", "a\n"},
		{"indented code", 80, "a\n\n    b\n\n    c\n\nd", "a\n\nb\n\nc\n\nd\n"},
		{"code in a list stands at the margin", 80, "1. run\n   ```sh\n   ls\n   ```\n   or\n2. ```\n   pwd\n   ```", "1. run\n\nls\n\n   or\n2.\npwd\n"},
		{"lists", 80, "- a\n  more\n- b\n\n  10. c\n      d\n- [x] e\n- [ ] f", "- a\n  more\n- b\n\n  10. c\n      d\n- [x] e\n- [ ] f\n"},
		{"quotes", 80, "> one\n> two\n>\n> - a\n>   b\n\nafter", "| one\n| two\n\n| - a\n|   b\n\nafter\n"},
		{"a quote in an item", 80, "- > one\n  > two\n- b", "- | one\n  | two\n\n- b\n"},
		{"a table", 80, "Look:\n\n" + table + "\nend",
			"Look:\n\nName  Age    Where\n----  ---  ----------\nAda    36     here\nBob     4\n日本       there, too\n\nend\n"},
		{"a table that just fits", 21, table, "Name  Age    Where\n----  ---  ----------\nAda    36     here\nBob     4\n日本       there, too\n"},
		{"a table that does not fit", 20, table,
			"Name: Ada\nAge: 36\nWhere: here\n\nName: Bob\nAge: 4\n\nName: 日本\nAge:\nWhere: there, too\n"},
		{"a table on a screen that nobody knows", 0, "|a|b|\n|-|-|\n|1|2|\n\nend", "a: 1\nb: 2\n\nend\n"},
		{"a table of no rows", 80, "|a|b|\n|-|-|\n\nend", "a  b\n-  -\n\nend\n"},
		{"a table of no rows that does not fit", 3, "|a|b|\n|-|-|\n\nend", "a, b\n\nend\n"},
		{"a table in a list", 80, "- x\n\n  |a|b|\n  |-|-|\n  |1|2|\n- y", "- x\n\n  a  b\n  -  -\n  1  2\n\n- y\n"},
		{"no blanks behind a row", 80, "|a|b|\n|-|-|\n||2|\n|1||\n|||\n", "a  b\n-  -\n   2\n1\n\n"},
		{"what breaks lines in a cell", 80, "|a&#10;b|c|\n|-|-|\n|1&#9;2|3|\n", "a b  c\n---  -\n1 2  3\n"},
		{"words that stand for markup", 80, "~~a~~ ![b](c)", "(struck out: a) image: b (c)\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for size := 1; size < 9; size++ {
				if diff := cmp.Diff(tt.want, textOf(seen(tt.columns, tt.text, size))); diff != "" {
					t.Fatalf("in pieces of %d: %s", size, diff)
				}
			}
		})
	}
}

// A table is shown when its end has come, or so much of it that its columns'
// widths are settled. What comes later is shown row by row.
func TestLongTable(t *testing.T) {
	r := New(screen(20))
	defer r.Close()
	got := textOf(r.Write("|a|b|\n|-|-|\n" + strings.Repeat("|1|2|\n", maxRows-1)))
	if got != "" {
		t.Fatalf("shown before its widths are known: %q", got)
	}
	if got = textOf(r.Write("|1|2|\n")); got != "a  b\n-  -\n"+strings.Repeat("1  2\n", maxRows) {
		t.Fatalf("%q", got)
	}
	for _, tt := range []struct{ row, want string }{
		{"|3|4|\n", "3  4\n"},
		{"|long|4|\n", "long  4\n"},
		{"|longer than the|screen|\n", "a: longer than the\nb: screen\n"},
	} {
		if got := strings.TrimSpace(textOf(r.Write(tt.row))); !strings.Contains(got, strings.TrimSpace(tt.want)) {
			t.Errorf("%q is shown as %.80q, want %q", tt.row, got, tt.want)
		}
	}
	if got := textOf(r.Write("|" + strings.Repeat("x", 5000))); strings.Contains(got, "x") && !strings.Contains(got, "a: ") {
		t.Errorf("half a row is shown as %.80q", got)
	}
}

// A word is known to be whole as soon as the blank behind it has come.
func TestViewPace(t *testing.T) {
	for so, shown := range map[string]string{
		"Hello wor":          "Hello ",
		"Hello **wor** ":     "Hello wor ",
		"- one of":           "- one ",
		"one\ntwo th":        "one\ntwo ",
		"run `go test` now ": "run go test now ",
	} {
		r := New(screen(80))
		var b strings.Builder
		for _, c := range []byte(so) {
			for _, s := range r.Write(string(rune(c))) {
				b.WriteString(s.Text)
			}
		}
		r.Close()
		if b.String() != shown {
			t.Errorf("%q: %q, want %q", so, b.String(), shown)
		}
	}
}

// What is copied stays in one piece, and a broken line hangs below its text.
func TestFlow(t *testing.T) {
	text := "1. see `a b` at <http://x.y>\n\n```go\nx := \"y z\"\n```\n\n|a b|\n|-|\n|c d|\n"
	flows := map[string]output.Flow{"a b": output.Tight, "http://x.y": output.Tight, `"y z"`: output.Exact, "c d": output.Exact, "1. ": output.Tight, "see ": output.Loose}
	for _, s := range seen(80, text, len(text)) {
		want, known := flows[s.Text]
		if known && s.Flow != want && s.Style != Title {
			t.Errorf("%q flows %v, want %v", s.Text, s.Flow, want)
		}
		if s.Text == "see " && s.Hang != "   " {
			t.Errorf("below %q hangs %q", s.Text, s.Hang)
		}
		delete(flows, s.Text)
	}
	if len(flows) > 0 {
		t.Errorf("not shown: %v", flows)
	}
}

func TestLexer(t *testing.T) {
	mark := map[Style]string{Keyword: "k", String: "s", Number: "n", Comment: "c", Added: "+", Removed: "-", Hunk: "@", Title: "t"}
	for _, tt := range []struct{ language, code, want string }{
		{"go", "func f() string { return `a\nb` } // x\n\"\\\"\" 0x1f /* a\nb */ c", "k(func) f() string { k(return) s(`a)|s(b`) } c(// x)|s(\"\\\"\") n(0x1f) c(/* a)|c(b */) c"},
		{"py", "def f(): # it's\n  \"\"\"a\n  b\"\"\"\n  return 'x' + \"y", "k(def) f(): c(# it's)|  s(\"\"\"a)|s(  b\"\"\")|  k(return) s('x') + \"y"},
		{"bash", "if [ $# -gt 2 ]; then echo \"#a\" # b", "k(if) [ $# -gt n(2) ]; k(then) echo s(\"#a\") c(# b)"},
		{"sql", "SELECT 'a' FROM t -- x", "k(SELECT) s('a') k(FROM) t c(-- x)"},
		{"json", `{"a": [1.5e3, true]}`, `{s("a"): [n(1.5e3), k(true)]}`},
		{"diff", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n c", "t(--- a/x)|t(+++ b/x)|@(@@ -1 +1 @@)|-(-a)|+(+b)| c"},
		{"patch", "+a", "+(+a)"},
		{"rust", "fn f<'a>(x: &'a str)", "k(fn) f<'a>(x: &'a str)"},
		{"html", "<!-- a\nb --><a href=\"x\">", "c(<!-- a)|c(b -->)<a href=s(\"x\")>"},
	} {
		l := newLexer(tt.language)
		var b strings.Builder
		for i, line := range strings.Split(tt.code, "\n") {
			if i > 0 {
				b.WriteByte('|')
			}
			l.read(line, func(s Style, text string) {
				if s != Plain && text != "" {
					text = mark[s] + "(" + text + ")"
				}
				b.WriteString(text)
			})
		}
		if b.String() != tt.want {
			t.Errorf("%s: %s, want %s", tt.language, b.String(), tt.want)
		}
	}
	if newLexer("nonesuch") != nil || newLexer("") != nil {
		t.Error("a language that nobody knows is coloured")
	}
}

// viewed checks what holds of every text that is shown for those who see.
func viewed(t *testing.T, src string, size int) {
	t.Helper()
	whole := seen(30, src, len(src)+1)
	if again := textOf(seen(30, src, size)); again != textOf(whole) {
		t.Fatalf("%q in pieces of %d: %s", src, size, cmp.Diff(textOf(whole), again))
	}
	var exact strings.Builder
	for _, s := range whole {
		if s.Flow == output.Exact {
			exact.WriteString(s.Text)
		}
	}
	for _, b := range CodeBlocks(src) {
		for line := range strings.Lines(b.Text) {
			if !strings.Contains(exact.String(), strings.TrimSuffix(line, "\n")) {
				t.Fatalf("%q lacks the line %q of code:\n%q", src, line, exact.String())
			}
		}
	}
}

// TestRandomViews reads random texts in pieces and as a whole.
func TestRandomViews(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	for range 1500 {
		viewed(t, randomText(r), 1+r.IntN(9))
	}
}

func FuzzView(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, uint8(1))
	}
	f.Fuzz(func(t *testing.T, src string, size uint8) {
		if len(src) < maxHeld/2 {
			viewed(t, src, int(size)+1)
		}
	})
}

// Code is given back as it is, whatever it is.
func FuzzLexer(f *testing.F) {
	f.Add("go", "a `b\n` /* \"c\\\n*/ '0x")
	f.Add("python", "\"\"\"'\\\n'''\xff#é")
	f.Fuzz(func(t *testing.T, language, code string) {
		l := newLexer(language)
		if l == nil {
			return
		}
		for line := range strings.SplitSeq(code, "\n") {
			var b strings.Builder
			l.read(line, func(_ Style, text string) { b.WriteString(text) })
			if b.String() != line {
				t.Fatalf("%q became %q", line, b.String())
			}
		}
	})
}
