package outputs

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model/oneshot"
	"gemline/engine/model/preset"
	"gemline/engine/text"
	"gemline/tools/toolkit"
	"gemline/tools/toolstest"
)

// A long output is summed up, with what gemline itself says of it and the way to the
// whole; a failure stays one. A short one, and one that can't be summed up, stays.
func TestSummary(t *testing.T) {
	long := text.Untrusted(strings.Repeat("a line\n", 400))
	failed := &engine.CallError{Type: "failed", Message: long + "denied: x", Display: "failed exit 1"}
	for _, test := range []struct {
		name string
		text string
		err  error
		want string // the beginning
		asks int
	}{
		{"long", long + "denied: x", nil, "<untrusted_context>\nIn short.\n</untrusted_context>\nThis is a summary. For full output see: ", 1},
		{"failed", failed.Message, failed, "<untrusted_context>\nIn short.\n</untrusted_context>\nThis is a summary. For full output see: ", 1},
		{"short", text.Untrusted("a"), nil, text.Untrusted("a"), 0},
		{"cancelled", long, context.Canceled, long, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			script := et.NewScript(et.Says("In short."))
			l := Limits{Summaries: map[string]int{"x": 700}, Dir: func() string { return dir },
				Asker: &oneshot.Asker{Generator: script, Presets: &preset.Table{}, Attempts: 1}}
			tool := l.Summarized(toolkit.Define("x", "X", engine.Execute, "x", `{"type":"object","properties":{}}`, func(context.Context, struct{}) (engine.Call, error) {
				return engine.Call{Run: func(context.Context, engine.Host) (engine.Result, error) {
					return engine.Result{Text: test.text}, test.err
				}}, nil
			}))
			call, err := toolstest.Prepare(t, tool, `{}`)
			if err != nil {
				t.Fatal(err)
			}
			r, err := call.Run(t.Context(), &toolstest.Desk{})
			if !strings.HasPrefix(r.Text, test.want) || (err == nil) != (test.err == nil) {
				t.Errorf("%.200q, %v", r.Text, err)
			}
			if test.asks > 0 && !strings.HasSuffix(r.Text, "denied: x") {
				t.Errorf("what was said of it is lost: %q", r.Text)
			}
			if ce := (*engine.CallError)(nil); errors.As(err, &ce) && (ce.Message != r.Text || ce.Display != failed.Display) {
				t.Errorf("the failure is %+v", ce)
			}
			if n := len(script.Requests()); n != test.asks || n > 0 && !strings.Contains(script.Requests()[0].Contents[0].Parts[0].Text, "700 tokens") {
				t.Errorf("%d questions", n)
			}
		})
	}
	script := et.NewScript(et.Reply{Err: errors.New("down")})
	limits := Limits{Asker: &oneshot.Asker{Generator: script, Presets: &preset.Table{}, Attempts: 1}}
	l := &toolstest.Desk{}
	if got := limits.sum(t.Context(), l, "x", long, 700); got != long || len(l.Events) == 0 {
		t.Errorf("without an answer: %.100q, told %v", got, l.Events)
	}
}
