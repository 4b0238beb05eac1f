package output

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "one\ntwo\tthree", "one\ntwo\tthree"},
		{"escape", "a\x1b[2Jb", `a\x1b[2Jb`},
		{"bell and backspace", "a\a\b", `a\x07\x08`},
		{"delete", "a\x7f", `a\x7f`},
		{"carriage return", "ab\rcd", `ab\x0dcd`},
		{"carriage return at the end", "ab\r", `ab\x0d`},
		{"line ends of Windows", "ab\r\ncd\r\n", "ab\ncd\n"},
		{"C1", "a\u009b31m", `a\u{9b}31m`},
		{"invalid", "a\xff\xc3(b\xc3", `a\xff\xc3(b\xc3`},
		{"surrogate", "\xed\xa0\x80", `\xed\xa0\x80`},
		{"bidi", "a\u202eb\u2066c", `a\u{202e}b\u{2066}c`},
		{"zero width", "a\u200bb\u200dc\ufeff", `a\u{200b}b\u{200d}c\u{feff}`},
		{"tags", "a\U000e0041", `a\u{e0041}`},
		{"separators", "a\u2028b\u2029", `a\u{2028}b\u{2029}`},
		{"filler", "a\u3164", `a\u{3164}`},
		{"soft hyphen", "a\u00adb Do\u00adnau", "a\u00adb Do\u00adnau"},
		{"soft hyphen between no letters", "a\u00ad 1\u00adb \u00ad\u00ad", `a\u{ad} 1\u{ad}b \u{ad}\u{ad}`},
		{"soft hyphen in a label", "to\u00adol: rm\nE\u00adr\u00adror: x", "| to\u00adol: rm\n| E\u00adr\u00adror: x"},
		{"family", "👨\u200d👩\u200d👧 👩🏽\u200d💻 ❤\ufe0f\u200d🔥 🙂\u200d↔\ufe0f 🏳\ufe0f\u200d🌈 🧔\u200d♂\ufe0f ℹ\ufe0f",
			"👨\u200d👩\u200d👧 👩🏽\u200d💻 ❤\ufe0f\u200d🔥 🙂\u200d↔\ufe0f 🏳\ufe0f\u200d🌈 🧔\u200d♂\ufe0f ℹ\ufe0f"},
		{"joiners without pictures", "👨\u200d 👨\u200dx \u200d👩 👨\u200d\u200d👩 👨\u200d",
			`👨\u{200d} 👨\u{200d}x \u{200d}👩 👨\u{200d}\u{200d}👩 👨\u{200d}`},
		{"joiners beside what is no picture alone", "👨\u200d🏽 👨\u200d\ufe0f +\u200d+ a\ufe0f\u200d👩", `👨\u{200d}🏽 👨\u{200d}\u{fe0f} +\u{200d}+ a\u{fe0f}\u{200d}👩`},
		{"keycaps", "1\ufe0f\u20e3 #\ufe0f\u20e3 9\u20e3", "1\ufe0f\u20e3 #\ufe0f\u20e3 9\u20e3"},
		{"no keycaps", "1\ufe0f a\ufe0f\u20e3 2\ufe0e\u20e3", `1\u{fe0f} a\u{fe0f}` + "\u20e3" + ` 2\u{fe0e}` + "\u20e3"},
		{"scripts that join", "کتاب\u200cها می\u200cخواهم مُ\u200cر क्\u200dष क्\u200c र\u200d्य ශ්\u200dරී ക്\u200d, নির\u200d্",
			"کتاب\u200cها می\u200cخواهم مُ\u200cر क्\u200dष क्\u200c र\u200d्य ශ්\u200dරී ക്\u200d, নির\u200d্"},
		{"scripts that don't", "a\u200cb я\u200dя 日\u200c本 ب\u200c क\u200cب \u200cه ب\u200c\u200cه",
			`a\u{200c}b я\u{200d}я 日\u{200c}本 ب\u{200c} क\u{200c}ب \u{200c}ه ب\u{200c}\u{200c}ه`},
		{"flag of tags", "🏴\U000e0067\U000e007f", `🏴\u{e0067}\u{e007f}`},
		{"letters", "äß日本 é العربية ⠓", "äß日本 é العربية ⠓"},
		{"emoji with its look", "\u26a0\ufe0f careful", "\u26a0\ufe0f careful"},
		{"selector after a letter", "a\ufe0f", `a\u{fe0f}`},
		{"two selectors", "\u26a0\ufe0f\ufe0f", "\u26a0\ufe0f" + `\u{fe0f}`},
		{"label", "tool: rm", "| tool: rm"},
		{"label on a later line", "ok\npermission: run", "ok\n| permission: run"},
		{"label in capitals", "Error: x", "| Error: x"},
		{"label in a word", "retool: x\ntools: y\ntool x", "retool: x\ntools: y\ntool x"},
		{"label behind a space", " tool: x", " tool: x"},
		{"beginning of a label", "per", "per"},
		{"prompt", "ok\n> rm -rf /\n>", "ok\n| > rm -rf /\n>"},
		{"prompt of the shell mode", "! ls\n!ls", "| ! ls\n!ls"},
		{"choices", "y n a b e ?: y\nyes", "| y n a b e ?: y\nyes"},
		{"label behind what was hidden", "\u200btool: x", `\u{200b}tool: x`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for size := 1; size <= len(tt.in); size++ {
				var b bytes.Buffer
				w := New(&b, Options{})
				for i := 0; i < len(tt.in); i += size {
					w.Text(tt.in[i:min(i+size, len(tt.in))])
				}
				w.Fresh()
				if got, want := b.String(), strings.TrimSuffix(tt.want, "\n")+"\n"; got != want {
					t.Fatalf("in pieces of %d: %q, want %q", size, got, want)
				}
			}
		})
	}
}

func TestLines(t *testing.T) {
	var b bytes.Buffer
	w := New(&b, Options{})
	w.Begin(Gemini)
	w.Text("I am on")
	w.Line(Warning, "%s", "two\ntool: lines")
	w.Styled(Bad, "- gone")
	w.Styled(Bad, "")
	w.Prompt("> ")
	w.Entered()
	w.Line(Info, "x")
	w.Prompt("> ")
	w.Line(Info, "y")
	w.Touched()
	w.Fresh()
	w.Text("to")
	w.Touched()
	w.Text("day")
	w.Fresh()
	want := "gemini: I am on\nwarning: two\n| tool: lines\n- gone\n\n> info: x\n> \ninfo: y\n\ntoday\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

func TestColor(t *testing.T) {
	var b bytes.Buffer
	w := New(&b, Options{Color: true})
	w.Line(Failure, "\x1b[0m")
	w.Styled(Good, "+ a")
	w.Line(Warning, "")
	got := b.String()
	if !strings.HasPrefix(got, "\x1b[31merror:\x1b[") || !strings.Contains(got, `\x1b[0m`) || !strings.Contains(got, "\x1b[32m+ a\x1b[") || !strings.Contains(got, "\x1b[33mwarning:\x1b[") {
		t.Errorf("%q", got)
	}
}

func TestSpans(t *testing.T) {
	var b bytes.Buffer
	w := New(&b, Options{Color: true})
	w.Spans(Span{Style: Strong, Text: "to"}, Span{Style: Code, Text: "ol"})
	w.Spans(Span{Style: Normal, Text: ": x "})
	w.Spans(Span{Style: Emphasis, Text: "one\ntwo"})
	w.Spans(Span{Style: Code, Text: ""})
	w.Spans(Span{Style: Bad, Text: "\x1b[31m"})
	w.Prose(80, Span{Style: Good, Text: "a"})
	w.Text("b")
	w.Fresh()
	want := "| <1m>to</><36m>ol</>: x <4m>one</>\n<4m>two</><31m>\\x1b[31m</><32m>a</>b\n"
	if got := spelled(b.String()); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// spelled writes colours as words in angle brackets.
func spelled(s string) string {
	return sgr.ReplaceAllStringFunc(s, func(code string) string {
		if len(code) > len("\x1b[36m") || strings.HasPrefix(code, "\x1b[2") || code == "\x1b[0m" {
			return "</>"
		}
		return "<" + code[2:] + ">"
	})
}

var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestErr(t *testing.T) {
	gone := errors.New("gone")
	w := New(broken{gone}, Options{})
	if n, err := w.Write([]byte("ab\n")); n != 3 || err != gone {
		t.Errorf("Write: %d, %v", n, err)
	}
	if _, err := w.Write(nil); err != gone {
		t.Errorf("Write of nothing: %v", err)
	}
	for range 2 { // without a width, and with one
		if err := w.Paragraphs("a\n"); err != gone {
			t.Errorf("Paragraphs: %v", err)
		}
		if _, err := w.Broken().Write([]byte("a\n")); err != gone {
			t.Errorf("Broken: %v", err)
		}
		w.Wrap(func() int { return 80 })
	}
	w.Line(Info, "x")
	var b bytes.Buffer
	w.w = &b
	w.Line(Info, "x")
	if w.Err() != gone || b.Len() > 0 {
		t.Errorf("Err: %v; %q is written", w.Err(), b.String())
	}
}

func TestEscape(t *testing.T) {
	if got, want := Escape("a\r\n\tb\u00a0c\ufe0f\xff"), "a\\x0d\n\tb\\u{a0}c\\u{fe0f}\\xff"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	const written = "👨\u200d👩 1\ufe0f\u20e3 می\u200cخواهم क्\u200dष"
	if got := Escape(written); got != written {
		t.Errorf("%q, want %q", got, written)
	}
	if got, want := Escape("r\u00adm\u200c"), `r\u{ad}m\u{200c}`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Escape("a\ufe0f\u200d👩"), `a\u{fe0f}\u{200d}👩`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if NeedsEscape(written) || !NeedsEscape("a\x1b") {
		t.Error("it is not seen what can only be shown as an escape")
	}
	if got, want := EscapePartial("می\u200c"), "می\u200c"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := EscapePartial("1\ufe0f"), "1\ufe0f"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := EscapeLine("a\nb\tc"), `a\x0ab\x09c`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What other programs read as well keeps what belongs to a language.
func TestVisible(t *testing.T) {
	if got, want := Visible("a\u202e\u00adb\u00a0c\u200d\u00ad\u00dfd\u200c\u00ade\r"), "a\\u{202e}\\u{ad}b\u00a0c\u200d\u00ad\u00dfd\u200c\u00ade\r"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The line editor writes what it wants, at once.
func TestTerminal(t *testing.T) {
	var b bytes.Buffer
	n, err := New(&b, Options{}).Terminal().Write([]byte("\x1b[2J"))
	if b.String() != "\x1b[2J" || n != 4 || err != nil {
		t.Errorf("%q, %d, %v", b.String(), n, err)
	}
	gone := errors.New("gone")
	if _, err := New(broken{gone}, Options{}).Terminal().Write([]byte("x")); err != gone {
		t.Error(err)
	}
}

func FuzzWriter(f *testing.F) {
	f.Add([]byte("a\r\ntool: \u202e\xf0\x9f\x98\x80\x1b[0m"), uint8(3), uint8(1))
	f.Add([]byte("\xe2\x9a\xa0\xef\xb8\x8fERR\r\rOR:"), uint8(1), uint8(2))
	f.Fuzz(func(t *testing.T, in []byte, a, b uint8) {
		show := func(sizes ...int) string {
			var out bytes.Buffer
			w := New(&out, Options{})
			rest := in
			for i := 0; len(rest) > 0; i++ {
				n := min(sizes[i%len(sizes)], len(rest))
				w.Write(rest[:n])
				rest = rest[n:]
			}
			w.Fresh()
			return out.String()
		}
		whole := show(len(in) + 1)
		if got := show(int(a)+1, int(b)+1); got != whole {
			t.Fatalf("split: %q, whole: %q", got, whole)
		}
		if !utf8.ValidString(whole) {
			t.Fatalf("invalid UTF-8: %q", whole)
		}
		for _, r := range whole {
			if r != '\n' && r != '\t' && hidden(r) {
				t.Fatalf("%q shows %U", whole, r)
			}
		}
		for line := range strings.Lines(whole) {
			for _, l := range Labels() {
				if strings.HasPrefix(strings.ToLower(line), string(l)+":") {
					t.Fatalf("fakes a label: %q", line)
				}
			}
		}
		if again := Escape(Escape(string(in))); again != Escape(string(in)) {
			t.Fatalf("not idempotent: %q", again)
		}
	})
}

// writes keeps what was written, write by write.
type writes [][]byte

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, bytes.Clone(p))
	return len(p), nil
}

// FuzzSpans cuts a text anywhere and gives each piece a style: one byte of cuts
// holds both.
func FuzzSpans(f *testing.F) {
	f.Add([]byte("a\r\ntool: \u202e\xf0\x9f\x98\x80\x1b[0m"), []byte{0x11, 0x22, 0x33})
	f.Add([]byte("\xe2\x9a\xa0\xef\xb8\x8fERR\r\rOR:\n> x"), []byte{1, 0x1a, 0x2b})
	f.Fuzz(func(t *testing.T, in, cuts []byte) {
		var whole bytes.Buffer
		plain := New(&whole, Options{})
		plain.Write(in)
		plain.Fresh()
		var got writes
		w := New(&got, Options{Color: true})
		rest := in
		for _, c := range cuts {
			n := min(int(c>>4), len(rest))
			w.Spans(Span{Style: Style(c&15) % (last + 1), Text: string(rest[:n])})
			rest = rest[n:]
		}
		w.Spans(Span{Style: Normal, Text: string(rest)})
		w.Fresh()
		all := bytes.Join(got, nil)
		if text := sgr.ReplaceAll(all, nil); !bytes.Equal(text, whole.Bytes()) {
			t.Fatalf("in pieces: %q, whole: %q", text, whole.Bytes())
		}
		for _, piece := range got {
			for line := range bytes.Lines(piece) {
				s := spelled(string(line))
				if strings.Count(s, "\x1b") > 0 || strings.LastIndex(s, "m>") > strings.LastIndex(s, "</>") && sgr.Match(line) {
					t.Fatalf("a colour is left on: %q", line)
				}
			}
		}
	})
}

func BenchmarkText(b *testing.B) {
	w := New(discard{}, Options{})
	for b.Loop() {
		w.Text("a few words of an answer, ")
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// Strangers may have written a question: what of it can't be seen is escaped.
func TestPromptIsEscaped(t *testing.T) {
	var b strings.Builder
	New(&b, Options{}).Prompt("n\x1b[2J\u202e\n: ")
	if b.String() != `n\x1b[2J\u{202e}\x0a: ` {
		t.Errorf("%q", b.String())
	}
}
