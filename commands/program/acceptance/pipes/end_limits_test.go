//go:build unix

package pipes

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// When its time is up, a run ends with its record, whatever is going on;
// nothing that was started goes on, and the session can be gone on with.
func TestTimeout(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		phase, format string
		code          int
		reason        string
		answer        string // what of it is in the output
	}{
		{"waiting for the first byte", "stream-json", 63, "timeout", ""},
		{"in the middle of the answer", "text", 63, "timeout", "half an answer \n"},
		{"in the middle of the answer", "json", 63, "timeout", `"response": "half an answer "`},
		{"in a command", "json", 63, "timeout", ""},
		{"about to ask again", "stream-json", 67, "quota", ""}, // there is no time to wait for that
	} {
		t.Run(test.phase+"/"+test.format, func(t *testing.T) {
			t.Parallel()
			var dir string
			over := pt.Ended(pt.Nothing)
			var s *et.Server
			var out, errs bytes.Buffer
			limit := 2
			for far := false; !far; limit *= 3 { // a slow machine needs longer to come that far
				reached := make(chan pt.Ended, 10)
				dir = t.TempDir()
				s = et.NewServer(pt.Phases[test.phase](reached, dir), et.Says("on we go"))
				t.Cleanup(s.Close)
				out.Reset()
				errs.Reset()
				run := pt.Headless(t, s, dir, &out, &errs, "-m", "gemini-2.5-flash", "-y", "-q", "-p", "go", "-o", test.format, "--timeout", strconv.Itoa(limit))
				err := run.Run()
				got := run.ProcessState.ExitCode()
				far = test.code != 63 && got == test.code
				select {
				case over = <-reached:
					far = got == test.code && strings.Contains(out.String(), test.answer)
				default:
				}
				if !far && (got != 63 || limit > 30) {
					t.Fatalf("%v, stdout %q, stderr %q", err, out.String(), errs.String())
				}
			}
			pt.CheckEnd(t, test.format, out.Bytes(), test.reason)
			if test.format == "text" && out.String() != test.answer {
				t.Errorf("stdout: %q", out.String())
			}
			pt.CheckEnded(t, over)
			if test.code == 63 {
				want := fmt.Sprintf("^error: stopped: --timeout %ds is over\nhint: gemline --resume [-0-9a-f]+ goes on; --timeout sets the limit\n$", limit/3)
				if got := errs.String(); !regexp.MustCompile(want).MatchString(got) {
					t.Errorf("stderr: %q", got)
				}
				pt.CheckResume(t, s, dir)
			}
		})
	}
}

// In a session the limits hold for all of it, but for the time, which is that
// of an answer. What happens is said in a line, and the session goes on.
func TestLimitsInASession(t *testing.T) {
	t.Parallel()
	look := et.Says("I look.", et.Call("1", "list_directory", "dir_path", "."))
	tests := []struct {
		name    string
		args    []string
		replies []et.Reply
		want    []string // one for each prompt
	}{
		{"tokens", []string{"--max-tokens", "1000"}, []et.Reply{look.With(990, 20)}, []string{
			"error: stopped: 1,010 tokens are used, and the limit is --max-tokens 1000\r\nhint: gemline --resume ",
			" --max-tokens N goes on\r\n"}},
		{"calls", []string{"--max-tool-calls", "1"}, []et.Reply{look, look, et.Says("Fine.")}, []string{
			"error: stopped: the model wants a call more, and --max-tool-calls 1 is used up\r\nhint: gemline --resume ",
			"gemini: Fine."}},
		{"time", []string{"--timeout", "1"}, []et.Reply{et.Stalled(et.Streams("This takes ", "for ever. ")), et.Says("Fine.")}, []string{
			"error: stopped: --timeout 1s is over\r\nhint: --timeout sets how long an answer may take\r\n",
			"gemini: Fine."}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := et.NewServer(test.replies...)
			server.Respond = func(et.Received) et.Reply { return et.Says("Fine.") }
			c := pt.Terminal(t, server, test.args...)
			c.Term = "dumb"
			s := teletype.Start(t, c)
			for i, want := range test.want {
				s.Say("go")
				if late := test.want[0]; test.name == "time" && i > 0 {
					for !strings.HasSuffix(s.Match(regexp.QuoteMeta(late)+"|"+regexp.QuoteMeta(want)), want) {
						s.Expect("> ") // the machine is slow, and the next prompt has its own time
						s.Line("go")
					}
					continue
				}
				s.Expect(want)
			}
			s.Say("/quit")
			pt.Succeeds(t, s)
			if n := strings.Count(string(s.Transcript()), "error: "); n > 2 && test.name != "time" {
				t.Errorf("%d errors:\n%s", n, s.Transcript())
			}
		})
	}
}

// What a session has cost is told where the price is known. A file of prices that is
// broken costs nothing but a warning, when the first price is wanted.
func TestCostOfASession(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, prices, want string }{
		{"known", "", `Cost: \$0\.000325 by the prices of 20[0-9-]+\.`},
		{"broken", "date = 3", `warning: .*prices\.toml:1: a value of the wrong kind`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := pt.Terminal(t, et.NewServer(et.Says("Fine.").With(1000, 10)))
			c.Term = "dumb"
			if test.prices != "" {
				pt.Write(t, pt.HomeOf(c), map[string]string{".gemini/prices.toml": test.prices})
			}
			s := teletype.Start(t, c)
			s.Say("go")
			if test.prices == "" {
				s.Say("/stats")
			}
			s.Match(test.want)
			s.Say("/quit")
			pt.Succeeds(t, s)
		})
	}
}
