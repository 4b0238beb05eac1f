package repl

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gemline/commands/program/acceptance/teletype"
	"gemline/engine"
	"gemline/repl/markdown"
	"gemline/repl/output"
)

// told returns what a Printer shows of an answer that comes in pieces.
func told(pace Pace, color bool, pieces ...string) (steps []string) {
	var b bytes.Buffer
	p := &Printer{Out: output.New(&b, output.Options{Color: color}), Answers: Answers{Pace: pace}}
	now := time.Unix(0, 0)
	p.Begin(now)
	for _, s := range pieces {
		p.Print(engine.Text{Delta: s}, now)
		steps = append(steps, b.String())
		b.Reset()
	}
	p.End(nil, now)
	return append(steps, b.String())
}

func TestPace(t *testing.T) {
	pieces := []string{"One", ". T", "wo **three** fo", "ur.\n", "\nFive", " six"}
	tests := []struct {
		name string
		pace Pace
		want []string
	}{
		{"token", ByToken, []string{"", "gemini: One.", " Two three", " four.", "\n\n", "Five", " six\ndone: 0.0 s\n"}},
		{"sentence", BySentence, []string{"", "gemini: One.", "", " Two three four.", "\n\n", "", "Five six\ndone: 0.0 s\n"}},
		{"paragraph", ByParagraph, []string{"", "", "", "", "gemini: One. Two three four.\n\n", "", "Five six\ndone: 0.0 s\n"}},
		{"final", AtEnd, []string{"", "", "", "", "", "", "gemini: One. Two three four.\n\nFive six\ndone: 0.0 s\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := told(tt.pace, false, pieces...)
			if s, want := strings.Join(got, "|"), strings.Join(tt.want, "|"); s != want {
				t.Errorf("got\n%q, want\n%q", s, want)
			}
		})
	}
}

// Whatever the pace, the lines of an answer are broken in the same places.
func TestPaceOfProse(t *testing.T) {
	text := "# One\n\nSome words. And some more of them: here! Is that all? It is.\n\n- an item that is longer than a line of it\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\nif x {\n```\n日本語の文章は空白なしで。書かれます"
	want := "gemini: One\n\nSome words. And some\nmore of them: here!\nIs that all? It is.\n\n- an item that is\n  longer than a line\n  of it\n\na  b\n-  -\n1  2\n\nif x {\n\n日本語の文章は空白な\nしで。書かれます\ndone: 0.0 s\n"
	for _, pace := range []Pace{ByToken, BySentence, ByParagraph, AtEnd} {
		for size := 1; size < 20; size += 3 {
			var b bytes.Buffer
			p := &Printer{Out: output.New(&b, output.Options{}), Answers: Answers{Pace: pace}}
			p.Answers.View = &markdown.View{Columns: func() int { return 20 }, Width: p.Out.Width}
			now := time.Unix(0, 0)
			p.Begin(now)
			for s := text; s != ""; s = s[min(size, len(s)):] {
				p.Print(engine.Text{Delta: s[:min(size, len(s))]}, now)
			}
			p.End(nil, now)
			if diff := cmp.Diff(want, b.String()); diff != "" {
				t.Fatalf("%s, in pieces of %d: %s", paces[pace], size, diff)
			}
		}
	}
}

// TestColors compares an answer in colours with the same one in none.
func TestColors(t *testing.T) {
	text := "# Title\n\n**one\ntwo** and `code` at <https://x.y>\n\n```go\na\n```\n|a|\n|-|\n|*b*|\n"
	plain := strings.Join(told(ByToken, false, text), "")
	got := strings.Join(told(ByToken, true, text), "")
	sgr := regexp.MustCompile("\x1b\\[[0-9;]*m")
	if s := sgr.ReplaceAllString(got, ""); s != plain {
		t.Errorf("in colours\n%s, without\n%s", s, plain)
	}
	for line := range strings.Lines(got) {
		codes := sgr.FindAllString(line, -1)
		if len(codes)%2 != 0 {
			t.Errorf("a colour goes on behind the line %q", line)
		}
	}
	if n := len(sgr.FindAllString(got, -1)); n < 20 {
		t.Errorf("%d colours in\n%q", n, got)
	}
}

func TestAnswer(t *testing.T) {
	var b bytes.Buffer
	p := &Printer{Out: output.New(&b, output.Options{}), Answers: Answers{Pace: AtEnd}}
	p.Answer("# A\n\n*b")
	p.Answer("c")
	if got, want := b.String(), "gemini: heading 1: A\n\n*b\ngemini: c\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCut(t *testing.T) {
	spans := []markdown.Span{{Text: "ab"}, {Text: "cd", Style: markdown.Code}}
	for n, want := range []string{"|abcd", "a|bcd", "ab|cd", "abc|d", "abcd|"} {
		before, after := cut(spans, n)
		var b strings.Builder
		for _, s := range before {
			b.WriteString(s.Text)
		}
		b.WriteString("|")
		for _, s := range after {
			b.WriteString(s.Text)
		}
		if b.String() != want {
			t.Errorf("cut after %d: %s, want %s", n, b.String(), want)
		}
	}
}

// TestAnswerOnATerminal has the model repeat Markdown at a terminal.
func TestAnswerOnATerminal(t *testing.T) {
	for term, want := range map[string]string{
		"dumb":  "gemini: You said hey and ls.\r\n",
		"xterm": "You said \x1b[1mhey\x1b[22m and \x1b[36mls\x1b[0m.\r\n",
	} {
		t.Run(term, func(t *testing.T) {
			s := terminal(t, term, "NO_COLOR=", "CLICOLOR=", "FORCE_COLOR=1")
			s.Line("**hey** and `ls`")
			s.Expect(want)
			s.Expect("> ")
			s.Send("\x04")
			if code := s.Exit(); code != 0 {
				t.Errorf("exit %d", code)
			}
			if faults := teletype.Lint(s.Transcript(), teletype.Rules{Smart: term != "dumb"}); len(faults) > 0 {
				t.Errorf("faults: %v", faults)
			}
		})
	}
}
