package hook_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/hook"
)

// FuzzAnswer has a hook print anything, at an event or, for 0, at all: whatever it is, the
// conversation comes to an end, and a call does not run that exit status 2 is to block.
func FuzzAnswer(f *testing.F) {
	for _, said := range []string{
		`{"decision":"block","reason":"because","systemMessage":"a word","hookSpecificOutput":{"additionalContext":"more"}}`,
		`{"continue":false,"stopReason":"enough","hookSpecificOutput":{"clearContext":true}}`,
		`{"hookSpecificOutput":{"llm_request":{"model":"m","messages":[{"role":"user","content":"x"},{}],"config":{"topK":1}}}}`,
		`{"hookSpecificOutput":{"llm_response":{"text":"x","candidates":[{"content":{"parts":["a"]}},{}]}}}`,
		`{"hookSpecificOutput":{"toolConfig":{"mode":"ANY","allowedFunctionNames":["note",1,null]}}}`,
		`{"hookSpecificOutput":{"tool_input":{"x":null},"tailToolCallRequest":{"name":"note","args":[]}}}`,
		`"{\"hookSpecificOutput\":[]}"`, "null", "words", "",
	} {
		for at := range len(hook.Events) + 1 {
			f.Add(said, 0, uint8(at), true)
			f.Add(said, 2, uint8(at), false)
		}
	}
	f.Fuzz(func(t *testing.T, said string, code int, at uint8, sequential bool) {
		events := hook.Events
		if i := int(at) % (len(events) + 1); i > 0 {
			events = events[i-1 : i]
		}
		var hooks []hook.Hook
		for _, e := range events {
			k := on(e, "")
			k.Sequential = sequential
			hooks = append(hooks, k)
		}
		run := func(_ context.Context, p hook.Process) hook.Outcome {
			if !json.Valid(p.Input) {
				t.Errorf("a hook reads %s", p.Input)
			}
			return hook.Outcome{Stdout: said, Code: code}
		}
		asked := et.NewApprover(t, slices.Repeat([]engine.Answer{engine.Allowed{}}, 20)...)
		c := beginRun(t, asked, run, hooks, et.Says("", et.Call("1", "note", "x", "a")), et.Says("done"))
		c.Start(t.Context(), "startup")
		c.say("one") // its error may be that the script is over
		before := []hook.Event{hook.BeforeAgent, hook.BeforeModel, hook.BeforeTool}
		if len(c.ran) > 0 && code == 2 && slices.Contains(before, events[0]) {
			t.Errorf("the call ran after %q", said)
		}
	})
}
