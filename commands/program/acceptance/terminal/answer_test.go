//go:build unix

package terminal

import (
	"fmt"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// laidOut is an answer that has everything in it which is laid out.
const laidOut = `# The plan

It takes a longer sentence with **several strong words in it** and an address, https://example.org/manual, to see where the lines of a paragraph are broken.

1. An item of a list whose words do not fit on one line of a terminal that has eighty columns, either.
   - Another one inside of it, which is as long as the first one and hangs a little further to the right.

> Somebody else has said this, and it was not short enough for the width of the terminal at all.

| Name | Age | Place    |
|------|----:|----------|
| Ada  |  36 | London   |
| 日本 |   4 | anywhere |

` + "```go\nfunc main() { fmt.Println(\"this line of code is longer than forty columns\") }\n```\n" + `
Lines end 日本語の文章は空白なしで書かれますから文字の間で行を分けます。 The end.
`

// No word of an answer is broken on a real terminal, whatever its width, and a
// table stands in columns.
func TestAnswerInTmux(t *testing.T) {
	t.Parallel()
	hangs := map[int]string{80: "\n   eighty columns, either.\n", 40: "\n     as long as the first one and hangs\n     a little"}
	for _, cols := range []int{80, 40} {
		t.Run(fmt.Sprint(cols), func(t *testing.T) {
			server := et.NewServer(et.Streams(strings.SplitAfter(laidOut, " ")...), et.Says("| First column | Second column |\n|---|---|\n| some words of a cell | some words of another one, which takes all the room that there is, and more |\n"))
			c := pt.Terminal(t, server)
			c.Rows, c.Cols = 60, cols
			c.Env = append(c.Env, "TERM=tmux-256color")
			m := teletype.StartTmux(t, c)
			m.ExpectEnd("> ")
			m.Send("go on")
			m.Key("Enter")
			screen := m.Expect("done: ")
			_, answer, _ := strings.Cut(screen, "gemini: ")
			answer, _, _ = strings.Cut(answer, "\ndone: ")
			words := strings.Fields(strings.NewReplacer("#", "", "**", "", "```go", "", "```", "", "> Some", "| Some", "   - An", "   - An").Replace(laidOut))
			shown := map[string]bool{}
			for _, w := range strings.Fields(answer) {
				shown[w] = true
			}
			for _, w := range words {
				wide := strings.ContainsAny(w, "日本語") && len(w) > 6
				code := cols == 40 && strings.Contains(laidOut[strings.Index(laidOut, "func"):strings.Index(laidOut, " }\n")], w)
				if !wide && !code && !shown[w] && strings.Trim(w, "|-:") != "" {
					t.Errorf("the word %q is broken", w)
				}
			}
			for _, want := range []string{
				"\n\nName  Age  Place\n----  ---  --------\nAda    36  London\n日本    4  anywhere\n\nfunc main() {",
				"\n| Somebody else has said this, and it", "\n1. An item of a list whose", "\n   - Another one", hangs[cols],
			} {
				if !strings.Contains(answer, want) {
					t.Errorf("there is no %q", want)
				}
			}
			m.Send("a table")
			m.Key("Enter")
			m.Expect("First column: some words of")
			if t.Failed() {
				t.Logf("the screen:\n%s", screen)
			}
			m.Send("/quit")
			m.Key("Enter")
			m.End()
		})
	}
}

// What comes after a terminal has got another width is broken for that width.
// In plain mode no line is broken, whatever the width, and with ui.layout
// plain none is in smart mode.
func TestAnswerWidth(t *testing.T) {
	t.Parallel()
	text := strings.TrimSpace(strings.Repeat("word ", 30))
	lines := func(perLine int) string {
		var b strings.Builder
		for i := range 30 {
			b.WriteString("word")
			if i < 29 {
				b.WriteString(map[bool]string{true: "\r\n", false: " "}[(i+1)%perLine == 0])
			}
		}
		return b.String()
	}
	for _, tt := range []struct {
		name, term, settings string
		first, second        string
	}{
		{"smart", "xterm", `{}`, lines(8), lines(4)},
		{"plain", "dumb", `{}`, text, text},
		{"plain layout", "xterm", `{"ui": {"layout": "plain"}}`, text, text},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := et.NewServer(et.Says("Look:\n\n"+text), et.Says("Look:\n\n"+text))
			c := pt.Terminal(t, server, "--no-loop-check")
			c.Term, c.Rows, c.Cols = tt.term, 24, 40
			pt.Write(t, c.Dir+"/../home", map[string]string{".gemini/settings.json": tt.settings})
			s := teletype.Start(t, c)
			s.Match(pt.Prompting[2:])
			for i, want := range []string{tt.first, tt.second} {
				if i == 1 {
					s.Resize(24, 20)
				}
				s.Line("go on")
				s.Expect("Look:\r\n\r\n" + want + "\r\n")
				s.Match(pt.Prompting)
			}
			s.Line("/quit")
			s.Exit()
		})
	}
}

// In an answer of 2,000 words next to nothing is written beside the words.
func TestAnswerBytes(t *testing.T) {
	t.Parallel()
	var pieces []string
	size := 0
	for i := range 2000 {
		word := []string{"some", "a", "longer", "extraordinary", "of", "them"}[i%6] + " "
		if i%50 == 49 {
			word = "end.\n\n"
		}
		size += len(word)
		pieces = append(pieces, word)
	}
	c := pt.Terminal(t, et.NewServer(et.Streams(pieces...)), "--no-loop-check")
	c.Env = append(c.Env, "FORCE_COLOR=1")
	c.Term, c.Rows, c.Cols = "xterm", 24, 80
	s := teletype.Start(t, c)
	s.Match(pt.Prompting[2:])
	before := len(s.Transcript())
	s.Line("go on")
	s.Match(pt.DoneLine)
	s.Match(pt.Prompting)
	if n := len(s.Transcript()) - before; float64(n) > 1.03*float64(size) {
		t.Errorf("%d bytes for %d", n, size)
	}
	s.Line("/quit")
	s.Exit()
}
