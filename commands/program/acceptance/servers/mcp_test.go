//go:build linux

package servers

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// deskSettings sets the server up.
func deskSettings(more string) string {
	return `{"mcp": {"connectSeconds": 120}, "mcpServers": {"desk": {"command": "sh", "args": ["desk.sh"], "env": {"WHERE": "$HOME/desk", "NODE_OPTIONS": "-r x"}` + more + `}}}`
}

// withDesk sets the server up for the user of dir.
func withDesk(t *testing.T, dir, more string) {
	t.Helper()
	pt.Write(t, dir, map[string]string{"desk.sh": pt.Desk, "home/.gemini/settings.json": deskSettings(more)})
}

// awaitConnected waits, at a prompt, until /mcp lists a server as connected.
func awaitConnected(p *teletype.Session) {
	for listed := ""; !strings.Contains(listed, " - Connected ("); {
		p.Line("/mcp")
		listed = p.Expect("\n> ")
	}
}

// A whole run: the server's tool is declared and called, its prompt is a command, its
// resource is read and its instructions are told.
func TestMCP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	withDesk(t, dir, `, "trust": true`)
	s := et.NewServer(et.Says("", et.Call("1", "mcp_desk_look", "at", "it")), et.Says("Done."), et.Says("Tidied."))
	t.Cleanup(s.Close)
	var out, errs bytes.Buffer
	if err := pt.Headless(t, s, dir, &out, &errs, "-p", "see @desk:desk://drawer and @desk:desk://photo").Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.Bytes())
	}
	if got := pt.AnswerOf(t, s, "mcp_desk_look"); !strings.Contains(got, "a lamp") {
		t.Errorf("the answer: %s", got)
	}
	first := string(s.Requests()[0].Body)
	for _, want := range []string{"Knock first.", "three pens", `"mcp_desk_look"`, "read_mcp_resource"} {
		if !strings.Contains(first, want) {
			t.Errorf("the request lacks %q", want)
		}
	}
	if !strings.Contains(errs.String(), "env may not set NODE_OPTIONS") || !strings.Contains(errs.String(), "@desk:desk://photo holds image/png, which is not sent") {
		t.Errorf("told: %s", errs.Bytes())
	}
	env, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil || !bytes.Contains(env, []byte("GEMINI_CLI=1\n")) || !bytes.Contains(env, []byte("WHERE="+dir+"/home/desk\n")) || bytes.Contains(env, []byte("API_KEY")) || bytes.Contains(env, []byte("NODE_OPTIONS")) {
		t.Errorf("%v: %s", err, env)
	}
	if err := pt.Headless(t, s, dir, &out, &errs, "-p", "/tidy-up drawer").Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.Bytes())
	}
	requests := s.Requests()
	if last := string(requests[len(requests)-1].Body); !strings.Contains(last, "Tidy up the drawer.") {
		t.Errorf("the prompt: %.2000s", last)
	}
}

// Without trust, a call is asked about, and so denied where nobody is there.
func TestMCPAsks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	withDesk(t, dir, "")
	s := et.NewServer(et.Says("", et.Call("1", "mcp_desk_look", "at", "it")), et.Says("Done."))
	t.Cleanup(s.Close)
	var out, errs bytes.Buffer
	if err := pt.Headless(t, s, dir, &out, &errs, "-p", "look").Run(); err != nil || !strings.Contains(errs.String(), "call look of the MCP server desk: denied: nobody to ask") {
		t.Errorf("%v: %s", err, errs.Bytes())
	}
}

// What a server wants the model to answer is asked about, with the server's name and all that
// the model would be told; Enter is no. The model of the session answers, beside the
// conversation.
func TestMCPWantsTheModel(t *testing.T) {
	t.Parallel()
	wonder := et.Says("", et.Call("1", "mcp_desk_wonder"))
	s := et.NewServer(wonder, et.Says("One."), wonder, et.Says("A table."), et.Says("Two."))
	c := pt.Terminal(t, s)
	c.Term = "dumb"
	pt.Write(t, filepath.Dir(c.Dir), map[string]string{"project/desk.sh": pt.Desk, "home/.gemini/settings.json": deskSettings("")})
	p := teletype.Start(t, c)
	p.Expect("\n> ")
	awaitConnected(p)
	for i, answer := range []string{"", "y"} {
		p.Line("go on")
		p.Expect("always all tools of desk): ")
		p.Line("y")
		p.Expect("the MCP server desk gets the answer:\r\ninstruction: Be brief.\r\n" + `user: What is \u001b[31mit?`)
		p.Expect("permission: have the model answer the MCP server desk\r\ny n ?: ")
		p.Line(answer)
		p.Expect([]string{"One.", "Two."}[i])
	}
	p.Line("/stats model")
	p.Expect("utility_tool")
	p.Line("/quit")
	p.Exit()
	requests := s.Requests()
	if got := string(requests[1].Body); !strings.Contains(got, "heard nothing") {
		t.Errorf("after the refusal: %s", got)
	}
	if got := string(requests[3].Body); !strings.Contains(got, "Be brief.") || strings.Contains(got, "mcp_desk_wonder") || !strings.Contains(requests[3].Path, pt.Model+":") {
		t.Errorf("the question: %s %s", requests[3].Path, got)
	}
	if got := string(requests[4].Body); !strings.Contains(got, "heard of a table") {
		t.Errorf("after the answer: %s", got)
	}
}

// Where nobody is there, a server gets no answer of the model, which is told, unless a rule
// allows it, which none about the server's tools does.
func TestMCPWantsTheModelOfNobody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	withDesk(t, dir, `, "trust": true`)
	wonder := et.Says("", et.Call("1", "mcp_desk_wonder"))
	s := et.NewServer(wonder, et.Says("One."), wonder, et.Says("A table."), et.Says("Two."))
	t.Cleanup(s.Close)
	var out, errs bytes.Buffer
	if err := pt.Headless(t, s, dir, &out, &errs, "-p", "go").Run(); err != nil || !strings.Contains(errs.String(), "the MCP server desk wanted the model to answer: denied: nobody to ask") {
		t.Errorf("%v: %s", err, errs.Bytes())
	}
	pt.Write(t, dir, map[string]string{"home/.gemini/policies/mcp.toml": "[[rule]]\ntoolName = \"mcp_sampling\"\nargsPattern = '\"server\":\"desk\"'\ndecision = \"allow\"\npriority = 100\n"})
	out.Reset()
	if err := pt.Headless(t, s, dir, &out, &errs, "-p", "go", "--output-format", "json").Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.Bytes())
	}
	if !strings.Contains(pt.AnswerOf(t, s, "mcp_desk_wonder"), "heard of a table") || !strings.Contains(out.String(), `"utility_tool"`) {
		t.Errorf("%s", out.Bytes())
	}

	// In auto the model answers that was chosen for the prompt.
	auto := et.NewServer(et.Says(`{"complexity_reasoning":"easy","complexity_score":5}`), wonder, et.Says("A table."), et.Says("Two."))
	t.Cleanup(auto.Close)
	run := pt.Headless(t, auto, dir, &out, &errs, "-p", "go")
	if run.Args[2] = "auto"; run.Run() != nil {
		t.Fatalf("%s", errs.Bytes())
	}
	for _, r := range auto.Requests()[1:] {
		if !strings.Contains(r.Path, "/gemini-3.8-flash:") {
			t.Errorf("%s was asked", r.Path)
		}
	}
}

// However a run ends, no process of a server is left.
func TestMCPLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"end": 0, "SIGINT": syscall.SIGINT, "SIGKILL": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			withDesk(t, dir, "")
			reached := make(chan pt.Ended, 10)
			reply := et.Says("Done.")
			if sig != 0 {
				reply = pt.Telling(reached, et.Silent())
			}
			s := et.NewServer(reply)
			t.Cleanup(s.Close)
			var out, errs bytes.Buffer
			run := pt.Headless(t, s, dir, &out, &errs, "-p", "go")
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			if sig != 0 {
				<-reached
				run.Process.Signal(sig)
			}
			run.Wait()
			b, err := os.ReadFile(filepath.Join(dir, "pids"))
			pids := strings.Fields(string(b))
			if err != nil || len(pids) != 3 {
				t.Fatalf("%v: %q; %s", err, b, errs.Bytes())
			}
			et.Eventually(t, "no server is left", func() bool { return len(alive(t, dir)) == 0 })
		})
	}
}

// A project's server runs once the user has agreed to exactly what it is, its script
// included: confined, if that is the answer. Its tools come while the user types, and each
// call is asked about.
func TestMCPOfAProject(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.Says("", et.Call("1", "mcp_desk_look", "at", "it")), et.Says("Seen."), et.Says("", et.Call("2", "mcp_desk_look", "at", "it")), et.Says("Seen again."))
	c := pt.Terminal(t, s)
	c.Term = "dumb"
	pt.Write(t, c.Dir, map[string]string{"desk.sh": strings.Replace(pt.Desk, "env >environ", "touch ../outside; env >environ", 1),
		".mcp.json": `{"mcpServers": {"desk": {"command": "sh", "args": ["desk.sh"], "env": {"KEY": "${GEMINI_API_KEY}", "TERM": "${TERM:-none}"}, "trust": true}}}`})
	start := func() *teletype.Session {
		p := teletype.Start(t, c)
		p.Expect("permission: this project wants to run 1 command, which")
		p.Expect("MCP server desk, with KEY=${GEMINI_API_KEY}")
		p.Expect("sleep 1000 &") // the script is shown
		p.Expect("Enter for not now: ")
		return p
	}
	p := start()
	p.Line("1")
	p.Expect("\n> ")
	awaitConnected(p)
	p.Line("/about")
	p.Expect("variables kept from commands")
	p.Line("look")
	p.Expect("call look of the MCP server desk")
	p.Expect("always look as it is now")
	p.Line("a")
	p.Expect("Seen.")
	p.Line("look again")
	p.Expect("Seen again.")
	p.Line("/quit")
	p.Exit()
	if _, err := os.Stat(filepath.Join(c.Dir, "..", "outside")); err == nil && pt.Confined() {
		t.Error("it was not confined")
	}
	if b, err := os.ReadFile(filepath.Join(c.Dir, "environ")); err != nil || bytes.Contains(b, []byte("KEY=test")) || !bytes.Contains(b, []byte("\nKEY=")) || bytes.Contains(b, []byte("\nTERM=none")) {
		t.Errorf("%v: %s", err, b)
	}
	pt.Write(t, c.Dir, map[string]string{"desk.sh": pt.Desk}) // which is something else
	p = start()
	p.Line("")
	p.Expect("warning: MCP servers of this project are not used, since nobody has agreed to their present form: desk;")
	p.Line("/mcp")
	p.Expect("desk: sh desk.sh (stdio) - Disabled: nobody has agreed")
	p.Line("/quit")
	p.Exit()
}

// An agent has the servers of its own that its file and the user's settings name, which are
// there for it alone and end with it. What a project's settings name is not started.
func TestMCPOfAgents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pt.Write(t, dir, map[string]string{"desk.sh": strings.Replace(pt.Desk, `a lamp`, `a lamp in '"$WHERE"'`, 1),
		"home/.gemini/agents/porter.md": "---\nname: porter\ndescription: p\ntools: []\nmcp_servers:\n  desk:\n    command: sh\n    args: [desk.sh]\n    env: {WHERE: $PLACE}\n---\nYou are the porter.",
		"home/.gemini/settings.json":    `{"agents": {"overrides": {"porter": {"mcpServers": {"drawer": {"command": "sh", "args": ["desk.sh"], "env": {"WHERE": "$PLACE, too"}}}}}}}`,
		".gemini/settings.json":         `{"agents": {"overrides": {"porter": {"mcpServers": {"evil": {"command": "touch", "args": ["evil"]}}}}}}`})
	s := et.NewServer()
	t.Cleanup(s.Close)
	replies := []et.Reply{et.Says("", et.Call("1", "invoke_agent", "agent_name", "porter", "prompt", "go")),
		et.Says("", et.Call("2", "mcp_desk_look", "at", "it"), et.Call("3", "mcp_drawer_look", "at", "it")),
		et.Says("", et.Call("4", "complete_task", "result", "Looked.")), et.Says("Done.")}
	var left []string
	s.Respond = func(r et.Received) et.Reply {
		if len(replies) == 1 { // the agent is over
			et.Comes(func() bool {
				left = alive(t, dir)
				return len(left) == 0
			})
		}
		reply := replies[0]
		replies = replies[1:]
		return reply
	}
	var out, errs bytes.Buffer
	run := pt.Headless(t, s, dir, &out, &errs, "-y", "-p", "go", "--skip-trust")
	run.Env = append(run.Env, "PLACE=hall")
	if err := run.Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.Bytes())
	}
	if len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	requests := pt.Streamed(s)
	if len(requests) != 4 {
		t.Fatalf("%d requests: %s", len(requests), errs.Bytes())
	}
	for i, want := range []bool{false, true, true, false} {
		for _, name := range []string{`"mcp_desk_look"`, `"mcp_drawer_look"`} {
			if strings.Contains(string(requests[i].Body), name) != want {
				t.Errorf("request %d: %s, %v", i, name, !want)
			}
		}
	}
	for _, want := range []string{`a lamp in hall\n`, `a lamp in hall, too\n`} {
		if !strings.Contains(string(requests[2].Body), want) {
			t.Errorf("nobody says %q", want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "evil")); err == nil || !strings.Contains(errs.String(), "agents.overrides.porter in the settings: mcpServers: a project can't set it") {
		t.Errorf("%v: %s", err, errs.Bytes())
	}
}

// An agent of an extension has servers that the extension brings: in its folder, and with the
// values of its settings.
func TestMCPOfAgentsOfExtensions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := "home/.gemini/extensions/hall/"
	pt.Write(t, dir, map[string]string{at + "desk.sh": strings.Replace(pt.Desk, `a lamp`, `a lamp in '"$WHERE of $DESK_HOUSE"'`, 1),
		at + "gemini-extension.json": `{"name": "hall", "version": "1", "settings": [{"name": "House", "description": "h", "envVar": "DESK_HOUSE"}]}`,
		at + ".env":                  "DESK_HOUSE=ours\n",
		at + "agents/porter.md":      "---\nname: porter\ndescription: p\ntools: []\nmcp_servers:\n  desk:\n    command: sh\n    args: ['${extensionPath}${/}desk.sh']\n    env: {WHERE: '${PLACE:-nowhere}'}\n---\nYou are at ${extensionPath}."})
	s := et.NewServer(et.Says("", et.Call("1", "invoke_agent", "agent_name", "porter", "prompt", "go")), et.Says("", et.Call("2", "mcp_desk_look", "at", "it")),
		et.Says("", et.Call("4", "complete_task", "result", "Looked.")), et.Says("Done."))
	t.Cleanup(s.Close)
	var out, errs bytes.Buffer
	run := pt.Headless(t, s, dir, &out, &errs, "-y", "-p", "go", "--skip-trust")
	run.Env = append(run.Env, "PLACE=hall")
	if err := run.Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.Bytes())
	}
	for _, want := range []string{`a lamp in hall of ours\n`, "You are at " + filepath.Join(dir, filepath.FromSlash(at))} {
		if body := string(pt.Streamed(s)[2].Body); !strings.Contains(body, want) {
			t.Errorf("nobody says %q: %s", want, body)
		}
	}
}

// alive returns the processes that servers in a directory have noted, and that run.
func alive(t *testing.T, dir string) (list []string) {
	b, err := os.ReadFile(filepath.Join(dir, "pids"))
	if err != nil {
		t.Error(err)
	}
	for _, pid := range strings.Fields(string(b)) {
		if stat, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && !bytes.Contains(stat, []byte(") Z ")) {
			list = append(list, pid)
		}
	}
	return list
}
