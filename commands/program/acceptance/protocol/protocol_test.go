//go:build unix

// Package protocol tests the program as a server: for editors by ACP, for other agents by
// A2A, and its own API.
package protocol

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

func TestTalk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := et.NewServer(et.Says("Hello."), et.Says("Still here."), et.Says("Again."))
	c := pt.Talk(t, dir, s)
	c.Send(pt.Record{"type": "user", "id": "a", "content": "hi"})
	c.Want("message", "role", "user", "content", "hi", "id", "a")
	c.Want("message", "role", "assistant", "content", "Hello.")
	c.Want("turn_result", "turn", 1, "id", "a", "status", "success", "exit_code", 0, "termination_reason", "completed")
	c.Send(pt.Record{"type": "user", "message": pt.Record{"role": "user", "content": "and now?"}, "session_id": "x"})
	c.Want("message", "role", "user", "content", "and now?", "id", nil)
	c.Want("message", "role", "assistant", "content", "Still here.")
	c.Want("turn_result", "turn", 2, "id", nil)
	last := c.Finish(0, "completed")
	pt.Check(t, last, "stats/tool_calls", 0, "status", "success")
	if c.Errs.Len() > 0 {
		t.Errorf("stderr: %s", c.Errs.Bytes())
	}

	again := pt.Talk(t, dir, s, "--resume", "latest")
	again.Say("more")
	again.Want("turn_result", "session_id", last["session_id"])
	again.Send(pt.Record{"type": "end"})
	again.Ends(0, "completed")
	requests := s.Requests()
	if n := len(requests[len(requests)-1].Contents()); n < 5 {
		t.Errorf("the model was sent %d messages", n)
	}
}

func TestTalkCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := et.NewServer(et.Says("Hello."), et.Says("A picture."))
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("remember the milk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := pt.Talk(t, dir, s)
	c.Say("what is in @notes.txt?")
	id := c.Want("turn_result", "status", "success", "stats/models/"+pt.Model+"/total_tokens", 0)["session_id"]
	if !strings.Contains(pt.LastAsked(s), "remember the milk") {
		t.Error(pt.LastAsked(s))
	}
	c.Say("/model")
	c.Want("message", "role", "user", "content", "/model")
	if r := c.Want("message", "role", "assistant"); !strings.HasPrefix(r["content"].(string), "model: "+pt.Model+"\n") {
		t.Error(r)
	}
	c.Want("turn_result", "status", "success")
	c.Say("/modle")
	c.Want("turn_result", "status", "error", "exit_code", 2, "error/message", "unknown command /modle; did you mean /model?")
	c.Say("/frobnicate")
	c.Want("turn_result", "status", "error", "exit_code", 2, "error/message", "unknown command /frobnicate; /help lists those there are")
	c.Say("/clear")
	if again := c.Want("turn_result", "status", "success")["session_id"]; again == id {
		t.Error("the session is the same")
	}
	c.Send(pt.Record{"type": "user", "literal": true, "content": []any{
		pt.Record{"text": "/quit @notes.txt"}, pt.Record{"inlineData": pt.Record{"mimeType": "image/png", "data": "aGk="}}}})
	c.Want("message", "role", "user", "content", "/quit @notes.txt")
	c.Want("message", "role", "assistant", "content", "A picture.")
	if got := pt.LastAsked(s); !strings.Contains(got, `"/quit @notes.txt"`) || !strings.Contains(got, "aGk=") || strings.Contains(got, "milk") {
		t.Error(got)
	}
	c.Say("/quit")
	c.Want("turn_result", "turn", 6, "status", "success")
	c.Ends(0, "completed")
}

// A call is asked about; what the client says becomes of it, becomes of it.
func TestTalkApproval(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := et.NewServer(
		pt.Runs("1", "echo one >>log"), et.Says("1."),
		pt.Runs("2", "echo two >>log"), et.Says("2."),
		pt.Runs("3", "echo three >>log"), et.Says("3."),
		pt.Runs("4", "echo three >>log"), et.Says("4."),
		pt.Runs("5", "echo five >>log"), et.Says("5."))
	c := pt.Talk(t, dir, s)
	ask := func(text, command string) pt.Record {
		c.Say(text)
		r := c.Want("approval_request", "tool_name", "run_shell_command", "title", "run: "+command, "args/command", command)
		if r["id"] != r["tool_id"] {
			t.Error(r)
		}
		return r
	}
	r := ask("allow", "echo one >>log")
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow"})
	c.Want("tool_result", "status", "success", "tool_id", r["tool_id"])
	c.Want("turn_result", "denied", "[]")

	r = ask("deny", "echo two >>log")
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "deny", "note": "it is late"})
	c.Want("tool_result", "status", "cancelled")
	c.Want("turn_result", "status", "success")
	if got := pt.LastAsked(s); !strings.Contains(got, "it is late") {
		t.Error(got)
	}

	r = ask("always", "echo three >>log")
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "always", "grant": 99})
	c.Want("error", "severity", "error", "id", r["id"])
	c.Send(pt.Record{"type": "answer", "id": r["id"], "answers": []string{"y"}})
	c.Want("error", "line", 7, "id", r["id"])
	c.Send(pt.Record{"type": "approval", "id": "run_shell_command__1", "decision": "allow"})
	c.Want("error", "message", `line 8: no question "run_shell_command__1" is open`)
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "always"})
	c.Want("tool_result", "status", "success")
	c.Want("turn_result")
	c.Say("and again") // which is covered
	if next := c.Next(); next["type"] == "approval_request" {
		t.Error(next)
	}
	c.Want("tool_result", "status", "success")
	c.Want("turn_result")

	r = ask("change it", "echo five >>log")
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow", "args": pt.Record{"command": []int{5}}})
	c.Want("error", "id", r["id"], "open", true, "message", "line 12: args can't be used: params/command must be of type string, not array; the question is still open")
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow", "args": pt.Record{"command": "echo 5 >>log"}})
	again := c.Want("approval_request", "title", "run: echo 5 >>log", "tool_id", r["tool_id"])
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "deny"}) // of the first question, and too late
	c.Want("error")
	c.Send(pt.Record{"type": "approval", "id": again["id"], "decision": "allow"})
	c.Want("tool_result", "status", "success")
	c.Want("turn_result")
	c.Finish(0, "completed")
	if log, _ := os.ReadFile(filepath.Join(dir, "log")); string(log) != "one\nthree\nthree\n5\n" {
		t.Errorf("%q", log)
	}
}

// A plan is approved, changed and sent back like any other proposal.
func TestTalkPlan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := et.NewServer(et.Says("", et.Call("1", "write_file", "file_path", "plan.md", "content", "1. Do it.\n")), et.Says("", et.Call("2", "exit_plan_mode", "plan_filename", "plan.md")),
		et.Says("", et.Call("3", "exit_plan_mode", "plan_filename", "plan.md")), et.Says("Done."))
	c := pt.Talk(t, dir, s, "--approval-mode", "plan")
	c.Say("make a plan")
	c.Want("tool_result", "status", "success")
	r := c.Want("approval_request", "tool_name", "exit_plan_mode", "title", "carry out plan.md in default: edits and commands are asked about", "detail", "1. Do it.")
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow", "args": pt.Record{"plan_filename": "other.md"}})
	c.Want("error", "id", r["id"], "open", true)
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow", "args": pt.Record{"plan": "2. Do it well.\n"}})
	r = c.Want("approval_request", "detail", "2. Do it well.")
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "deny", "note": "why well?"})
	c.Want("tool_result", "status", "success", "output", "the plan is not approved; plan mode stays on")
	r = c.Want("approval_request", "detail", "2. Do it well.")
	if got := pt.LastAsked(s); !strings.Contains(got, "Plan rejected. User feedback: why well?") {
		t.Error(got)
	}
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "always", "grant": 0})
	c.Want("tool_result", "output", "plan mode is over; approval mode: auto_edit (edits run without a question, commands are asked about)")
	c.Want("turn_result", "status", "success")
	c.Finish(0, "completed")
}

// A context file that the model has made counts from the next message on, /todos has the
// tasks of the tracker, and what a command asks a model is counted.
func TestTalkNewContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := et.NewServer(et.Says("", et.Call("1", "write_file", "file_path", "GEMINI.md", "content", "Tea is at five.\n")), et.Says("Made."),
		et.Says("", et.Call("2", "tracker_create_task", "title", "boil water", "description", "hot", "type", "task")), et.Says("Noted."),
		et.Says("<state_snapshot>Tea.</state_snapshot>").With(30, 3), et.Says("All is there.").With(40, 4))
	pt.Write(t, dir, map[string]string{"home/.gemini/settings.json": `{"experimental": {"taskTracker": true}}`})
	c := pt.Talk(t, dir, s, "-y")
	c.Say("/init")
	c.Want("turn_result", "status", "success")
	c.Say("/todos")
	c.Want("message", "role", "user")
	c.Want("message", "role", "assistant", "content", "there is no todo list\n")
	c.Want("turn_result")
	c.Say("keep a task")
	c.Want("turn_result", "status", "success")
	if asked := s.Requests(); strings.Contains(string(asked[1].Body), "Context from: ") || !strings.Contains(string(asked[2].Body), "Context from: ") {
		t.Error("the model is not given the new context file")
	}
	c.Say("/todos")
	c.Want("message", "role", "user")
	r := c.Want("message", "role", "assistant")
	if got := fmt.Sprint(r["content"]); !strings.Contains(got, "boil water") {
		t.Errorf("the tasks are %s", got)
	}
	c.Want("turn_result")
	c.Say("/compress") // which asks a model, too
	c.Want("turn_result", "status", "success", "stats/total_tokens", 77)
	c.Finish(0, "completed")
}

// The model's questions go to the client, and its replies to the model.
func TestTalkQuestion(t *testing.T) {
	t.Parallel()
	ask := et.Says("", et.Call("1", "ask_user", "questions", []any{
		pt.Record{"question": "Which?", "header": "Colour", "type": "choice", "multiSelect": true,
			"options": []any{pt.Record{"label": "Red", "description": "warm"}, pt.Record{"label": "Blue", "description": "cold"}}},
		pt.Record{"question": "Sure?", "header": "", "type": "yesno"},
		pt.Record{"question": "Name?", "header": "", "type": "text", "placeholder": "Bob"}}))
	s := et.NewServer(ask, et.Says("Thanks."))
	c := pt.Talk(t, t.TempDir(), s)
	c.Say("ask me")
	r := c.Want("question", "tool_name", "ask_user", "questions/0/kind", "choice", "questions/0/multi", true,
		"questions/0/options/1/label", "Blue", "questions/1/kind", "yesno", "questions/2/kind", "text", "questions/2/placeholder", "Bob")
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow"})
	c.Want("error", "line", 2)
	c.Send(pt.Record{"type": "answer", "id": r["id"], "answers": []any{"a", "perhaps"}})
	c.Want("error", "line", 3, "message", `line 3: answers[1]: "perhaps" is neither Yes nor No; the question is still open`)
	c.Send(pt.Record{"type": "answer", "id": r["id"], "answers": []any{1, 2, 3, 4}})
	c.Want("error", "line", 4)
	c.Send(pt.Record{"type": "answer", "id": r["id"], "answers": "Red"})
	c.Want("error", "line", 5, "id", r["id"], "open", true, "message", "line 5: answers must not be a string; the question is still open")
	c.Send(pt.Record{"type": "answer", "id": r["id"], "answers": []any{[]any{"Red", "Blue"}, true, "\x1b[31mAda"}})
	c.Want("tool_result", "status", "success")
	c.Want("turn_result", "status", "success")
	if got := pt.LastAsked(s); !strings.Contains(got, "Red, Blue") || !strings.Contains(got, "Yes") || !strings.Contains(got, "Ada") {
		t.Error(got)
	}
	c.Finish(42, "input") // a line was no message
}

// What is decided about is shown for what it is, and the id that is shown is
// the one that counts.
func TestTalkHostileCall(t *testing.T) {
	t.Parallel()
	const command = "echo \x1b[2Khi \u202eih \u200b \x07>log"
	s := et.NewServer(pt.Runs("1\x1b[31m\u009b", command), et.Says("Done."))
	dir := t.TempDir()
	c := pt.Talk(t, dir, s)
	c.Say("go")
	r := c.Want("approval_request", "args/command", command)
	if r["class"] != "opaque" || r["why"] != "it holds the control character U+001B" || fmt.Sprint(r["writes"]) != "[log]" {
		t.Error(r["class"], r["why"], r["writes"])
	}
	if shown := fmt.Sprint(r["title"], r["detail"]); strings.ContainsAny(shown, "\x1b\x07\u202e\u200b") || !strings.Contains(shown, `\x1b[2Khi \u{202e}ih`) {
		t.Errorf("%q", shown)
	}
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow"})
	c.Want("tool_result", "tool_id", r["tool_id"], "status", "success")
	c.Finish(0, "completed")
}

// When the client has gone, nobody is there: what is asked is denied, and what
// was said before is answered.
func TestTalkGone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args   []string
		code   int
		reason string
	}{
		{nil, 0, "completed"},
		{[]string{"--fail-on-ask"}, 60, "approval_needed"},
	} {
		s := et.NewServer(pt.Runs("1", "echo one >>log"), et.Says("Well."))
		dir := t.TempDir()
		c := pt.Talk(t, dir, s, test.args...)
		c.Say("do it")
		c.Want("approval_request")
		c.In.Close()
		if test.code == 0 {
			c.Want("tool_result", "status", "error")
			c.Want("message", "content", "Well.")
		}
		c.Want("turn_result", "exit_code", test.code)
		last := c.Ends(test.code, test.reason)
		pt.Check(t, last, "denied/0/tool", "run_shell_command")
		if _, err := os.Stat(filepath.Join(dir, "log")); err == nil {
			t.Error("it was run")
		}
	}
}

// Nothing is asked of a client that wants no questions.
func TestTalkNoInput(t *testing.T) {
	t.Parallel()
	s := et.NewServer(pt.Runs("1", "echo one >>log"), et.Says("Well."))
	c := pt.Talk(t, t.TempDir(), s, "--no-input")
	c.Say("do it")
	if r := c.Want("tool_result", "status", "error"); !strings.Contains(fmt.Sprint(r), "yolo") {
		t.Error(r)
	}
	c.Want("turn_result", "denied/0/tool", "run_shell_command")
	c.Finish(0, "completed")
	if declared := string(s.Requests()[0].Body); strings.Contains(declared, "ask_user") {
		t.Error("ask_user is offered")
	}
}

// Cancelling ends the turn and what it started, and not the conversation.
func TestTalkCancel(t *testing.T) {
	t.Parallel()
	dir, reached := t.TempDir(), make(chan pt.Ended, 10)
	s := et.NewServer(pt.Phases["in a command"](reached, dir), et.Says("Afterwards."))
	c := pt.Talk(t, dir, s, "-y")
	c.Send(pt.Record{"type": "user", "id": "long", "content": "go"})
	c.Send(pt.Record{"type": "user", "id": "never", "content": "not this"})
	c.Send(pt.Record{"type": "user", "id": "next", "content": "on"})
	over := <-reached
	c.Send(pt.Record{"type": "cancel", "id": "never"})
	c.Want("turn_result", "id", "never", "turn", 2, "status", "cancelled", "exit_code", 130, "error/message", "stopped by the client")
	c.Send(pt.Record{"type": "cancel", "id": "nothing"})
	c.Want("error", "id", "nothing")
	c.Send(pt.Record{"type": "cancel"})
	c.Want("tool_result", "status", "cancelled")
	c.Want("turn_result", "id", "long", "turn", 1, "status", "cancelled", "termination_reason", "cancelled")
	c.Want("turn_result", "id", "next", "turn", 3, "status", "success")
	pt.CheckEnded(t, over)
	c.Finish(0, "completed") // the client got what it wanted
	et.CheckHistory(t, s.Requests()[1].Contents())
}

// An open question is withdrawn with its turn.
func TestTalkCancelQuestion(t *testing.T) {
	t.Parallel()
	s := et.NewServer(pt.Runs("1", "echo one >>log"), et.Says("Afterwards."))
	c := pt.Talk(t, t.TempDir(), s)
	c.Say("go")
	r := c.Want("approval_request")
	c.Send(pt.Record{"type": "cancel"})
	c.Want("turn_result", "status", "cancelled")
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow"})
	c.Want("error", "line", 3)
	c.Say("on")
	c.Want("turn_result", "status", "success")
	c.Finish(0, "completed")
}

// A signal ends the conversation in every state, and each message has a result.
func TestTalkSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		reason := strings.ToLower(pt.SignalName(sig))
		t.Run("idle/"+reason, func(t *testing.T) {
			t.Parallel()
			c := pt.Talk(t, t.TempDir(), et.NewServer())
			c.Cmd.Process.Signal(sig)
			c.Ends(128+int(sig), reason)
		})
		for phase, prepare := range pt.Phases {
			t.Run(phase+"/"+reason, func(t *testing.T) {
				t.Parallel()
				dir, reached := t.TempDir(), make(chan pt.Ended, 10)
				c := pt.Talk(t, dir, et.NewServer(prepare(reached, dir)), "-y")
				c.Say("go")
				c.Send(pt.Record{"type": "user", "id": "second", "content": "and this"})
				c.Send("junk") // is told of when the second is waiting
				c.Want("error")
				<-reached
				c.Cmd.Process.Signal(sig)
				c.Want("turn_result", "turn", 1, "status", "error", "termination_reason", reason)
				c.Want("turn_result", "turn", 2, "id", "second", "termination_reason", reason)
				c.Ends(128+int(sig), reason)
			})
		}
	}
}

// Whatever a line holds, the next one is heeded; and the exit code says that
// something was lost.
func TestTalkBrokenLines(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.Says("Hello."))
	c := pt.Talk(t, t.TempDir(), s)
	for i, line := range []string{"junk", `{"type":"shout"}`, "{\"type\":\"user\",\"content\":\"\xff\"}", strings.Repeat("x", 17<<20), `{"type":"approval","id":"x","decision":"allow"}`} {
		c.Send(line)
		c.Want("error", "severity", "error", "line", i+1)
	}
	c.Say("hi")
	c.Want("turn_result", "status", "success")
	c.Finish(42, "input")
}

// The end of a turn that failed is not the end of the conversation, but of an
// exit code of 0 if nothing follows.
func TestTalkFailure(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.BadRequest("no"), et.Says("Hello."), et.BadKey())
	c := pt.Talk(t, t.TempDir(), s)
	c.Say("one")
	c.Want("turn_result", "status", "error", "exit_code", 1, "error/http_status", 400)
	c.Say("two")
	c.Want("turn_result", "status", "success")
	c.Say("three")
	c.Want("turn_result", "status", "error", "exit_code", 41)
	c.Finish(41, "auth")
}

// A client that writes everything before it reads anything gets everything,
// although the pipes are full both ways.
func TestTalkFullPipes(t *testing.T) {
	t.Parallel()
	const turns, size = 12, 64 << 10
	replies := make([]et.Reply, turns)
	for i := range replies {
		replies[i] = et.Says(et.Text(size))
	}
	c := pt.Dial(t, t.TempDir(), et.NewServer(replies...), "--no-loop-check")
	for range turns {
		c.Say(strings.Repeat("question ", size/9))
	}
	c.In.Close()
	for i := range turns {
		c.Want("turn_result", "turn", i+1, "status", "success")
	}
	c.Ends(0, "completed")
}

// More than there is room for is refused, by line, and everything else is
// answered.
func TestTalkTooMuch(t *testing.T) {
	t.Parallel()
	const most = 1000 // messages that wait
	s := et.NewServer()
	hold := make(chan bool)
	first := true
	s.Respond = func(et.Received) et.Reply {
		if first {
			first = false
			<-hold
		}
		return et.Says("x")
	}
	c := pt.Talk(t, t.TempDir(), s)
	c.Say("hi")
	go func() {
		defer c.In.Close()
		for range most + 99 { // which ask no model: a conversation of a thousand turns is another test
			io.WriteString(c.In, `{"type":"user","content":"/todos"}`+"\n")
		}
	}()
	refused := c.Want("error", "severity", "error")
	if line := refused["line"].(float64); line < most || !strings.Contains(refused["message"].(string), "too much input is waiting") {
		t.Error(refused)
	}
	close(hold)
	done := 0
	for {
		r := c.Next()
		if r == nil {
			t.Fatal("no result")
		}
		if r["type"] == "turn_result" {
			done++
		}
		if r["type"] == "result" {
			pt.Check(t, r, "exit_code", 42)
			break
		}
	}
	if done < most || done >= most+100 {
		t.Errorf("%d turns", done)
	}
}

// A client that goes away without a word ends the work, quietly.
func TestTalkBrokenPipe(t *testing.T) {
	t.Parallel()
	c := pt.Dial(t, t.TempDir(), et.NewServer(et.Huge(1<<20)))
	c.Say("hi")
	line, err := c.Out.ReadString('\n')
	if err != nil || !strings.Contains(line, `"init"`) {
		t.Fatal(line, err)
	}
	c.Stdout.Close()
	c.Cmd.Wait()
	if code := c.Cmd.ProcessState.ExitCode(); code != 141 || c.Errs.Len() > 0 {
		t.Errorf("exit code %d, %s", code, c.Errs.Bytes())
	}
}

// A folder that is not trusted, and flags that make no sense, are told in a
// record as well.
func TestTalkNotBegun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "GEMINI.md"), []byte("obey"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := pt.Dial(t, dir, et.NewServer())
	c.Ends(55, "untrusted")
	for _, args := range [][]string{{"-p", "hi"}, {"--nonsense"}, {"-n"}, {"--patch"}, {"--json-schema", "{}"}} {
		c := pt.Dial(t, t.TempDir(), et.NewServer(), args...)
		c.Ends(2, "usage")
	}
	c = pt.Dial(t, t.TempDir(), et.NewServer(), "-o", "text")
	out, _ := io.ReadAll(c.Out)
	if c.Cmd.Wait(); c.Cmd.ProcessState.ExitCode() != 2 || slices.Contains(out, '{') {
		t.Errorf("%d, %s", c.Cmd.ProcessState.ExitCode(), out)
	}
}

// What a run may take is up for a message, or for the conversation; and the
// conversation goes on.
func TestTalkLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args    []string
		replies []et.Reply
		code    int
		again   int // of the message that follows
	}{
		{[]string{"--timeout", "1s"}, []et.Reply{et.Silent()}, 63, 0},
		{[]string{"--max-turns", "1"}, []et.Reply{pt.Runs("1", "ls"), et.Says("Never said.")}, 53, 53},
		{[]string{"--fail-on-deny", "--approval-mode", "plan"}, []et.Reply{pt.Runs("1", "rm log"), et.Says("Allowed.")}, 61, 0},
	} {
		s := et.NewServer(test.replies...)
		s.Respond = func(et.Received) et.Reply { return et.Says("In time.") }
		c := pt.Talk(t, t.TempDir(), s, test.args...)
		c.Say("go")
		r := pt.Record{}
		for r["type"] != "turn_result" {
			if r = c.Next(); r["type"] == "approval_request" {
				c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow"})
			}
		}
		pt.Check(t, r, "status", "error", "exit_code", test.code)
		c.Say("again")
		r = c.Want("turn_result")
		for n := 0; test.code == 63 && n < 60 && fmt.Sprint(r["exit_code"]) == "63"; n++ { // the machine is slow
			c.Say("again")
			r = c.Want("turn_result")
		}
		pt.Check(t, r, "exit_code", test.again)
		reason := "completed"
		if test.again != 0 {
			reason = "max_turns"
		}
		c.Finish(test.again, reason)
	}
}

// A hook that blocks prompts blocks hints, and may add to others.
func TestTalkHintsBlocked(t *testing.T) {
	t.Parallel()
	first, gate := pt.Gated(et.Says("", et.Call("1", "read_file", "file_path", "notes.txt")))
	s := et.NewServer(first, et.Says("Done."))
	dir := t.TempDir()
	pt.Write(t, dir, map[string]string{"home/.gemini/settings.json": `{"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": "sh $HOME/.gemini/guard.sh"}]}]}}`,
		"home/.gemini/guard.sh": `case "$(cat)" in *secret*) echo no secrets >&2; exit 2;; *aloud*) echo '{"hookSpecificOutput":{"additionalContext":"in verse"}}';; esac`})
	c := pt.Talk(t, dir, s)
	c.Send(pt.Record{"type": "user", "id": "a", "content": "begin"})
	<-gate.Asked
	c.Send(pt.Record{"type": "user", "id": "b", "content": "the secret", "hint": true})
	c.Send(pt.Record{"type": "user", "id": "c", "content": "aloud", "hint": true})
	c.Send(pt.Record{"type": "cancel", "id": "nothing"})
	c.Want("error", "id", "nothing") // the lines before have been read
	close(gate.Open)
	c.Want("error", "severity", "warning", "message", "the model is not told: no secrets")
	c.Want("error", "severity", "info", "message", "the model is told: aloud")
	c.Want("turn_result", "turn", 1, "id", "a", "status", "success")
	c.Want("turn_result", "id", "b", "status", "error", "hint", nil, "error/message", "a hook has blocked the hint: the model is not told")
	c.Want("turn_result", "turn", 1, "id", "c", "status", "success", "hint", true)
	c.Send(pt.Record{"type": "end"})
	c.Ends(0, "completed")
	if got := pt.LastAsked(s); strings.Contains(got, "secret") || !strings.Contains(got, "aloud") || !strings.Contains(got, "in verse") {
		t.Error(got)
	}
}

// A hint goes with the next request of the turn that runs, and has its result behind that
// of the turn; one that comes too late has a turn of its own.
func TestTalkHints(t *testing.T) {
	t.Parallel()
	first, one := pt.Gated(et.Says("", et.Call("1", "read_file", "file_path", "notes.txt")))
	second, two := pt.Gated(et.Says("Done."))
	s := et.NewServer(first, second, et.Says("On my own."))
	c := pt.Talk(t, t.TempDir(), s)
	settle := func() { // until the lines before have been read
		c.Send(pt.Record{"type": "cancel", "id": "nothing"})
		c.Want("error", "id", "nothing")
	}
	c.Send(pt.Record{"type": "user", "id": "a", "content": "begin"})
	<-one.Asked
	c.Send(pt.Record{"type": "user", "id": "b", "content": "in time", "hint": true})
	c.Send(pt.Record{"type": "user", "id": "x", "content": "taken back", "hint": true})
	c.Send(pt.Record{"type": "cancel", "id": "x"})
	c.Want("turn_result", "turn", 2, "id", "x", "status", "cancelled")
	settle()
	close(one.Open)
	c.Want("error", "severity", "info", "message", "the model is told: in time")
	<-two.Asked
	c.Send(pt.Record{"type": "cancel", "id": "b"}) // said is said
	c.Want("error", "id", "b", "message", "line 6: there is nothing to cancel")
	c.Send(pt.Record{"type": "user", "id": "c", "content": "too late", "hint": true})
	settle()
	close(two.Open)
	c.Want("turn_result", "turn", 1, "id", "a", "status", "success", "hint", nil)
	c.Want("turn_result", "turn", 1, "id", "b", "status", "success", "hint", true)
	c.Want("turn_result", "turn", 3, "id", "c", "status", "success", "hint", nil)
	c.Send(pt.Record{"type": "end"})
	c.Ends(0, "completed")
	if got := pt.LastAsked(s); !strings.Contains(got, "too late") {
		t.Error(got)
	}
}
