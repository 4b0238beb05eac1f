//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	et "gemline/engine/enginetest"
)

// askTrust starts a conversation in which the client is asked what the folder may bring.
func askTrust(t *testing.T, dir string, s *et.Server) *client {
	t.Helper()
	return dial(t, dir, s, "--ask-trust")
}

// decide answers a question about the folder.
func (c *client) decide(r record, decision string) {
	c.t.Helper()
	c.send(record{"type": "consent", "id": r["id"], "decision": decision})
}

// A project with a hook, a server and an agent is asked about as at a terminal, in the same
// words and with the same record: what is agreed to runs, what is not is left out and said,
// and what has changed is asked about again.
func TestTalkConsent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	project := map[string]string{"desk.sh": desk, ".mcp.json": `{"mcpServers": {"desk": {"command": "sh", "args": ["desk.sh"], "trust": true}}}`,
		".gemini/agents/theirs.md": "---\nname: theirs\ndescription: Of the project.\ntools: []\n---\nYou are vague.",
		".gemini/settings.json":    `{"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "name": "mark", "command": "sh mark.sh"}]}]}}`,
		"mark.sh":                  "echo ran >>marked\necho noted"}
	write(t, dir, project)
	marks := func(want int) {
		t.Helper()
		b, _ := os.ReadFile(filepath.Join(dir, "marked"))
		if n := strings.Count(string(b), "ran"); n != want {
			t.Errorf("the hook has run %d times, not %d", n, want)
		}
	}

	s := agentsAnswer(et.Says("", et.Call("1", "mcp_desk_look", "at", "it")), et.Says("Seen."),
		et.Says("", et.Call("2", "invoke_agent", calling("2", "theirs")...)), et.Says("It said well."))
	c := askTrust(t, dir, s)
	r := c.next()
	check(t, r, "type", "consent_request", "about", "folder", "title", "do you trust this folder? "+dir+" brings:", "decisions/0/decision", "trust",
		"decisions/1/decision", "trust_parent", "decisions/2/decision", "never", "decisions/3/decision", "not_now")
	if brings := fmt.Sprint(r["brings"]); !strings.Contains(brings, "sh desk.sh") || !strings.Contains(brings, "theirs") {
		t.Error(brings)
	}
	c.send(record{"type": "user", "id": "a", "content": "look"}) // which waits
	c.decide(record{"id": "consent-0"}, "trust")
	c.want("error", "line", 2, "id", "consent-0", "message", `line 2: no question "consent-0" is open`)
	c.decide(r, "allow")
	c.want("error", "line", 3, "id", r["id"], "message",
		`line 3: the decision "allow" was not offered, only trust, trust_parent, never, not_now; the question is still open`)
	c.decide(r, "trust")
	r = c.want("consent_request", "about", "commands", "title", "this project brings 1 agent and wants to run 2 commands, which nobody has agreed to so far: "+dir,
		"wishes/0/title", "hook BeforeAgent, mark", "wishes/0/command", "sh mark.sh", "wishes/0/files/0/path", "mark.sh", "wishes/0/files/0/text", project["mark.sh"],
		"wishes/1/title", "MCP server desk", "wishes/1/files/0/lines", 30, "wishes/2/title", "agent theirs", "wishes/2/agent", true,
		"decisions/0/decision", "agree", "decisions/0/text", "run them like the commands of the model: confined, where these are",
		"decisions/1/decision", "unconfined", "decisions/2/decision", "never", "decisions/3/decision", "not_now")
	c.decide(r, "agree")
	c.decide(r, "agree") // once is enough
	c.want("init")
	c.want("error", "line", 6, "id", r["id"])
	r = c.want("approval_request", "title", "call look of the MCP server desk")
	c.send(record{"type": "approval", "id": r["id"], "decision": "allow"})
	c.want("tool_result", "status", "success")
	c.want("turn_result", "id", "a", "status", "success")
	c.say("ask it")
	c.want("tool_result", "status", "success")
	c.want("turn_result", "status", "success")
	marks(2)
	c.finish(0, "completed")

	// Nothing is asked about what stays as it is.
	c = askTrust(t, dir, et.NewServer(et.Says("Hello.")))
	check(t, c.next(), "type", "init")
	c.say("hi")
	c.want("turn_result", "status", "success")
	marks(3)
	c.finish(0, "completed")

	// What has changed is.
	write(t, dir, map[string]string{"mark.sh": "echo ran >>marked; echo twice"})
	c = askTrust(t, dir, et.NewServer(et.Says("Hello."), et.Says("And hello.")))
	r = c.next()
	check(t, r, "type", "consent_request", "wishes/0/files/0/text", "echo ran >>marked; echo twice", "wishes/1", nil)
	c.decide(r, "not_now")
	c.want("init")
	c.want("error", "severity", "warning", "message", "hooks of this project do not run, since nobody has agreed to what they are now: mark"+
		"; a session at a terminal asks, --skip-trust agrees for one run")
	c.say("hi")
	c.want("turn_result", "status", "success")
	write(t, dir, map[string]string{".gemini/agents/theirs.md": "---\nname: theirs\ndescription: Of the project.\ntools: []\n---\nYou are evil."})
	c.say("/agents reload") // asks in the middle of a conversation
	r = c.want("consent_request", "title", "this project brings 1 agent, which nobody has agreed to so far: "+dir, "decisions/1/decision", "never")
	c.decide(r, "never")
	c.want("turn_result", "status", "success")
	c.say("/permissions trust")
	c.want("consent_request", "about", "folder", "title", "do you trust this folder? It is trusted so far. "+dir+" brings:")
	c.send(record{"type": "cancel"})
	c.want("turn_result", "status", "cancelled")
	c.say("/permissions trust")
	c.decide(c.want("consent_request"), "never")
	c.want("turn_result", "status", "success")
	c.say("/permissions trust")
	c.want("consent_request")
	c.in.Close() // in the question
	c.want("turn_result", "error/message", "nobody is there to answer: the input has ended")
	c.ends(1, "error")
	marks(3)
}

// A message that is cancelled before anything is decided has its result behind the
// beginning, and a line that can't be used is told with the question that waits.
func TestTalkConsentCancel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"GEMINI.md": "Be nice."})
	c := askTrust(t, dir, et.NewServer(et.Says("Hello.")))
	r := c.want("consent_request")
	c.send(record{"type": "user", "id": "a", "content": "hi"})
	c.send(record{"type": "user", "id": "b", "content": "hello"})
	c.send(record{"type": "cancel", "id": "a"})
	c.send(record{"type": "cancel"})
	c.want("error", "line", 4, "message", "line 4: there is nothing to cancel", "open", nil)
	c.send(record{"type": "consent", "id": r["id"], "decision": []any{"trust"}})
	c.want("error", "line", 5, "id", r["id"], "open", true)
	c.decide(r, "trust")
	c.want("init")
	c.want("turn_result", "turn", 1, "id", "a", "status", "cancelled", "exit_code", 130)
	c.want("turn_result", "turn", 2, "id", "b", "status", "success")
	c.finish(42, "input")
}

// Nobody waits for a client that has gone, and one that does not know the question is not
// asked: a folder that nobody has decided about ends the run as ever.
func TestTalkConsentGone(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--ask-trust"}} {
		dir := t.TempDir()
		write(t, dir, map[string]string{".gemini/settings.json": `{"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": "touch marked"}]}]}}`})
		c := dial(t, dir, et.NewServer(), args...)
		c.say("hi")
		if args != nil {
			c.want("consent_request")
			c.in.Close()
		}
		c.want("result", "exit_code", 55, "error/type", "FatalUntrustedWorkspaceError")
		c.cmd.Wait()

		c = dial(t, dir, et.NewServer(et.Says("Hello.")), "--ask-trust")
		c.decide(c.want("consent_request"), "not_now")
		c.want("init")
		c.say("hi")
		c.want("turn_result", "status", "success")
		c.finish(0, "completed")

		c = dial(t, dir, et.NewServer(et.Says("Hello.")), "--ask-trust", "--skip-trust")
		c.want("consent_request", "about", "commands")
		c.say("hi")
		c.in.Close() // nobody agrees, and the message has its turn
		c.want("init")
		c.want("error", "severity", "warning")
		c.want("turn_result", "status", "success")
		c.ends(0, "completed")
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
	write(t, dir, map[string]string{"lib/one/SKILL.md": "---\nname: one\ndescription: first\n---\nDo it.\n"})
	link, linked := "/skills link "+filepath.Join(dir, "lib"), filepath.Join(dir, "home", ".gemini", "skills", "one")
	c := dial(t, dir, et.NewServer())
	for _, answer := range []string{"No", "Yes"} {
		c.say(link)
		r := c.want("question", "tool_name", "command", "questions/0/kind", "yesno", "questions/0/question", "go on?")
		if _, err := os.Lstat(linked); err == nil {
			t.Error("it did not wait")
		}
		c.send(record{"type": "answer", "id": r["id"], "answers": []string{answer}})
		c.want("turn_result", "status", map[string]string{"Yes": "success", "No": "error"}[answer])
	}
	if _, err := os.Lstat(linked); err != nil {
		t.Error(err)
	}
	c.say(link)
	c.want("question")
	c.send(record{"type": "end"})
	c.want("turn_result", "status", "error")
}
