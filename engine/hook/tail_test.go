package hook_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/hook"
)

// tellsOfCalls returns what a run tells of calls, a line each.
func tellsOfCalls(t *testing.T, c *talk) (lines []string) {
	t.Helper()
	for ev, err := range c.run(t.Context(), genai.NewPartFromText("one")) {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := ev.(type) {
		case engine.CallRequested:
			lines = append(lines, fmt.Sprintf("%s called %v", ev.ID, ev.Args))
		case engine.CallStateChanged:
			lines = append(lines, ev.ID+" "+string(ev.State))
		case engine.CallStarted:
			lines = append(lines, fmt.Sprintf("%s started, agreed %v", ev.ID, ev.Agreed))
		case engine.CallFinished:
			lines = append(lines, fmt.Sprintf("%s finished %v, asked %v: %s, %v", ev.ID, ev.Args, ev.Asked, ev.Result.Display, ev.Err))
		}
	}
	return lines
}

// A call that takes the place of another is told of as any call is, while the other one runs,
// and the record of that one names it. A refusal is that call's alone.
func TestTailCallIsTold(t *testing.T) {
	t.Parallel()
	k := prints(hook.AfterTool, `{"hookSpecificOutput":{"tailToolCallRequest":{"name":"note","args":{"x":"b"}}}}`)
	k.Matcher = "list"
	for name, tt := range map[string]struct {
		answer engine.Answer
		want   []string
		tail   engine.TailCall
		err    string
	}{
		"allowed": {engine.Allowed{}, []string{"list__1 executing", "list__1 started, agreed false", "T called map[x:b]", "T validating",
			"T awaiting_approval", "T scheduled", "T executing", "T started, agreed true", "T success",
			"T finished map[x:b], asked true: shown, <nil>", "list__1 success",
			"list__1 finished map[x:a], asked false: a hook had note take its place, <nil>"},
			engine.TailCall{Name: "note", Args: map[string]any{"x": "b"}, State: engine.Success, Display: "shown"}, ""},
		"refused": {engine.Refused{}, []string{"T called map[x:b]", "T validating", "T awaiting_approval", "T cancelled", "list__1 error"},
			engine.TailCall{Name: "note", Args: map[string]any{"x": "b"}, State: engine.Cancelled, Display: "refused"}, "a hook had note take its place: refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := beginAsked(t, et.NewApprover(t, tt.answer), []hook.Hook{k}, et.Says("", et.Call("1", "list", "x", "a")), et.Says("done"))
			got := tellsOfCalls(t, c)
			for i := range got {
				got[i] = strings.ReplaceAll(got[i], "note__tail_1", "T")
			}
			at := 0
			for _, line := range got {
				if at < len(tt.want) && line == tt.want[at] {
					at++
				}
			}
			if at < len(tt.want) {
				t.Errorf("no %q, in order, in %q", tt.want[at], got)
			}
			all := c.journal.Results()
			if len(all) != 1 || all[0].Name != "list" || !reflect.DeepEqual(all[0].Result.Tails, []engine.TailCall{tt.tail}) {
				t.Fatalf("recorded: %+v", all)
			}
			if tt.err != "" && (all[0].Err == nil || engine.DisplayError(all[0].Err) != tt.err || engine.Outcome(all[0].Err) != engine.Failed) {
				t.Errorf("recorded: %v", all[0].Err)
			}
			if ids := c.asked.Proposals(); !slices.ContainsFunc(ids, func(p engine.Proposal) bool { return p.ID == "note__tail_1" }) {
				t.Errorf("asked about %+v", ids)
			}
		})
	}
}
