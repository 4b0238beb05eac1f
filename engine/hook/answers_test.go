package hook_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/hook"
)

// prints returns the hook of an event that prints JSON.
func prints(e hook.Event, text string) hook.Hook {
	return on(e, "cat >/dev/null; cat <<'END'\n"+text+"\nEND")
}

// TestStop has a hook of each event that can stop the run do so: the run ends without an
// error.
func TestStop(t *testing.T) {
	t.Parallel()
	for e, want := range map[hook.Event]struct {
		requests int
		history  string
	}{
		hook.BeforeAgent: {0, "user: one"},
		hook.BeforeModel: {0, ""},
		hook.AfterModel:  {1, ""},
		hook.BeforeTool:  {1, "user: one\nmodel: call note\nuser: error: Agent execution stopped by hook: enough"},
		hook.AfterTool:   {1, "user: one\nmodel: call note\nuser: error: Agent execution stopped by hook: enough"},
		hook.AfterAgent:  {2, "user: one\nmodel: call note\nuser: output: note did a\nmodel: done"},
	} {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			replies := []et.Reply{et.Says("", et.Call("1", "note", "x", "a")), et.Says("done")}
			c := begin(t, []hook.Hook{prints(e, `{"continue":false,"stopReason":"enough"}`)}, replies...)
			user, err := c.say("one")
			if err != nil || !slices.Contains(user, "warning: Agent execution stopped: enough") {
				t.Errorf("%q %v", user, err)
			}
			if n, h := len(c.told()), strings.Join(c.history(), "\n"); n != want.requests || h != want.history {
				t.Errorf("%d requests, %s", n, h)
			}
		})
	}
}

// TestStopWithoutEffect has hooks of the other events stop or block: the user is warned that this
// has no effect.
func TestStopWithoutEffect(t *testing.T) {
	t.Parallel()
	for _, said := range []string{`{"continue":false,"stopReason":"enough"}`, `{"decision":"block","reason":"enough","systemMessage":"no"}`} {
		c := begin(t, []hook.Hook{prints(hook.SessionStart, said), prints(hook.PreCompress, said), prints(hook.SessionEnd, said)})
		c.Start(t.Context(), "startup")
		c.Compress(t.Context(), "auto")
		c.End(t.Context(), "exit")
		got := map[string]bool{}
		for _, n := range c.Notices() {
			got[n.Text] = !n.Info
		}
		for _, e := range []hook.Event{hook.SessionStart, hook.PreCompress, hook.SessionEnd} {
			if !got["hook it failed at "+string(e)+": its stop or block has no effect at this event: enough"] {
				t.Errorf("%s %s: %v", e, said, got)
			}
		}
	}
}

// TestOtherWords has a hook decide in the words of Claude Code.
func TestOtherWords(t *testing.T) {
	t.Parallel()
	const deny = `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"not that"}}`
	c := begin(t, []hook.Hook{prints(hook.BeforeTool, deny)}, et.Says("", et.Call("1", "note", "x", "a")), et.Says("done"))
	user, err := c.say("one")
	if err != nil || !slices.Contains(user, "failed: note denied by hook it: not that") || len(c.ran) != 0 {
		t.Errorf("%q %v, ran: %v", user, err, c.ran)
	}
}

// TestAmongOtherOutput has a hook print its answer after a byte order mark or among other
// lines: the last object that answers counts.
func TestAmongOtherOutput(t *testing.T) {
	t.Parallel()
	const deny, allow = `{"decision":"deny","reason":"no"}`, `{"decision":"allow"}`
	for said, denied := range map[string]bool{
		"\ufeff" + deny:                                                 true,
		" \ufeff\r\n" + deny + "\r\n":                                   true,
		"checking\n" + deny:                                             true,
		"checking\n" + deny + "\ndone":                                  true,
		"\ufeffchecking\n\n  " + deny + "  ":                            true,
		`{"level":"info"}` + "\n" + deny:                                true,
		deny + "\n" + `{"level":"info"}`:                                true,
		allow + "\n" + deny:                                             true,
		deny + "\n" + allow:                                             false,
		"checking\n{\n  \"decision\":\n  \"block\"\n}\n":                true,
		"{not this}\n" + deny:                                           true,
		`{"decision":"DENY"}`:                                           true,
		`{"decision":"Block "}`:                                         true,
		"{not this}\n":                                                  false,
		"it says " + deny + " here":                                     false,
		strings.Repeat("{\n", 99) + deny:                                true,
		strings.Repeat("{\n", 1000) + deny:                              true,
		strings.Repeat(`{"a":`, 100_000) + deny:                         false, // there is an end to it
		`checking {"hookSpecificOutput":{"permissionDecision":"deny"}}`: true,
		"checking\n" + `{"hookSpecificOutput":{"permissionDecision":"deny"}}`: true,
	} {
		c := begin(t, []hook.Hook{prints(hook.BeforeTool, said)}, et.Says("", et.Call("1", "note", "x", "a")), et.Says("done"))
		if user, err := c.say("one"); err != nil || (len(c.ran) == 0) != denied {
			t.Errorf("%.80q: %v, ran: %v, %q", said, err, c.ran, user)
		}
	}
}

// TestUnreadable has a hook that may block print what was meant as an answer: a warning says
// that it is none.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	for _, said := range []string{`{"decision":`, `{'decision': 'deny'}`, "checking\n{\"decision\": deny}", "checking\n{\n\"a\"", "\ufeff{\"decision\""} {
		c := begin(t, []hook.Hook{prints(hook.BeforeTool, said)}, et.Says("", et.Call("1", "note", "x", "a")), et.Says("done"))
		user, err := c.say("one")
		if all := strings.Join(user, "\n"); err != nil || len(c.ran) != 1 ||
			!strings.Contains(all, "hook it failed at BeforeTool: it printed JSON that is broken: ") {
			t.Errorf("%q: %v %q", said, err, user)
		}
	}
}

// TestNearAnswers has a hook answer nearly as it should: what may mean a block has the call
// asked about by the hook's name, and nothing else sent.
func TestNearAnswers(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`{"decision":"denied"}`:                                  "ask",
		`{"decision":"Blocked."}`:                                "ask",
		`{"decision":"reject"}`:                                  "ask",
		`{"decision":"refused"}`:                                 "ask",
		`{"decision":"FORBIDDEN"}`:                               "ask",
		`{"decision":"deny",}`:                                   "ask",
		"{\n  \"decision\": \"deny\",\n}":                        "ask",
		`{"decision":"deny","hookSpecificOutput":{"a":[1,],},}`:  "ask",
		`[{"decision":"deny"}]`:                                  "ask",
		`{"Decision":"deny"}`:                                    "ask",
		`{"DECISION":"DENY","REASON":"no"}`:                      "ask",
		`{"permissionDecision":"deny"}`:                          "block",
		`{"permission_decision":"deny"}`:                         "ask",
		"checking\n" + `{"permissionDecision":"deny"}`:           "block",
		`{"hook_specific_output":{"permissionDecision":"deny"}}`: "ask",
		`{"hookSpecificOutput":{"decision":"deny"}}`:             "block",
		`{"decision":"approve","permissionDecision":"deny"}`:     "block",
		`{"permissionDecision":"ask"}`:                           "ask",
		`{"decision":"maybe"}`:                                   "ask",
		`{"decision":"dney"}`:                                    "ask",
		`{"decision":false}`:                                     "ask",
		`{"decision":{"behavior":"deny"}}`:                       "ask",
		`{"decision":"allow","permissionDecision":"dney"}`:       "ask",
		`{'decision': 'deny'}`:                                   "ask",
		`{"decision": deny}`:                                     "ask",
		`{"decision":"deny"`:                                     "ask",
		`[{"decision":"deny"},{"decision":"allow"}]`:             "ask",
		`["deny"]`:                          "ask",
		`{"action":"deny"}`:                 "ask",
		`{"hookSpecificOutput":"deny"}`:     "ask",
		`{"decision":"allowed"}`:            "ask",
		`{"decision":"allow",}`:             "ask",
		`[{"decision":"approve"}]`:          "ask",
		`{"decision":""}`:                   "",
		`{"decision":null}`:                 "",
		`{"systemMessage":"a, ]b, } deny"}`: "",
		`{"continue":true,"action":"deny"}`: "",
		`{level: info}`:                     "",
		"[1]":                               "",
		"12":                                "",
		"the decision is to deny":           "",
	} {
		c := begin(t, []hook.Hook{prints(hook.BeforeTool, said)}, et.Says("", et.Call("1", "note", "x", "a")), et.Says("done"))
		user, err := c.say("one")
		got := "block"
		if asked := c.asked.Proposals(); len(asked) == 1 {
			got = ""
			if strings.HasPrefix(asked[0].Intent.Ask, "hook it wants to ask: ") {
				got = "ask"
			}
		}
		if err != nil || got != want || (len(c.ran) == 0) != (want == "block") {
			t.Errorf("%s: %q, ran: %v, %v, %q", said, got, c.ran, err, user)
		}
		for _, e := range []hook.Event{hook.BeforeAgent, hook.BeforeModel} {
			if said == `{"permissionDecision":"ask"}` {
				continue // which is understood
			}
			c := begin(t, []hook.Hook{prints(e, said)}, et.Says("", et.Call("1", "note", "x", "a")), et.Says("done"))
			user, err := c.say("one")
			all := strings.Join(user, "\n")
			if err != nil || (len(c.told()) == 0) != (want != "") || want == "ask" && !strings.Contains(all, "blocked: hook it: it") {
				t.Errorf("%s at %s: %v, %v, %q", said, e, c.told(), err, user)
			}
		}
	}
}

// TestWhoDecides sees that hooks are named which have decided, and no others.
func TestWhoDecides(t *testing.T) {
	t.Parallel()
	silent, second := prints(hook.BeforeTool, `{"reason":"r"}`), prints(hook.BeforeTool, `{"decision":"deny"}`)
	second.Name = "second"
	third := second
	third.Name, third.Command = "third", third.Command+"\n"
	c := begin(t, []hook.Hook{silent, silent, second, third}, et.Says("", et.Call("1", "note", "x", "a")), et.Says("done"))
	user, err := c.say("one")
	if err != nil || !strings.HasPrefix(user[0], "failed: note denied by hook second, third: ") {
		t.Errorf("%v, %q", err, user)
	}
}

// TestArguments has a hook rewrite the arguments of a call: what is asked about, runs and
// is recorded are the new ones.
func TestArguments(t *testing.T) {
	t.Parallel()
	c := begin(t, []hook.Hook{prints(hook.BeforeTool, `{"hookSpecificOutput":{"tool_input":{"x":"other"}}}`)},
		et.Says("", et.Call("1", "note", "x", "a", "y", "gone")), et.Says("done"))
	user, err := c.say("one")
	const did = "note did other\n\n[System] Tool input parameters were modified by a hook before execution."
	if err != nil || !slices.Contains(user, "did: "+did) {
		t.Errorf("%q %v", user, err)
	}
	if asked := c.asked.Proposals(); len(asked) != 1 || asked[0].Intent.Detail != "other" ||
		!reflect.DeepEqual(asked[0].Args, map[string]any{"x": "other"}) {
		t.Errorf("asked: %+v", asked)
	}
	if !reflect.DeepEqual(c.ran, []map[string]any{{"x": "other"}}) {
		t.Errorf("ran: %v", c.ran)
	}
	if r := c.journal.Results(); len(r) != 1 || r[0].Args["x"] != "other" {
		t.Errorf("recorded: %+v", r)
	}
}

// Arguments that the tool does not take are the model's to read of.
func TestArgumentsRefused(t *testing.T) {
	t.Parallel()
	c := begin(t, []hook.Hook{prints(hook.BeforeTool, `{"hookSpecificOutput":{"tool_input":{"bad":1}}}`)},
		et.Says("", et.Call("1", "note", "x", "a")), et.Says("done"))
	if _, err := c.say("one"); err != nil ||
		c.told()[1] != "error: Tool parameter modification by hook failed validation: bad is bad" {
		t.Errorf("%q %v", c.told(), err)
	}
}

// An agreement to a call with other arguments is none to what a hook makes of these.
func TestAgreedToOtherArguments(t *testing.T) {
	t.Parallel()
	k := on(hook.BeforeTool, `x=$(sed 's/.*"x":"\([a-z+]*\)".*/\1/'); echo '{"hookSpecificOutput":{"tool_input":{"x":"'$x'+"}}}'`)
	asked := et.NewApprover(t, engine.Changed{Args: map[string]any{"x": "b"}, Agreed: true}, engine.Allowed{})
	c := beginAsked(t, asked, []hook.Hook{k}, et.Says("", et.Call("1", "note", "x", "a")), et.Says("done"))
	if _, err := c.say("one"); err != nil || len(c.asked.Proposals()) != 2 ||
		!reflect.DeepEqual(c.ran, []map[string]any{{"x": "b+"}}) {
		t.Errorf("%v: asked %d times, ran %v", err, len(c.asked.Proposals()), c.ran)
	}
}

// TestAsk has a hook insist on a question about a call that is allowed.
func TestAsk(t *testing.T) {
	t.Parallel()
	c := begin(t, []hook.Hook{prints(hook.BeforeTool, `{"decision":"ask","reason":"look twice"}`)},
		et.Says("", et.Call("1", "list", "x", "a")), et.Says("done"))
	_, err := c.say("one")
	asked := c.asked.Proposals()
	if err != nil || len(asked) != 1 || asked[0].Intent.Ask != "hook it wants to ask: look twice" ||
		len(asked[0].Intent.Grants) > 0 {
		t.Errorf("%v: %+v", err, asked)
	}
}

// TestTailCall has a hook have another call take the place of one: it is judged like any
// other, and its result is that of the first.
func TestTailCall(t *testing.T) {
	t.Parallel()
	k := prints(hook.AfterTool, `{"hookSpecificOutput":{"tailToolCallRequest":{"name":"note","args":{"x":"b"}}}}`)
	k.Matcher = "list"
	c := begin(t, []hook.Hook{k}, et.Says("", et.Call("1", "list", "x", "a")), et.Says("done"))
	user, err := c.say("one")
	asked := c.asked.Proposals()
	if err != nil || !slices.Equal(user, []string{"did: note did b", "did: note did b", "text: done"}) || len(asked) != 1 ||
		asked[0].Tool.Name() != "note" {
		t.Errorf("%v: %q, asked %+v", err, user, asked)
	}
	k.Matcher = "" // also for the call that takes its place
	c = begin(t, []hook.Hook{k}, et.Says("", et.Call("1", "list", "x", "a")), et.Says("done"))
	if user, err = c.say("one"); err != nil || !slices.ContainsFunc(user,
		func(l string) bool { return strings.Contains(l, "have put 10 calls in the place of one") }) {
		t.Errorf("%v: %q", err, user)
	}
	originals := 0
	for range len(c.calls) {
		var in map[string]any
		if json.Unmarshal((<-c.calls).Input, &in); in["original_request_name"] == "list" {
			originals++
		}
	}
	if originals != 10 {
		t.Errorf("%d inputs name the original", originals)
	}
}

// TestTailCallKept has a call that would take the place of one not run: the user says no, its
// tool does not take it, a hook blocks it, or there is no such tool.
func TestTailCallKept(t *testing.T) {
	t.Parallel()
	next := func(call string) hook.Hook {
		k := prints(hook.AfterTool, `{"hookSpecificOutput":{"tailToolCallRequest":`+call+`}}`)
		k.Matcher = "list"
		return k
	}
	block := prints(hook.BeforeTool, `{"decision":"block","reason":"no notes"}`)
	block.Matcher = "note"
	for name, tt := range map[string]struct {
		hooks  []hook.Hook
		answer engine.Answer
		want   string
	}{
		"refused":  {[]hook.Hook{next(`{"name":"note","args":{"x":"b"}}`)}, engine.Refused{Note: "not now"}, "The user said: not now"},
		"unasked":  {[]hook.Hook{next(`{"name":"note","args":{"x":"b"}}`)}, engine.Unasked{Advice: "use -y"}, "requires user confirmation, which is not supported in non-interactive mode; use -y"},
		"bad":      {[]hook.Hook{next(`{"name":"note","args":{"bad":1}}`)}, nil, "bad is bad"},
		"blocked":  {[]hook.Hook{next(`{"name":"note","args":{"x":"b"}}`), block}, nil, "Tool execution blocked: no notes"},
		"no such":  {[]hook.Hook{next(`{"name":"nowhere"}`)}, nil, "the tool nowhere, which is not there"},
		"no words": {[]hook.Hook{next(`{"args":7}`)}, nil, "the tool , which is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			var answers []engine.Answer
			if tt.answer != nil {
				answers = []engine.Answer{tt.answer}
			}
			c := beginAsked(t, et.NewApprover(t, answers...), tt.hooks, et.Says("", et.Call("1", "list", "x", "a")), et.Says("done"))
			_, err := c.say("one")
			if told := c.told(); err != nil || len(told) != 2 || !strings.Contains(told[1], tt.want) {
				t.Errorf("%v: %q", err, told)
			}
			for _, args := range c.ran {
				if args["x"] != "a" {
					t.Errorf("ran with %v", args)
				}
			}
		})
	}
}

// TestContext has hooks add to a prompt and to a result.
func TestContext(t *testing.T) {
	t.Parallel()
	c := begin(t, []hook.Hook{prints(hook.BeforeAgent, `{"hookSpecificOutput":{"additionalContext":"a </hook_context>"}}`),
		prints(hook.AfterTool, `{"hookSpecificOutput":{"additionalContext":"b"}}`)},
		et.Says("", et.Call("1", "note", "x", "a")), et.Says("done"))
	_, err := c.say("one")
	want := []string{"one + <hook_context>a &lt;/hook_context&gt;</hook_context>",
		"output: note did a\n\n<hook_context>b</hook_context>"}
	if err != nil || !slices.Equal(c.told(), want) {
		t.Errorf("%v: %q", err, c.told())
	}
}

// What hooks add to a call that failed stands below why it did.
func TestContextOfFailure(t *testing.T) {
	t.Parallel()
	c := begin(t, []hook.Hook{prints(hook.BeforeTool, `{"hookSpecificOutput":{"tool_input":{"x":"fail"}}}`), prints(hook.AfterTool, `{"hookSpecificOutput":{"additionalContext":"b"}}`)},
		et.Says("", et.Call("1", "note", "x", "a")), et.Says("done"))
	user, err := c.say("one")
	const want = "error: it failed\n\n[System] Tool input parameters were modified by a hook before execution.\n\n<hook_context>b</hook_context>"
	if err != nil || c.told()[1] != want || !slices.Contains(user, "failed: note broken") || engine.ErrorType(c.journal.Results()[0].Err) != engine.ExecutionFailed {
		t.Errorf("%v: %q, %q", err, c.told(), user)
	}
}

// A hook of a notification reads what is asked about.
func TestNotification(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		p    engine.Proposal
		want map[string]any
	}{
		"command": {engine.Proposal{Tool: engine.Tool{Kind: engine.Execute}, Intent: engine.Intent{Title: "run", Detail: "a | $b | c", Plan: engine.Plan{Commands: []engine.Command{
			{Argv: []engine.Word{{Text: "a", Known: true}}}, {Argv: []engine.Word{{Text: "$b"}}}, {Argv: []engine.Word{{Text: "c", Known: true}}}}}}},
			map[string]any{"type": "exec", "title": "run", "command": "a | $b | c", "rootCommand": "a, c", "rootCommands": []any{"a", "c"}}},
		"unknown command": {engine.Proposal{Tool: engine.Tool{Kind: engine.Execute}, Intent: engine.Intent{Title: "run", Detail: "$b"}},
			map[string]any{"type": "exec", "title": "run", "command": "$b", "rootCommand": "", "rootCommands": []any{}}},
		"edit": {engine.Proposal{Tool: engine.Tool{Kind: engine.Edit}, Intent: engine.Intent{Title: "write", Detail: "+x", Paths: []string{"/p/a.go"}}},
			map[string]any{"type": "edit", "title": "write", "fileDiff": "+x", "fileName": "a.go", "filePath": "/p/a.go"}},
		"tool of a server": {engine.Proposal{Tool: engine.Tool{Server: "s", Label: "T", Declaration: &genai.FunctionDeclaration{Name: "mcp_s_t"}}, Args: map[string]any{"x": "1"}, Intent: engine.Intent{Title: "call"}},
			map[string]any{"type": "mcp", "title": "call", "serverName": "s", "toolName": "mcp_s_t", "toolDisplayName": "T", "toolArgs": map[string]any{"x": "1"}}},
		"question": {engine.Proposal{Intent: engine.Intent{Title: "ask", Questions: []engine.Question{{Text: "q"}}}}, map[string]any{"type": "ask_user", "title": "ask"}},
		"other":    {engine.Proposal{Intent: engine.Intent{Title: "do", Detail: "d"}}, map[string]any{"type": "info", "title": "do", "prompt": "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "in")
			c := begin(t, []hook.Hook{on(hook.Notification, "cat >"+file)})
			if _, err := c.Approver(c.asked).Approve(t.Context(), tt.p); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(file)
			var in struct{ Details map[string]any }
			if err := errors.Join(err, json.Unmarshal(b, &in)); err != nil || !reflect.DeepEqual(in.Details, tt.want) {
				t.Errorf("%s, %v", b, err)
			}
		})
	}
}

// TestModel has hooks change a request, answer it, and change the answer.
func TestModel(t *testing.T) {
	t.Parallel()
	temperature := float32(0.5)
	for name, tt := range map[string]struct {
		e       hook.Event
		prints  string
		user    string
		request func(*engine.Request) string
		want    string
	}{
		"another question": {hook.BeforeModel, `{"hookSpecificOutput":{"llm_request":{"messages":[{"role":"user","content":"two"},{"role":"user","content":"three"}]}}}`, "text: done",
			func(r *engine.Request) string { return told(r.Contents[0]) + " " + told(r.Contents[1]) }, "two three"},
		"another model": {hook.BeforeModel, `{"hookSpecificOutput":{"llm_request":{"model":"n","config":{"temperature":0.5},"messages":"odd"}}}`, "text: done" + notUnderstood("llm_request"),
			func(r *engine.Request) string { return fmt.Sprint(r.Model, *r.Config.Temperature, told(r.Contents[0])) }, fmt.Sprint("n", temperature, "one")},
		"an answer":                 {hook.BeforeModel, `{"hookSpecificOutput":{"llm_response":{"candidates":[{"content":{"role":"model","parts":["mine"]}}]}}}`, "text: mine", nil, ""},
		"an answer with a block":    {hook.BeforeModel, `{"decision":"deny","reason":"no","hookSpecificOutput":{"llm_response":{"text":"mine"}}}`, "text: mine warning: Agent execution blocked: no", nil, ""},
		"an answer with its tokens": {hook.AfterModel, `{"hookSpecificOutput":{"llm_response":{"text":"mine","usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2,"totalTokenCount":3}}}}`, "text: mine", nil, ""},
		"an odd answer":             {hook.BeforeModel, `{"hookSpecificOutput":{"llm_response":{"candidates":"mine"}}}`, "text: done" + notUnderstood("llm_response"), nil, ""},
		"an answer of parts":        {hook.BeforeModel, `{"hookSpecificOutput":{"llm_response":{"candidates":[{"content":{"parts":[{"text":"mine"}]}}]}}}`, "text: mine", nil, ""},
		"an answer of other parts":  {hook.BeforeModel, `{"hookSpecificOutput":{"llm_response":{"candidates":[{"content":{"parts":[{"words":"mine"}]}}]}}}`, "text: done" + notUnderstood("llm_response"), nil, ""},
		"some tools": {hook.BeforeToolSelection, `{"hookSpecificOutput":{"toolConfig":{"allowedFunctionNames":["note"]}}}`, "text: done", func(r *engine.Request) string {
			return fmt.Sprint(selection(r), len(r.Config.Tools[0].FunctionDeclarations), r.Config.Tools[0].FunctionDeclarations[0].Name)
		}, "AUTO []1note"},
		"tools that are not there": {hook.BeforeToolSelection, `{"hookSpecificOutput":{"toolConfig":{"allowedFunctionNames":["none"]}}}`, "text: done", func(r *engine.Request) string {
			return fmt.Sprint(len(r.Config.Tools), r.Config.ToolConfig == nil)
		}, "0 true"},
		"no tools in small letters":     {hook.BeforeToolSelection, `{"hookSpecificOutput":{"toolConfig":{"mode":"none"}}}`, "text: done", selection, "NONE []"},
		"another selection":             {hook.BeforeToolSelection, `{"hookSpecificOutput":{"toolConfig":{"mode":"SOME"}}}`, "text: done" + strings.ReplaceAll(notUnderstood("toolConfig"), "BeforeModel", "BeforeToolSelection"), selection, "AUTO []"},
		"a question of the model's":     {hook.BeforeModel, `{"hookSpecificOutput":{"llm_request":{"messages":[{"role":"user","content":"one"},{"role":"model","content":"three"}]}}}`, "text: done", func(r *engine.Request) string { return r.Contents[1].Role + " " + told(r.Contents[1]) }, "model three"},
		"an answer without parts":       {hook.BeforeModel, `{"hookSpecificOutput":{"llm_response":{"candidates":[{"content":{"parts":[]}}]}}}`, "text: done", nil, ""},
		"another answer":                {hook.AfterModel, `{"hookSpecificOutput":{"llm_response":{"candidates":[{"content":{"parts":["mine"]}}]}}}`, "text: mine", nil, ""},
		"no tools":                      {hook.BeforeToolSelection, `{"hookSpecificOutput":{"toolConfig":{"mode":"NONE","allowedFunctionNames":["note"]}}}`, "text: done", selection, "NONE []"},
		"one tool":                      {hook.BeforeToolSelection, `{"hookSpecificOutput":{"toolConfig":{"mode":"ANY","allowedFunctionNames":["note","list"]}}}`, "text: done", selection, "ANY [list note]"},
		"a selection that says nothing": {hook.BeforeToolSelection, `{}`, "text: done", selection, "AUTO []"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := begin(t, []hook.Hook{prints(tt.e, tt.prints)}, et.Says("done"))
			user, err := c.say("one")
			if slices.Sort(user); err != nil || strings.Join(user, " ") != tt.user {
				t.Errorf("%v: %q", err, user)
			}
			if tt.request != nil {
				if got := tt.request(c.script.Requests()[0]); got != tt.want {
					t.Errorf("%q", got)
				}
			}
			if h := c.engine.History(); len(h) != 2 || !strings.HasPrefix(tt.user, "text: "+told(h[1])) {
				t.Errorf("%q", c.history())
			}
		})
	}
}

func notUnderstood(field string) string {
	return " warning: hook it failed at BeforeModel: its " + field + " is not understood: it does not have the form that the documentation says"
}

// A hook that changes the text of a piece leaves the calls in it, and one that leaves messages
// out takes their calls with them.
func TestModelKeepsCalls(t *testing.T) {
	t.Parallel()
	both := et.Reply{Chunks: []*genai.GenerateContentResponse{{Candidates: []*genai.Candidate{{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{
		{Text: "secret"}, {FunctionCall: &genai.FunctionCall{Name: "note", Args: map[string]any{"text": "x"}}}}}, FinishReason: genai.FinishReasonStop}}}}}
	c := begin(t, []hook.Hook{on(hook.AfterModel, `grep -q secret || exit 0; echo '{"hookSpecificOutput":{"llm_response":{"candidates":[{"content":{"parts":["open"]}}]}}}'`),
		on(hook.BeforeModel, `grep -q four || exit 0; echo '{"hookSpecificOutput":{"llm_request":{"messages":[{"role":"user","content":"three"},{"role":"model","content":"b"},{"role":"user","content":"four"}]}}}'`)},
		both, et.Says("a"), et.Says("b"), et.Says("c"))
	c.say("one")
	if h := c.engine.History(); len(h) != 4 || told(h[1]) != "open + call note" {
		t.Errorf("%q", c.history())
	}
	c.say("three")
	c.say("four")
	r := c.script.Requests()
	if sent := r[len(r)-1].Contents; len(sent) != 3 || told(sent[0]) != "three" || told(sent[1]) != "b" || told(sent[2]) != "four" {
		t.Errorf("%d contents, the first %q", len(sent), told(sent[0]))
	}
}

// The text of a hook is added to a piece that has a call alone, and to the last piece, which is empty.
func TestModelAddsText(t *testing.T) {
	t.Parallel()
	piece := func(reason genai.FinishReason, parts ...*genai.Part) *genai.GenerateContentResponse {
		return &genai.GenerateContentResponse{Candidates: []*genai.Candidate{{Content: &genai.Content{Role: genai.RoleModel, Parts: parts}, FinishReason: reason}}}
	}
	call := et.Reply{Chunks: []*genai.GenerateContentResponse{piece(genai.FinishReasonStop, &genai.Part{FunctionCall: &genai.FunctionCall{Name: "note", Args: map[string]any{"text": "x"}}})}}
	end := et.Reply{Chunks: []*genai.GenerateContentResponse{piece("", &genai.Part{Text: "done"}), piece(genai.FinishReasonStop, &genai.Part{})}}
	c := begin(t, []hook.Hook{on(hook.AfterModel, `grep -q '"finishReason":"STOP"' || exit 0; echo '{"hookSpecificOutput":{"llm_response":{"text":" seen"}}}'`)}, call, end)
	c.say("one")
	if h := c.engine.History(); len(h) != 4 || told(h[1]) != " seen + call note" || told(h[3]) != "done seen" {
		t.Errorf("%q", c.history())
	}
}

func selection(r *engine.Request) string {
	c := r.Config.ToolConfig.FunctionCallingConfig
	return fmt.Sprint(c.Mode, " ", c.AllowedFunctionNames)
}

// What a hook changes in a request is not changed in the next one.
func TestModelRequestIsCopied(t *testing.T) {
	t.Parallel()
	c := begin(t, []hook.Hook{on(hook.BeforeModel, `grep -q two || echo '{"hookSpecificOutput":{"llm_request":{"model":"n","messages":[{"role":"user","content":"other"}]}}}'`)}, et.Says("a"), et.Says("b"))
	c.say("one")
	c.say("two")
	r := c.script.Requests()
	if r[0].Model != "n" || r[1].Model != "m" || told(r[1].Contents[0]) != "one" {
		t.Errorf("%s %s %s", r[0].Model, r[1].Model, told(r[1].Contents[0]))
	}
}

// Requests beside the conversation are nobody's business.
func TestOneShot(t *testing.T) {
	t.Parallel()
	c := begin(t, []hook.Hook{on(hook.BeforeModel, "exit 2")})
	g := c.Generator(et.NewScript(et.Says("done")))
	for chunk, err := range g.Generate(t.Context(), &engine.Request{OneShot: true,
		Config: &genai.GenerateContentConfig{}}) {
		if err != nil || told(chunk.Candidates[0].Content) != "done" {
			t.Error(err)
		}
	}
}

// Where no tools are declared there is nothing to select from.
func TestSelectionWithoutTools(t *testing.T) {
	t.Parallel()
	c := begin(t, []hook.Hook{prints(hook.BeforeToolSelection, `{"hookSpecificOutput":{"toolConfig":{"mode":"ANY"}}}`)})
	script := et.NewScript(et.Says("done"))
	for _, err := range c.Generator(script).Generate(t.Context(), &engine.Request{Config: &genai.GenerateContentConfig{}}) {
		if err != nil {
			t.Error(err)
		}
	}
	if got := script.Requests()[0].Config.ToolConfig; got != nil || len(c.calls) != 1 {
		t.Errorf("%+v, %d hooks ran", got, len(c.calls))
	}
}

// TestReturns has a hook that is never content send the agent back: that ends, and is said.
// Hooks of prompts see what the user has said, once, and not what sends it back.
func TestReturns(t *testing.T) {
	t.Parallel()
	before := prints(hook.BeforeAgent, `{"hookSpecificOutput":{"additionalContext":"context"}}`)
	c := begin(t, []hook.Hook{on(hook.AfterAgent, "echo more >&2; exit 2"), before},
		slices.Repeat([]et.Reply{et.Says("done")}, 20)...)
	user, err := c.say("one")
	if err != nil || len(c.told()) != 11 ||
		user[len(user)-1] != "warning: hooks have sent the agent back 10 times; the answer stays as it is" {
		t.Errorf("%v: %d requests, %q", err, len(c.told()), user[len(user)-1])
	}
	var in struct {
		Prompt, Response string
		Active           bool `json:"stop_hook_active"`
	}
	if len(c.calls) != 12 || strings.Count(strings.Join(c.told(), "\n"), "<hook_context>") != 1 {
		t.Errorf("%d hooks ran", len(c.calls))
	}
	<-c.calls
	first, second := <-c.calls, <-c.calls
	if json.Unmarshal(first.Input, &in); in.Prompt != "one" || in.Active {
		t.Errorf("%s", first.Input)
	}
	if json.Unmarshal(second.Input, &in); in.Prompt != "one" || !in.Active || !strings.Contains(string(second.Input), `"prompt_response":"done\ndone"`) {
		t.Errorf("%s", second.Input)
	}
}

// A hook of the end of a prompt whose command is not there, as that of an extension that was
// deleted meanwhile, sends the agent nowhere, and is told once.
func TestReturnsMissing(t *testing.T) {
	t.Parallel()
	c := begin(t, []hook.Hook{on(hook.AfterAgent, "/nowhere/hook.sh")}, et.Says("done"), et.Says("done"))
	for _, want := range []int{2, 1} {
		user, err := c.say("one")
		if err != nil || len(user) != want || want > 1 && !strings.Contains(user[1], "failed at AfterAgent: exit 127: ") {
			t.Errorf("%v: %q", err, user)
		}
	}
	if n := len(c.told()); n != 2 {
		t.Errorf("%d requests", n)
	}
}

// TestClear has a hook of the end of a prompt forget what was said.
func TestClear(t *testing.T) {
	t.Parallel()
	c := begin(t, []hook.Hook{prints(hook.AfterAgent, `{"continue":false,"hookSpecificOutput":{"clearContext":true}}`)}, et.Says("done"))
	user, err := c.say("one")
	if err != nil || len(c.engine.History()) > 0 ||
		user[1] != "warning: hooks have the conversation begin anew: the earlier conversation is forgotten" ||
		user[2] != "warning: Agent execution stopped: No reason provided" {
		t.Errorf("%v: %q %q", err, user, c.history())
	}
}

// A run that fails fails, whatever hooks there are.
func TestFailedRun(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	c := begin(t, []hook.Hook{on(hook.AfterAgent, "exit 2"), on(hook.AfterModel, "echo '{}'")}, et.Fails(broken))
	if _, err := c.say("one"); !errors.Is(err, broken) || len(c.calls) > 0 {
		t.Errorf("%v, %d hooks", err, len(c.calls))
	}
}
