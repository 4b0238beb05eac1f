package line

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gemline/commands/program/acceptance/teletype"
)

// Lines that come closely are one input, and those that somebody types are not.
func TestLinesTogether(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name string
		gaps []time.Duration // between the lines
		want int
	}{
		{"one line", nil, 1},
		{"at once", []time.Duration{0, 0, 0}, 4},
		{"just in time", []time.Duration{39 * ms}, 2},
		{"typed", []time.Duration{41 * ms}, 1},
		{"a slow paste", []time.Duration{ms, 190 * ms, 190 * ms}, 4},
		{"typed behind a paste", []time.Duration{ms, 210 * ms}, 2},
		{"the fastest typist", []time.Duration{60 * ms, 60 * ms}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := collectLines("first", func(within time.Duration) (string, bool, error) {
				if len(tt.gaps) == 0 || tt.gaps[0] > within {
					return "", false, nil
				}
				tt.gaps = tt.gaps[1:]
				return "more", true, nil
			})
			if err != nil || len(got) != tt.want {
				t.Errorf("%q, %v, want %d lines", got, err, tt.want)
			}
		})
	}
}

// numbered returns a text of n lines.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of it\n", i)
	}
	return b.String()
}

// A paste is one input in plain mode, with what stands behind its last Enter.
func TestPasteInPlainMode(t *testing.T) {
	for _, tt := range []struct{ name, paste, then, want string }{
		{"two lines", "one\rtwo\r", "", `2 lines pasted, sent as one\r\ninfo: got "one\ntwo"`},
		{"many lines", strings.ReplaceAll(numbered(500), "\n", "\r"), "", `500 lines pasted, sent as one\r\ninfo: got ` + fmt.Sprintf("%q", strings.TrimSuffix(numbered(500), "\n"))},
		{"the last line waits", "one\rtwo\rthr", "ee\r", `3 lines pasted, sent as one\r\ninfo: got "one\ntwo\nthree"`},
		{"the second line waits", "one\rtw", "x\x7fo\r", `2 lines pasted, sent as one\r\ninfo: got "one\ntwo"`},
		{"what waits is rubbed out", "one\rtwo\rx", "\x7f\r", `2 lines pasted, sent as one\r\ninfo: got "one\ntwo"`},
		{"interrupted", "one\rtwo\rx", "\x03", `info: interrupted`},
		{"commands are text", "one\r/quit\r!rm x\r", "", `got "one\n/quit\n!rm x"`},
		{"backslashes are text", "a \\\rb\r", "", `got "a \\\nb"`},
		{"empty lines at the end", "one\r\r\r", "", `one\r\n\r\n\r\ninfo: got "one"`},
		{"a fence around it", "\"\"\"\rone\r  two\r\"\"\"\r", "", `got "one\n  two"`},
		{"fences inside", "\"\"\"\rdoc\r\"\"\"\rx = 1\r", "", `got "\"\"\"\ndoc\n\"\"\"\nx = 1"`},
		{"a fence that is not closed", "\"\"\"\rone\r", "two\r\"\"\"\r", `got "one\ntwo"`},
		{"a line that is too long", "one\r" + strings.Repeat("x", longestLine+1) + "\rthree\r", "", "info: line cleared\\r\\n> "},
		{"the end of the input behind it", "one\r\x04", "", `info: got "one"\r\n> \r\ninfo: EOF`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, "plain")
			s.Expect("> ")
			s.Send(tt.paste)
			if tt.then != "" {
				lines := strings.Split(tt.paste, "\r")
				s.Expect(lines[len(lines)-1])
				s.Send(tt.then)
			}
			s.Expect(strings.ReplaceAll(tt.want, `\r\n`, "\r\n"))
			if faults := teletype.Lint(s.Transcript(), teletype.Rules{Quiet: true}); len(faults) > 0 {
				t.Errorf("faults: %v", faults)
			}
		})
	}
}

// The answer to a question is a line, whatever comes with it.
func TestPasteAtAQuestion(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			ready := teletype.NewLatch(t)
			s := start(t, kind, "LINE_READY="+ready.Addr)
			s.Expect("> ")
			s.Line("ask")
			ready.Open()
			s.Expect("sure: ")
			s.Send("y\rrm x\r")
			s.Expect(`answer "y", <nil>`)
		})
	}
}

// Where each line is an input, those that come together are, too.
func TestSingleLines(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := start(t, kind, "LINE_SINGLE=1")
			s.Expect("> ")
			s.Send("one\rtwo\rthree\r")
			for _, line := range []string{"one", "two", "three"} {
				s.Expect(fmt.Sprintf("got %q", line))
			}
		})
	}
}

// A paste that the terminal does not mark is one input, in however many pieces it comes, and
// is sent by the Enter that it ends in: it may be a program that types, and waits.
func TestUnmarkedPaste(t *testing.T) {
	for _, kind := range kinds[1:] {
		for _, n := range []int{2, 5, 500} {
			t.Run(fmt.Sprint(kind, n), func(t *testing.T) {
				s := start(t, kind)
				s.Expect("> ")
				text := numbered(n)
				go func() {
					for piece := range slices.Chunk([]byte(strings.ReplaceAll(text, "\n", "\r")), 700) {
						s.Send(string(piece))
					}
				}()
				s.Expect(fmt.Sprintf("[paste 1: %d lines, %d characters]", n, len(text)-1))
				s.Expect(fmt.Sprintf("got %q", strings.TrimSuffix(text, "\n")))
			})
		}
	}
}

// What stands behind the last Enter of such a paste waits for another one.
func TestUnmarkedPasteWaits(t *testing.T) {
	for name, tt := range map[string]struct{ paste, shown, then, want string }{
		"half a line": {"one\rtwo", "[paste 1: 2 lines, 7 characters]", "\r", "one\ntwo"},
		"empty lines": {"one\rtwo\r\r\r", "[paste 1: 3 lines, 9 characters]", "", "one\ntwo\n\n"},
		"line feeds":  {"one\ntwo\n", "[paste 1: 2 lines, 7 characters]", "", "one\ntwo"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, "smart")
			s.Expect("> ")
			s.Send(tt.paste)
			s.Expect(tt.shown)
			s.Send(tt.then)
			s.Expect(fmt.Sprintf("got %q", tt.want))
		})
	}
}

// Of what comes together only the Enter at its end sends it, when nothing follows; a key that
// follows is one.
func TestUnmarkedPasteEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		take []string // "" is the time out
		want string
	}{
		"an Enter at its end":        {[]string{"one\rtwo\r", ""}, "(one|two)\r"},
		"none":                       {[]string{"one\rtwo", ""}, "(one|two)"},
		"a key behind it":            {[]string{"one\rtwo\r", "\x01", ""}, "(one|two|)" + string(opHome)},
		"in two pieces":              {[]string{"one\r", "two\r", ""}, "one(|two)\r"},
		"an Enter by itself":         {[]string{"\r", ""}, "\r"},
		"a line and an Enter":        {[]string{"one\r", ""}, "one\r"},
		"an Enter behind half of it": {[]string{"one\rtwo", "", "\r", ""}, "(one|two)\r"},
		"an empty line":              {[]string{"one\r\r", ""}, "one\r\r"},
	} {
		k := &decoder{unmarked: unmarkedPaste{expected: true}, pasted: func(s string) string { return "(" + strings.ReplaceAll(s, "\n", "|") + ")" }}
		for _, b := range tt.take {
			if b == "" {
				k.timedOut()
			} else {
				k.take([]byte(b))
			}
		}
		if got := string(k.queue); got != tt.want || k.unmarked.coming || k.unmarked.enter {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// What was typed before the user stops something is not lost, and not sent.
func TestTypedBeforeAStop(t *testing.T) {
	for _, tt := range []struct{ kind, typed, shown, then, got string }{
		{"plain", "half a wish", "info: typed before the stop and not sent: half a wish\r\n> ", "next", "next"},
		{"plain", "one\rtwo", "info: typed before the stop and not sent, 2 lines:\r\none\r\ntwo\r\n> ", "next", "next"},
		{"plain", "", "\r\n> ", "next", "next"},
		{"limited", "half a wisx\x7fh", "> half a wish", "!", "half a wish!"},
		{"limited", "one\rtwo\r", "one\r\ntwo", "!", "one\ntwo!"},
		{"smart", "half a wisx\x7fh", "> half a wish", "!", "half a wish!"},
		{"smart", "one\rtwo\r", "one\r\ntwo", "!", "one\ntwo!"},
		{"smart", "", "> ", "next", "next"},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			s := start(t, tt.kind)
			s.Expect("> ")
			s.Line("stopped")
			s.Expect("working\r\n")
			s.Send(tt.typed + "\x03")
			s.Expect("info: stopped\r\n")
			s.Expect(strings.TrimPrefix(tt.shown, "\r\n"))
			s.Line(tt.then)
			s.Expect(fmt.Sprintf("got %q", tt.got))
		})
	}
}
