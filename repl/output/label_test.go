package output

import (
	"bytes"
	"strings"
	"testing"
)

func TestRename(t *testing.T) {
	for _, tt := range []struct {
		name  string
		names map[string]string
		want  string // part of the error, "" for none
	}{
		{"nothing", nil, ""},
		{"one", map[string]string{"gemini": "Answer"}, ""},
		{"two swapped", map[string]string{"gemini": "you", "you": "gemini"}, ""},
		{"no label", map[string]string{"model": "x"}, `"model" is not a label; there are: you, gemini, tool`},
		{"empty", map[string]string{"gemini": ""}, "gemini can't be called"},
		{"long", map[string]string{"gemini": strings.Repeat("a", 21)}, "20 at most"},
		{"colon", map[string]string{"gemini": "a:"}, "can't be called"},
		{"blank", map[string]string{"gemini": "y n a"}, "can't be called"},
		{"letters of others", map[string]string{"gemini": "r\u00e9ponse"}, "can't be called"},
		{"escape", map[string]string{"gemini": "a\x1b[1m"}, "can't be called"},
		{"taken", map[string]string{"gemini": "Tool"}, "gemini and tool can't both be called tool"},
		{"twice", map[string]string{"gemini": "a", "done": "A"}, "gemini and done can't both be called a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Rename(tt.names)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// Text from outside can use neither the user's words for a label nor ours.
func TestRenamedLabelsAreGuarded(t *testing.T) {
	words, err := Rename(map[string]string{"gemini": "Answer", "permission": "may-I", "done": "do"})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := New(&b, Options{Words: words})
	w.Line(Gemini, "hello\nanswer: fake\nMAY-i: fake\npermission: fake\ndo: fake\ndone: fake\ndot: true\n")
	w.Line(Info, "%s", w.Word(Permission)+" "+w.Word(Tool))
	const want = "Answer: hello\n| answer: fake\n| MAY-i: fake\n| permission: fake\n| do: fake\n| done: fake\ndot: true\ninfo: may-I tool\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestASCII(t *testing.T) {
	for in, want := range map[string]string{
		"plain ~":                      "plain ~",
		"\u201cno\u201d \u2018a\u2019": `"no" 'a'`,
		"a \u2013 b \u2014 c\u2026":    "a - b -- c...",
		"\u2022 x \u2192 y":            "* x -> y",
		"\u250c\u2500\u2510\u2502":     "+-+|",
		"caf\u00e9 \u65e5":             `caf\u{e9} \u{65e5}`,
		"error\uff1a":                  `error\u{ff1a}`,
		"\u00a0x":                      " x",
		"\U0001f600\ufe0f":             `\u{1f600}\u{fe0f}`,
	} {
		for cut := range len(in) + 1 {
			var b bytes.Buffer
			w := New(&b, Options{ASCII: true})
			w.Text(in[:cut])
			w.Text(in[cut:])
			w.Fresh()
			if b.String() != want+"\n" {
				t.Errorf("%q cut at %d: %q, want %q", in, cut, b.String(), want)
			}
		}
		if got := toASCII(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	var b bytes.Buffer
	New(&b, Options{ASCII: true}).Prompt("a always \u201cx\u201d: ")
	if b.String() != `a always "x": ` {
		t.Errorf("the prompt is %q", b.String())
	}
}

// Lines of boxes are drawn with what there is, and what is no line is none.
func TestBoxes(t *testing.T) {
	if got, want := toASCII("\u2500\u253c\u2502\u2580\u24ff"), `-+|\u{2580}\u{24ff}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What becomes a label or a prompt only in ASCII is set off, too.
func TestASCIIFakesNoLabel(t *testing.T) {
	var b bytes.Buffer
	w := New(&b, Options{ASCII: true})
	w.Text(">\u00a0rm\ny n\u3000a b ?\ny\u00a0n a b ?\n")
	if want := "| > rm\n| y n a b ?\n| y n a b ?\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestMarks(t *testing.T) {
	var b bytes.Buffer
	w := New(&b, Options{})
	w.Mark(PromptMark)
	w.Adopt(Mode{Smart: true, Marks: true, Color: true})
	w.Text("half")
	w.Fresh()
	w.Mark(FailureMark)
	w.Line(Info, "x")
	w.Adopt(Mode{})
	w.Mark(PromptMark)
	w.Line(Info, "x")
	if want := "half\n\x1b]133;D;1\x1b\\\x1b[1minfo:\x1b[22m x\ninfo: x\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// Whatever comes, in whatever pieces: ASCII without controls, no line that
// begins like one of the program's, and the same for every way to cut it.
func FuzzASCIIAndWords(f *testing.F) {
	f.Add("\u201cno\u201d\nanswer: x\n>\u00a0y", 3)
	f.Add("\xff\x1b[2J\r\nMAY-i:", 1)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		words, err := Rename(map[string]string{"gemini": "Answer", "permission": "may-I"})
		if err != nil {
			t.Fatal(err)
		}
		write := func(pieces ...string) string {
			var b bytes.Buffer
			w := New(&b, Options{ASCII: true, Words: words})
			for _, p := range pieces {
				w.Text(p)
			}
			w.Fresh()
			return b.String()
		}
		got := write(text)
		if cut >= 0 && cut <= len(text) && write(text[:cut], text[cut:]) != got {
			t.Errorf("%q cut at %d: %q, not %q", text, cut, write(text[:cut], text[cut:]), got)
		}
		for l := range strings.SplitSeq(got, "\n") {
			if strings.ContainsFunc(l, func(r rune) bool { return r < 0x20 && r != '\t' || r >= 0x7f }) {
				t.Errorf("%q", l)
			}
			for _, o := range openings(words) {
				if strings.HasPrefix(strings.ToLower(l), o) {
					t.Errorf("%q begins like %q", l, o)
				}
			}
		}
	})
}
