//go:build unix

package protocol

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// askTrust starts a conversation in which the client is asked what the folder may bring.
func askTrust(t *testing.T, dir string, s *et.Server) *pt.Client {
	t.Helper()
	return pt.Dial(t, dir, s, "--ask-trust")
}

// A project with a hook, a server and an agent is asked about as at a terminal, in the same
// words and with the same record: what is agreed to runs, what is not is left out and said,
// and what has changed is asked about again.
func TestTalkConsent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	project := map[string]string{"desk.sh": pt.Desk, ".mcp.json": `{"mcpServers": {"desk": {"command": "sh", "args": ["desk.sh"], "trust": true}}}`,
		".gemini/agents/theirs.md": "---\nname: theirs\ndescription: Of the project.\ntools: []\n---\nYou are vague.",
		".gemini/settings.json":    `{"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "name": "mark", "command": "sh mark.sh"}]}]}}`,
		"mark.sh":                  "echo ran >>marked\necho noted"}
	pt.Write(t, dir, project)
	marks := func(want int) {
		t.Helper()
		b, _ := os.ReadFile(filepath.Join(dir, "marked"))
		if n := strings.Count(string(b), "ran"); n != want {
			t.Errorf("the hook has run %d times, not %d", n, want)
		}
	}

	s := pt.AgentsAnswer(et.Says("", et.Call("1", "mcp_desk_look", "at", "it")), et.Says("Seen."),
		et.Says("", et.Call("2", "invoke_agent", pt.Calling("2", "theirs")...)), et.Says("It said well."))
	c := askTrust(t, dir, s)
	r := c.Next()
	pt.Check(t, r, "type", "consent_request", "about", "folder", "title", "do you trust this folder? "+dir+" brings:", "decisions/0/decision", "trust",
		"decisions/0/text", "trust "+dir+", and run its commands, confined",
		"decisions/1/decision", "trust_parent", "decisions/2/decision", "never", "decisions/3/decision", "trust_unconfined",
		"decisions/4/decision", "trust_only", "decisions/5/decision", "not_now",
		"wishes/0/title", "hook BeforeAgent, mark", "wishes/0/command", "sh mark.sh", "wishes/0/files/0/path", "mark.sh", "wishes/0/files/0/text", project["mark.sh"],
		"wishes/1/title", "MCP server desk", "wishes/1/files/0/lines", 31, "wishes/2/title", "agent theirs", "wishes/2/agent", true)
	if brings := fmt.Sprint(r["brings"]); !strings.Contains(brings, "sh desk.sh") || !strings.Contains(brings, "theirs") {
		t.Error(brings)
	}
	c.Send(pt.Record{"type": "user", "id": "a", "content": "look"}) // which waits
	c.Decide(pt.Record{"id": "consent-0"}, "trust")
	c.Want("error", "line", 2, "id", "consent-0", "message", `line 2: no question "consent-0" is open`)
	c.Decide(r, "allow")
	c.Want("error", "line", 3, "id", r["id"], "message",
		`line 3: the decision "allow" was not offered, only trust, trust_parent, never, trust_unconfined, trust_only, not_now; the question is still open`)
	c.Decide(r, "trust")
	c.Decide(r, "trust") // once is enough
	c.Want("init")
	c.Want("error", "line", 5, "id", r["id"])
	r = c.Want("approval_request", "title", "call look of the MCP server desk")
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow"})
	c.Want("tool_result", "status", "success")
	c.Want("turn_result", "id", "a", "status", "success")
	c.Say("ask it")
	c.Want("tool_result", "status", "success")
	c.Want("turn_result", "status", "success")
	marks(2)
	c.Finish(0, "completed")

	// Nothing is asked about what stays as it is.
	c = askTrust(t, dir, et.NewServer(et.Says("Hello.")))
	pt.Check(t, c.Next(), "type", "init")
	c.Say("hi")
	c.Want("turn_result", "status", "success")
	marks(3)
	c.Finish(0, "completed")

	// What has changed is.
	pt.Write(t, dir, map[string]string{"mark.sh": "echo ran >>marked; echo twice"})
	c = askTrust(t, dir, et.NewServer(et.Says("Hello."), et.Says("And hello.")))
	r = c.Next()
	pt.Check(t, r, "type", "consent_request", "wishes/0/files/0/text", "echo ran >>marked; echo twice", "wishes/1", nil)
	c.Decide(r, "not_now")
	c.Want("init")
	c.Want("error", "severity", "warning", "message", "hooks of this project do not run, since nobody has agreed to their present form: mark"+
		"; the next session asks again")
	c.Say("hi")
	c.Want("turn_result", "status", "success")
	pt.Write(t, dir, map[string]string{".gemini/agents/theirs.md": "---\nname: theirs\ndescription: Of the project.\ntools: []\n---\nYou are evil."})
	c.Say("/agents reload") // asks in the middle of a conversation
	r = c.Want("consent_request", "title", "this project brings 1 agent, which nobody has agreed to so far: "+dir, "decisions/1/decision", "never")
	c.Decide(r, "never")
	c.Want("turn_result", "status", "success")
	c.Say("/permissions trust")
	c.Want("consent_request", "about", "folder", "title", "do you trust this folder? It is trusted so far. "+dir+" brings:")
	c.Send(pt.Record{"type": "cancel"})
	c.Want("turn_result", "status", "cancelled")
	c.Say("/permissions trust")
	c.Decide(c.Want("consent_request"), "never")
	c.Want("turn_result", "status", "success")
	c.Say("/permissions trust")
	c.Want("consent_request")
	c.In.Close() // in the question
	c.Want("turn_result", "error/message", "nobody is there to answer: the input has ended")
	c.Ends(1, "error")
	marks(3)
}

// A message that is cancelled before anything is decided has its result behind the
// beginning, and a line that can't be used is told with the question that waits.
func TestTalkConsentCancel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pt.Write(t, dir, map[string]string{"GEMINI.md": "Be nice."})
	c := askTrust(t, dir, et.NewServer(et.Says("Hello.")))
	r := c.Want("consent_request")
	c.Send(pt.Record{"type": "user", "id": "a", "content": "hi"})
	c.Send(pt.Record{"type": "user", "id": "b", "content": "hello"})
	c.Send(pt.Record{"type": "cancel", "id": "a"})
	c.Send(pt.Record{"type": "cancel"})
	c.Want("error", "line", 4, "message", "line 4: there is nothing to cancel", "open", nil)
	c.Send(pt.Record{"type": "consent", "id": r["id"], "decision": []any{"trust"}})
	c.Want("error", "line", 5, "id", r["id"], "open", true)
	c.Decide(r, "trust")
	c.Want("init")
	c.Want("turn_result", "turn", 1, "id", "a", "status", "cancelled", "exit_code", 130)
	c.Want("turn_result", "turn", 2, "id", "b", "status", "success")
	c.Finish(42, "input")
}

// Nobody waits for a client that has gone, and one that does not know the question is not
// asked: a folder that nobody has decided about ends the run as ever.
func TestTalkConsentGone(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--ask-trust"}} {
		dir := t.TempDir()
		pt.Write(t, dir, map[string]string{".gemini/settings.json": `{"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": "touch marked"}]}]}}`})
		c := pt.Dial(t, dir, et.NewServer(), args...)
		c.Say("hi")
		if args != nil {
			c.Want("consent_request")
			c.In.Close()
		}
		c.Want("result", "exit_code", 55, "error/type", "FatalUntrustedWorkspaceError")
		c.Cmd.Wait()

		c = pt.Dial(t, dir, et.NewServer(et.Says("Hello.")), "--ask-trust")
		c.Decide(c.Want("consent_request"), "not_now")
		c.Want("init")
		c.Say("hi")
		c.Want("turn_result", "status", "success")
		c.Finish(0, "completed")

		c = pt.Dial(t, dir, et.NewServer(et.Says("Hello.")), "--ask-trust", "--skip-trust")
		c.Want("consent_request", "about", "commands")
		c.Say("hi")
		c.In.Close() // nobody agrees, and the message has its turn
		c.Want("init")
		c.Want("error", "severity", "warning")
		c.Want("turn_result", "status", "success")
		c.Ends(0, "completed")
		if _, err := os.Stat(filepath.Join(dir, "marked")); err == nil {
			t.Error("the hook has run")
		}
	}
}

// A command asks the client as it would ask at a terminal; when nobody is there any more, what
// it would do is not done, which is said.
func TestTalkCommandAsks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pt.Write(t, dir, map[string]string{"lib/one/SKILL.md": "---\nname: one\ndescription: first\n---\nDo it.\n"})
	link, linked := "/skills link "+filepath.Join(dir, "lib"), filepath.Join(dir, "home", ".gemini", "skills", "one")
	c := pt.Dial(t, dir, et.NewServer())
	for _, answer := range []string{"No", "Yes"} {
		c.Say(link)
		r := c.Want("question", "tool_name", "command", "questions/0/kind", "yesno", "questions/0/question", "go on?")
		if _, err := os.Lstat(linked); err == nil {
			t.Error("it did not wait")
		}
		c.Send(pt.Record{"type": "answer", "id": r["id"], "answers": []string{answer}})
		c.Want("turn_result", "status", map[string]string{"Yes": "success", "No": "error"}[answer])
	}
	if _, err := os.Lstat(linked); err != nil {
		t.Error(err)
	}
	c.Say(link)
	c.Want("question")
	c.Send(pt.Record{"type": "end"})
	c.Want("turn_result", "status", "error")
}
