package terminal

import (
	"regexp"
	"strings"
	"testing"
	"time"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A turn costs the answer, its label and the done line. Typing costs what is
// typed, waiting costs nothing.
func TestBytesOfATurn(t *testing.T) {
	t.Parallel()
	const answer = "One two three four five six seven eight nine ten."
	for _, test := range []struct {
		name, term string
		env        string
		smart      bool
	}{
		{name: "dumb", term: "dumb"},
		{name: "plain", term: "xterm-256color", env: "ACCESSIBLE=1"},
		{name: "smart", term: "xterm-256color", smart: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := et.NewServer(et.Streams(strings.SplitAfter(answer, " ")...))
			c := pt.Terminal(t, server)
			c.Term, c.Env = test.term, append(c.Env, test.env)
			prompt := "> "
			if test.smart {
				prompt += "\x1b]133;B\x1b\\" // the terminal may show it in pieces
			}
			b := teletype.Measure(t, c, teletype.Errand{Ready: prompt, Typed: "hello world", Done: "done:", Idle: time.Second})
			if len(b.Start) > 200 || len(b.Idle) > 0 || string(b.Typing) != "hello world" {
				t.Errorf("start %q, idle %q, typing %q", b.Start, b.Idle, b.Typing)
			}
			text := b.Turn
			cost := teletype.CostOf(text)
			if test.smart {
				text = pt.Own.ReplaceAll(text, nil)
			} else if cost.Escapes > 0 {
				t.Errorf("%d escape sequences", cost.Escapes)
			}
			if cost.Erasures+cost.Ups+cost.Returns+cost.Boxes > 0 {
				t.Errorf("%+v", cost)
			}
			want := `^\r\ngemini: ` + regexp.QuoteMeta(answer) + `\r\ndone: [0-9.]+ s\r\n> $`
			if !regexp.MustCompile(want).Match(text) {
				t.Errorf("a turn shows %q", b.Turn)
			}
		})
	}
}
