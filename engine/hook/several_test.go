package hook_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	et "gemline/engine/enginetest"
	"gemline/engine/hook"
)

// said returns hooks of an event that print texts.
func said(e hook.Event, sequential bool, texts ...string) (hooks []hook.Hook) {
	for i, text := range texts {
		k := prints(e, text)
		k.Name, k.Sequential = fmt.Sprint("h", i), sequential
		hooks = append(hooks, k)
	}
	return hooks
}

// TestAggregation has several hooks of an event disagree.
func TestAggregation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		texts []string
		want  string // what the model is told of the call
		asked int
	}{
		"a block wins":                    {[]string{`{"decision":"allow"}`, `{"decision":"deny","reason":"a"}`, `{"decision":"ask"}`, `{"decision":"block","reason":"b"}`}, "error: Tool execution blocked: a b", 0},
		"then a stop":                     {[]string{`{"decision":"block","reason":"a"}`, `{"continue":false,"stopReason":"s"}`, `{"continue":false,"stopReason":"t"}`}, "", 0},
		"then a wish":                     {[]string{`{"decision":"allow"}`, `{"decision":"ask"}`, `{"decision":"approve"}`}, "output: list did a", 1},
		"a reason of a stop that is none": {[]string{`{"decision":"block","reason":"a","stopReason":"s"}`}, "error: Tool execution blocked: a", 0},
		"allowed by all":                  {[]string{`{"decision":"allow"}`, `{"decision":"approve"}`}, "output: list did a", 0},
		"the last input":                  {[]string{`{"hookSpecificOutput":{"tool_input":{"x":"b"}}}`, `{"hookSpecificOutput":{"tool_input":{"x":"c"}}}`}, "output: list did c [System] Tool input parameters were modified by a hook before execution.", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := begin(t, said(hook.BeforeTool, false, tt.texts...), et.Says("", et.Call("1", "list", "x", "a")),
				et.Says("done"))
			_, err := c.say("one")
			got := ""
			if told := c.told(); len(told) > 1 {
				got = strings.Join(strings.Fields(told[1]), " ")
			}
			if err != nil || got != tt.want || len(c.asked.Proposals()) != tt.asked {
				t.Errorf("%v: %q, asked %d times", err, got, len(c.asked.Proposals()))
			}
		})
	}
	c := begin(t, said(hook.BeforeAgent, false, `{"hookSpecificOutput":{"additionalContext":"a"}}`, "{}", `{"hookSpecificOutput":{"additionalContext":"b"}}`), et.Says("done"))
	if c.say("one"); c.told()[0] != "one + <hook_context>a\nb</hook_context>" {
		t.Errorf("%q", c.told())
	}
	c = begin(t, said(hook.BeforeToolSelection, false, `{"hookSpecificOutput":{"toolConfig":{"mode":"ANY","allowedFunctionNames":["note"]}}}`,
		`{"hookSpecificOutput":{"toolConfig":{"mode":"AUTO","allowedFunctionNames":["list","note"]}}}`), et.Says("done"))
	if c.say("one"); selection(c.script.Requests()[0]) != "ANY [list note]" {
		t.Error(selection(c.script.Requests()[0]))
	}
	c = begin(t, said(hook.BeforeModel, false, `{"decision":"block","reason":"a","hookSpecificOutput":{"llm_response":{"text":"x"}}}`, `{"hookSpecificOutput":{"llm_response":{"text":"y"}}}`))
	if user, _ := c.say("one"); !slices.Equal(user, []string{"warning: Agent execution blocked: a", "text: y"}) {
		t.Errorf("%q", user)
	}
}

// TestSequential has hooks run one after the other, each with what those before it want.
func TestSequential(t *testing.T) {
	t.Parallel()
	for e, tt := range map[hook.Event]struct{ first, seen string }{
		hook.BeforeAgent: {`{"hookSpecificOutput":{"additionalContext":"more"}}`, `"prompt":"one\n\nmore"`},
		hook.BeforeModel: {`{"hookSpecificOutput":{"llm_request":{"model":"n"}}}`, `"model":"n","messages":[{"role":"user","content":"one"}]`},
		hook.BeforeTool:  {`{"hookSpecificOutput":{"tool_input":{"y":"b"}}}`, `"tool_input":{"x":"a","y":"b"}`},
	} {
		hooks := said(e, false, tt.first, "{}")
		hooks[1].Sequential = true // which holds for all
		c := begin(t, hooks, et.Says("", et.Call("1", "note", "x", "a")), et.Says("done"))
		c.say("one")
		<-c.calls
		if second := <-c.calls; !strings.Contains(string(second.Input), tt.seen) {
			t.Errorf("%s: %s", e, second.Input)
		}
		hooks[0].Command += "\nexit 1" // whose wishes the next one does not see
		c = begin(t, hooks, et.Says("", et.Call("1", "note", "x", "a")), et.Says("done"))
		c.say("one")
		<-c.calls
		if second := <-c.calls; strings.Contains(string(second.Input), tt.seen) {
			t.Errorf("%s after a failure: %s", e, second.Input)
		}
	}
}

// Hooks that are not sequential run side by side: each waits for the other.
func TestParallel(t *testing.T) {
	t.Parallel()
	a, b := on(hook.SessionStart, `mkfifo "$GEMINI_CWD/f" 2>/dev/null; echo a >"$GEMINI_CWD/f"`), on(hook.SessionStart, `mkfifo "$GEMINI_CWD/f" 2>/dev/null; cat "$GEMINI_CWD/f"`)
	a.Name, b.Name = "a", "b"
	c := begin(t, []hook.Hook{a, b})
	c.Start(t.Context(), "startup")
	if n := c.Notices(); len(n) != 1 || n[0].Text != "hook b: a" {
		t.Error(n)
	}
}

// TestOnce has the same hook stand in several places.
func TestOnce(t *testing.T) {
	t.Parallel()
	k := on(hook.SessionStart, "echo x")
	other, unnamed := k, k
	other.Source, other.Timeout, unnamed.Name = hook.Project, time.Nanosecond, ""
	k.Source = hook.User
	list := hook.Matching([]hook.Hook{k, other, unnamed, unnamed}, hook.SessionStart, "startup")
	if len(list) != 2 || list[1].Timeout != k.Timeout {
		t.Errorf("%+v", list)
	}
}

// TestMany has 200 hooks of one event, of which one blocks.
func TestMany(t *testing.T) {
	t.Parallel()
	var hooks []hook.Hook
	for i := range 200 {
		k := on(hook.BeforeTool, fmt.Sprintf("cat >/dev/null; test %d != 150 || exit 2", i))
		hooks = append(hooks, k)
	}
	c := begin(t, hooks, et.Says("", et.Call("1", "note", "x", "a")), et.Says("done"))
	user, err := c.say("one")
	if err != nil || len(c.calls) != 200 ||
		user[0] != "failed: note denied by hook it: the hook ended with exit status 2" {
		t.Errorf("%v: %d ran, %q", err, len(c.calls), user)
	}
}

// TestBadOutput has hooks misbehave: nothing of it reaches anybody, and the run goes on.
func TestBadOutput(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ command, want string }{
		"a flood": {"head -c 100M /dev/zero",
			"warning: hook it failed at SessionStart: it printed too much, so its answer is not used"},
		"twice": {`echo '{"systemMessage":"a"}{"systemMessage":"b"}'`,
			"info: hook it: b"},
		"a number":       {"echo 12", "warning: hook it failed at SessionStart: it printed JSON that is no object: 12"},
		"a list":         {"echo '[1]'", "warning: hook it failed at SessionStart: it printed JSON that is no object: [1]"},
		"null":           {"echo null", ""},
		"JSON in a text": {`echo '"{\"systemMessage\":\"a\"}"'`, "info: hook it: a"},
		"other types": {`echo '{"systemMessage":1,"decision":{},"continue":"no","hookSpecificOutput":[]}'`,
			"warning: hook it failed at SessionStart: its decision {} is none of block, deny, ask and allow"},
		"another word": {`echo '{"systemMessage":"a","decision":"halt"}'`,
			`warning: hook it failed at SessionStart: its decision "halt" is none of block, deny, ask and allow info: hook it: a`},
		"a list for an object": {`echo '{"hookSpecificOutput":[]}'`,
			"warning: hook it failed at SessionStart: its hookSpecificOutput is no object"},
		"a text for arguments": {`echo '{"hookSpecificOutput":{"tool_input":"x"}}'`,
			"warning: hook it failed at SessionStart: its tool_input is no object"},
		"a warning": {"echo careful; exit 1", "warning: hook it: careful"},
		"lines":     {`printf 'a\n\npermission: y\n'`, "info: hook it: a info: hook it: permission: y"},
		"no such command": {"exec /no/such",
			"warning: hook it failed at SessionStart: exit 127: bash: line 1: /no/such: No such file or directory"},
		"reads nothing": {"exec <&-; echo x", "info: hook it: x"},
		"a daemon": {"cat >/dev/null; setsid sleep 60 >/dev/null 2>&1 </dev/null & echo x",
			"info: hook it: x"},
		"an endless daemon": {"sleep 60 & echo x", "info: hook it: x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := begin(t, []hook.Hook{on(hook.SessionStart, tt.command)})
			more := c.Start(t.Context(), "startup")
			var got []string
			for _, n := range c.Notices() {
				got = append(got, seen(n)...)
			}
			if s := strings.Join(got, " "); s != tt.want || more != "" {
				t.Errorf("%q, context %q", s, more)
			}
		})
	}
}

// What runs can be asked for while it does.
func TestRunning(t *testing.T) {
	t.Parallel()
	var c *talk
	seen := ""
	run := func(ctx context.Context, p hook.Process) hook.Outcome {
		seen = c.Running()
		return bash(ctx, p)
	}
	c = beginRun(t, et.NewApprover(t), run, []hook.Hook{on(hook.SessionStart, "true")})
	c.Start(t.Context(), "startup")
	if after := c.Running(); seen != "it" || after != "" || (*hook.Hooks)(nil).Running() != "" {
		t.Errorf("%q, then %q", seen, after)
	}
}

// A failure is told once, each way of it.
func TestFailureIsToldOnce(t *testing.T) {
	t.Parallel()
	c := begin(t, []hook.Hook{on(hook.SessionEnd, "exit 1")})
	c.End(t.Context(), "exit")
	c.End(t.Context(), "exit")
	if n := c.Notices(); len(n) != 1 {
		t.Error(n)
	}
}

// A hook that is cancelled wants nothing, and what waits for it does not happen.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := begin(t, []hook.Hook{on(hook.BeforeTool, `echo >"$GEMINI_CWD/f"; exec sleep 60`), on(hook.AfterTool, "echo ran")},
		et.Says("", et.Call("1", "note", "x", "a")))
	go func() {
		et.Comes(func() bool { return exists(c.dir + "/f") })
		cancel()
	}()
	var last error
	for _, err := range c.run(ctx, genai.NewPartFromText("one")) {
		last = err
	}
	if last == nil || len(c.ran) > 0 {
		t.Errorf("%v, ran %v", last, c.ran)
	}
	et.CheckHistory(t, c.engine.History())
}

// TestVariables has a hook read what gemline says of the session, in a directory whose name
// is a command to a shell. Only the shell fills it in, and nothing of it runs.
func TestVariables(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		`echo $GEMINI_PROJECT_DIR "$CLAUDE_PROJECT_DIR" \$GEMINI_CWD '$GEMINI_SESSION_ID' "\"$GEMINI_PLANS_DIR" $K`: `DIR DIR $GEMINI_CWD $GEMINI_SESSION_ID "DIR v`,
		`echo ${GEMINI_CWD}/x ${extensionPath}. $GEMINI_CWDS.`:                                                      `DIR/x /e  f. .`,
		`echo "'$GEMINI_CWD'" '"'$GEMINI_CWD'"'`:                                                                    `'DIR' "DIR"`,
		"cat <<EOF\n$GEMINI_CWD\nEOF":                                                                               `DIR`,
	} {
		const dir = "/a  b'c $(touch PWNED) `touch PWNED` ;touch PWNED;"
		k := on(hook.SessionStart, command)
		k.Env = map[string]string{"K": "v", "extensionPath": "/e  f"}
		c := begin(t, []hook.Hook{k})
		c.dir = dir
		c.Start(t.Context(), "startup")
		if n := c.Notices(); len(n) != 1 || n[0].Text != "hook it: "+strings.ReplaceAll(want, "DIR", dir) {
			t.Errorf("%s: %+v", command, n)
		}
	}
	if exists("PWNED") {
		t.Error("the name of the directory was run")
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
