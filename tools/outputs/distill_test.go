package outputs

import (
	"context"
	"errors"
	"os"
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

// A long output keeps its beginning and its end, the whole is in a file, and of a very
// long one another model says what it is about; that of a file is a page already.
func TestDistilled(t *testing.T) {
	output := func(tokens int) string { return "begin" + strings.Repeat("abcd", tokens) + "end" }
	for _, test := range []struct {
		name, tool string
		tokens     int
		reply      et.Reply
		whole, sum bool
	}{
		{"short", "x", 90, et.Reply{}, true, false},
		{"long", "x", 150, et.Reply{}, false, false},
		{"very long", "x", 250, et.Says("It is about letters."), false, true},
		{"nobody says", "x", 250, et.Reply{Err: errors.New("down")}, false, false},
		{"too long to be summed up", "x", 250_001, et.Reply{}, false, false},
		{"a file", "read_file", 250, et.Reply{}, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			script := et.NewScript(test.reply)
			l := Limits{Distill: Distillation{MaxTokens: 100, SumUp: 200}, Dir: func() string { return dir },
				Asker: &oneshot.Asker{Generator: script, Presets: &preset.Table{}, Attempts: 1}}
			all := output(test.tokens)
			tool := toolkit.Define(test.tool, "X", engine.Other, "x", `{"type":"object","properties":{}}`, func(context.Context, struct{}) (engine.Call, error) {
				return engine.Call{Run: func(context.Context, engine.Host) (engine.Result, error) { return engine.Result{Text: all}, nil }}, nil
			})
			call, err := toolstest.Prepare(t, l.Distilled(engine.Tools{tool}).Tools()[0], `{}`)
			if err != nil {
				t.Fatal(err)
			}
			r, err := call.Run(t.Context(), &toolstest.Desk{})
			if err != nil || (r.Text == all) != test.whole || (r.Cut.Total == 0) != test.whole {
				t.Fatalf("%.200q, cut %+v, %v", r.Text, r.Cut, err)
			}
			if test.sum != strings.HasSuffix(r.Text, significance+text.Untrusted("It is about letters.")) {
				t.Errorf("the end is %q", r.Text[max(0, len(r.Text)-200):])
			}
			if test.whole {
				return
			}
			if !strings.Contains(r.Text, "\nbegin") || !strings.Contains(r.Text, "abcdend") {
				t.Errorf("%.300q", r.Text)
			}
			_, path, _ := strings.Cut(r.Text, "For full output see: ")
			path, _, _ = strings.Cut(path, "\n")
			if b, err := os.ReadFile(path); err != nil || string(b) != all {
				t.Errorf("the file %s: %d bytes, %v", path, len(b), err)
			}
		})
	}
	ts := engine.Tools{}
	if got := (Limits{}).Distilled(ts); len(got.Tools()) != 0 {
		t.Errorf("without a distillation: %v", got)
	}
}
