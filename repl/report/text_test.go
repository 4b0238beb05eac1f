package report

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemline/engine"
)

func TestText(t *testing.T) {
	tests := []struct {
		name     string
		quiet    bool
		live     bool
		events   []engine.Event
		outcome  Outcome
		out, err string
	}{
		{name: "nothing"},
		{name: "a line", events: []engine.Event{engine.Text{Delta: "hi"}}, out: "hi\n"},
		{name: "lines too many", events: []engine.Event{engine.Text{Delta: "hi\n\n"}, engine.Text{Delta: "\n"}}, out: "hi\n"},
		{name: "a gap stays", events: []engine.Event{engine.Text{Delta: "hi\n\n"}, engine.Text{Delta: "\nho"}}, out: "hi\n\n\nho\n"},
		{name: "only a newline", events: []engine.Event{engine.Text{Delta: "\n"}}, out: "\n"},
		{name: "a failure", events: []engine.Event{engine.Text{Delta: "half"}},
			outcome: Outcome{Err: errors.New("the server is busy"), Hint: "try later"}, err: "error: the server is busy\nhint: try later\n"},
		{name: "a failure, live", live: true, events: []engine.Event{engine.Text{Delta: "half"}},
			outcome: Outcome{Err: errors.New("the server is busy")}, out: "half\n", err: "error: the server is busy\n"},
		{name: "a failure after what counted", events: []engine.Event{engine.Text{Delta: "I look."}, engine.AnswerFinished{}, engine.RequestStarted{}, engine.Text{Delta: "half"}},
			outcome: Outcome{Err: errors.New("the server is busy")}, out: "I look.\n", err: "error: the server is busy\n"},
		{name: "what a cancellation left", events: []engine.Event{engine.Text{Delta: "half"}, engine.AnswerFinished{}},
			outcome: Outcome{ExitCode: 130, Message: "cancelled"}, out: "half\n", err: "error: cancelled\n"},
		{name: "everything", events: run, out: "Let me read \u00e9.\n\nDone.\n",
			err: "warning: the connection broke; asking again in 2.0 s, attempt 2 of 3; the answer begins again\n" +
				"warning: edit a.txt: denied: nobody to ask. --approval-mode auto_edit\n" +
				"warning: run: failed exit 2\nwarning: the answer was cut short\n"},
		{name: "everything, live", live: true, events: run, out: "Wrong.\nLet me read \u00e9.\n\nDone.\n",
			err: "warning: the connection broke; asking again in 2.0 s, attempt 2 of 3; the answer begins again\n" +
				"warning: edit a.txt: denied: nobody to ask. --approval-mode auto_edit\n" +
				"warning: run: failed exit 2\nwarning: the answer was cut short\n"},
		{name: "everything, quietly", quiet: true, events: run, out: "Let me read \u00e9.\n\nDone.\n"},
		{name: "a failure, quietly", quiet: true, outcome: Outcome{ExitCode: 130, Reason: "SIGINT", Message: "cancelled"}, err: "error: cancelled\n"},
		{name: "an agent", events: []engine.Event{engine.Text{Delta: "I ask."}, inside(engine.Text{Delta: "Wrong."}), inside(engine.Notice{Text: "half of it"}),
			inside(denied), engine.Text{Delta: " Done."}}, out: "I ask. Done.\n",
			err: "warning: helper: half of it\nwarning: helper: edit a.txt: denied: nobody to ask. --approval-mode auto_edit\n"},
		{name: "an unfinished sequence", events: []engine.Event{engine.Text{Delta: "a\x1b["}}, out: "a[\n"},
		{name: "an unfinished character", events: []engine.Event{engine.Text{Delta: "a\xe2\x82"}}, out: "a\\xe2\\x82\n"},
		{name: "a hostile error", outcome: Outcome{Err: errors.New("a\x1b]0;x\ab\x07\nc")}, err: "error: ab\nc\n"},
		{name: "carriage returns", events: []engine.Event{engine.Text{Delta: "rm -rf /\rls\r"}, engine.Text{Delta: "\n\r"}, engine.Text{Delta: "x\r"}}, out: "rm -rf /\\x0dls\r\n\\x0dx\\x0d\n"},
		{name: "invisible characters", events: []engine.Event{engine.Text{Delta: "a\u200b\u2060\ufeff\u00ad\U000e0041\u200db"}}, out: "a\\u{200b}\\u{2060}\\u{feff}\\u{ad}\\u{e0041}\u200db\n"},
		{name: "control characters", events: []engine.Event{engine.Text{Delta: "a\x00\x07\b\tb\r\nc\x7f"}}, out: "a\tb\r\nc\n"},
		{name: "another order", events: []engine.Event{engine.Text{Delta: "a\u202egpj.exe"}, engine.Notice{Text: "\u2066b\u2028c\u200d"}},
			out: "a\\u{202e}gpj.exe\n", err: "warning: \\u{2066}b\\u{2028}c\u200d\n"},
		{name: "several lines", outcome: Outcome{Err: errors.New("no key\n\nset A\nor B\n")}, err: "error: no key\nset A\nor B\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench("text", func(r *Config) { r.Quiet, r.Text.Live = test.quiet, test.live })
			b.Begin(Init{})
			b.see(test.events...)
			if err := b.Finish(test.outcome); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(test.out, b.out.String()); diff != "" {
				t.Error("stdout", diff)
			}
			if diff := cmp.Diff(test.err, b.err.String()); diff != "" {
				t.Error("stderr", diff)
			}
		})
	}
}

// Text reaches a reader as it comes, if the report is live, or else when it is
// known to count.
func TestTextStreams(t *testing.T) {
	live := newBench("text", func(r *Config) { r.Text.Live = true })
	held := newBench("text", nil)
	for i, delta := range []string{"one ", "two", "\n", "three"} {
		live.see(engine.Text{Delta: delta})
		held.see(engine.Text{Delta: delta})
		if len(live.out) != i+1 || len(held.out) != 0 {
			t.Fatalf("%q: wrote %q and %q", delta, live.out, held.out)
		}
	}
	held.see(engine.AnswerFinished{})
	held.Finish(Outcome{})
	if len(held.out) != 1 || held.out.String() != "one two\nthree\n" { // an answer and the end of its line in one write
		t.Errorf("wrote %q", held.out)
	}
}
