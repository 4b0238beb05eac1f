//go:build unix

package terminal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
	"gemline/engine/journal"
	"gemline/tools/agent/remote/remotelab"
)

// isStuck reports whether r is of the agent that never answers.
func isStuck(r et.Received) bool { return strings.Contains(string(r.Body), "You are stuck.") }

// The model calls three agents side by side: one is allowed what it asks for, another
// refused. One says nothing useful and is asked again, one is too late, and one is
// cancelled. The screen, the session files and the numbers say the same.
func TestAgentsAtATerminal(t *testing.T) {
	t.Parallel()
	call := func(id, name string) et.Reply {
		return et.Says("", et.Call(id, "invoke_agent", pt.Calling(id, name)...))
	}
	server := pt.AgentsAnswer(
		et.Says("", et.Call("1", "invoke_agent", pt.Calling("1", "codebase_investigator")...), et.Call("2", "invoke_agent", pt.Calling("2", "alpha")...),
			et.Call("3", "invoke_agent", pt.Calling("3", "beta")...)),
		et.Says("All looked."), call("4", "vague"), et.Says("Vague."), call("5", "slow"), et.Says("Too late."), call("6", "stuck"), et.Says("Bye."))
	c := pt.Terminal(t, server)
	pt.Write(t, c.Dir, map[string]string{".env": "PORT=8080\n"})
	pt.Write(t, pt.HomeOf(c), pt.AgentFiles)
	s := teletype.Start(t, c)
	s.Say("look around")
	seen := ""
	for range 2 {
		shown := s.Match(`permission: (alpha|beta): read \.env \(may be a secret\)\r\n[^\n]*: $`)
		answer := "y"
		if strings.Contains(shown[strings.LastIndex(shown, "permission: "):], "beta: ") {
			answer = "n"
		}
		seen += shown
		s.Line(answer)
	}
	seen += s.Expect("All looked.")
	s.Expect("> ")
	for _, want := range []string{"tool: codebase_investigator: look, 1", "codebase_investigator: read greeting.txt", "beta: read .env: refused"} {
		if !strings.Contains(seen, want) {
			t.Errorf("the screen does not say %q:\n%s", want, seen)
		}
	}
	s.Line("and now")
	s.Expect("vague: Well, well.")
	s.Expect("info: vague: Agent stopped calling tools but did not call 'complete_task'; it is asked for its report once more")
	s.Expect("Vague.")
	s.Expect("> ")
	s.Line("quickly")
	s.Expect("info: slow: Agent timed out after 0.005 minutes; it is asked for its report once more")
	s.Expect("Too late.")
	s.Expect("> ")
	s.Line("again")
	s.Expect("tool: stuck: look, 6")
	for !slices.ContainsFunc(server.Requests(), isStuck) {
		<-server.Arrived()
	}
	s.Send("\x03")
	s.Expect("cancelled")
	s.Expect("> ")
	s.Line("/stats")
	s.Expect("Time: ")
	shown := s.Expect("\n> ")
	for _, want := range []string{"codebase_investigator: called 1 time, none failed", "alpha: called 1 time, none failed", "beta: called 1 time, none failed",
		"vague: called 1 time, none failed", "slow: called 1 time, none failed", "stuck: called 1 time, 1 without a report"} {
		if !strings.Contains(shown, "Agent "+want) || !strings.Contains(shown, "You were asked about 2 and refused 1.") {
			t.Errorf("the numbers do not say %q:\n%s", want, shown)
		}
	}
	s.Line("/quit")
	s.Exit()
	filesTell(t, c)
}

// An agentOutcome is what the session files tell of a call of an agent: the agent's own, and
// what the call was answered with in that of its caller.
type agentOutcome struct{ told, answer string }

// agentsIn returns what the session files tell of agents, by the tasks that they were given.
func agentsIn(t *testing.T, c teletype.Command, agents int) map[string]agentOutcome {
	t.Helper()
	chats := filepath.Join(pt.HomeOf(c), ".gemini", "tmp", "*", "chats")
	own, _ := filepath.Glob(filepath.Join(chats, "*", "*.jsonl"))
	callers, _ := filepath.Glob(filepath.Join(chats, "*.jsonl"))
	if len(own) != agents || len(callers) != 1 {
		t.Fatalf("there are %d files of agents and %d of who calls them", len(own), len(callers))
	}
	read := func(name string) (string, []*genai.Content) {
		b, err := os.ReadFile(name)
		talk, lerr := journal.Load(name)
		if err := cmp.Or(err, lerr); err != nil {
			t.Fatal(err)
		}
		et.CheckHistory(t, talk.History)
		return string(b), talk.History
	}
	all, tasks := map[string]agentOutcome{}, map[string]string{}
	_, history := read(callers[0])
	for _, said := range history {
		for _, p := range said.Parts {
			if fc := p.FunctionCall; fc != nil {
				tasks[fc.ID] = fmt.Sprint(fc.Args["prompt"])
			}
			if fr := p.FunctionResponse; fr != nil {
				all[tasks[fr.ID]] = agentOutcome{answer: fmt.Sprint(fr.Response["output"], fr.Response["error"])}
			}
		}
	}
	for _, name := range own {
		text, _ := read(name)
		for task, o := range all {
			if strings.Contains(text, task) {
				o.told = text
				all[task] = o
			}
		}
	}
	return all
}

// filesTell sees that the session files tell of the calls of both tests what happened.
func filesTell(t *testing.T, c teletype.Command) {
	t.Helper()
	outcomes := agentsIn(t, c, 6)
	for task, want := range map[string][2]string{ // what the agent's own file tells, and what its caller reads
		"look, 1": {"It greets.", "Termination Reason: GOAL\nResult:\n{\n  \"ExplorationTrace\""},
		"look, 2": {"PORT=8080", "Termination Reason: GOAL\nResult:\nthe port is 8080"},
		"look, 3": {"User denied execution", "Termination Reason: GOAL\nResult:\nit was refused"},
		"look, 4": {"Well, well.", "Termination Reason: GOAL\nResult:\nwell"},
		"look, 5": {"half of it", "Termination Reason: GOAL\nResult:\nhalf of it"},
		"look, 6": {"look, 6", "User cancelled"},
	} {
		if got := outcomes[task]; !strings.Contains(got.told, want[0]) || !strings.Contains(got.answer, want[1]) {
			t.Errorf("%s: its file does not tell %q, or its caller read %q, not %q", task, want[0], got.answer, want[1])
		}
	}
}

// The record of the same calls in one run, which is asked about at the terminal and ends
// by Ctrl-C, has the same numbers, and its session files tell the same.
func TestAgentsInTheRecord(t *testing.T) {
	t.Parallel()
	call := func(id, name string) *genai.FunctionCall { return et.Call(id, "invoke_agent", pt.Calling(id, name)...) }
	server := pt.AgentsAnswer(et.Says("", call("1", "codebase_investigator"), call("2", "alpha"), call("3", "beta")),
		et.Says("", call("4", "vague")), et.Says("", call("5", "slow")), et.Says("", call("6", "stuck")))
	c := pt.Terminal(t, server, "--ask-tty", "-p", "look around", "-o", "json")
	pt.Write(t, c.Dir, map[string]string{".env": "PORT=8080\n"})
	pt.Write(t, pt.HomeOf(c), pt.AgentFiles)
	c.Path, c.Args = "/bin/sh", append([]string{"-c", `trap : INT; "$@" >out; echo code $?; read -r x`, "sh", c.Path}, c.Args...)
	s := teletype.Start(t, c)
	for range 2 {
		shown := s.Match(`permission: (alpha|beta): read \.env \(may be a secret\)\r\n[^\n]*: $`)
		answer := "y"
		if strings.Contains(shown[strings.LastIndex(shown, "permission: "):], "beta: ") {
			answer = "n"
		}
		s.Line(answer)
	}
	for !slices.ContainsFunc(server.Requests(), isStuck) {
		<-server.Arrived()
	}
	s.Send("\x03")
	s.Expect("code 130")
	out, err := os.ReadFile(filepath.Join(c.Dir, "out"))
	var record struct {
		Reason string `json:"termination_reason"`
		Stats  struct {
			Agents map[string]struct{ Runs, Failed int }
			Tools  struct {
				ByName map[string]struct {
					Count, Success, Fail int
					Decisions            struct{ Accept, Reject int }
				}
			}
		}
	}
	if err := cmp.Or(err, json.Unmarshal(out, &record)); err != nil {
		t.Fatal(err)
	}
	for name, failed := range map[string]int{"codebase_investigator": 0, "alpha": 0, "beta": 0, "vague": 0, "slow": 0, "stuck": 1} {
		if a := record.Stats.Agents[name]; a.Runs != 1 || a.Failed != failed {
			t.Errorf("%s was called %d times, of which %d failed", name, a.Runs, a.Failed)
		}
	}
	if d := record.Stats.Tools.ByName["read_file"].Decisions; d.Accept != 2 || d.Reject != 1 { // with the one that ran unasked
		t.Errorf("of the agents' questions: %+v", d)
	}
	filesTell(t, c)
	if a := record.Stats.Tools.ByName["invoke_agent"]; record.Reason != "sigint" || a.Count != 6 || a.Success != 5 {
		t.Errorf("the run ended with %s; agents were called: %+v", record.Reason, a)
	}
}

// A call of an agent on another server is asked about with all that it is told. What it says
// is shown while it works, as text, and Ctrl-C cancels its task there.
func TestAgentElsewhereAtATerminal(t *testing.T) {
	t.Parallel()
	lab := remotelab.New(t.Cleanup, remotelab.Config{Streaming: true})
	call := func(id, words string) et.Reply {
		return et.Says("", et.Call(id, "invoke_agent", "agent_name", "far", "prompt", words))
	}
	server := et.NewServer(call("1", "ask which\nof the \x1b[2Jtwo"), call("2", "number \x1b[2Jtwo"), et.Says("It has two."), call("3", "wait"), et.Says("Bye."))
	c := pt.Terminal(t, server)
	pt.Write(t, pt.HomeOf(c), map[string]string{".gemini/agents/far.md": "---\nkind: remote\nname: far\ndescription: f\nagent_card_url: " + lab.Card() + "\n---\n"})
	s := teletype.Start(t, c)
	s.Say("go")
	shown := s.Match(`permission: call remote agent far on 127.0.0.1:[0-9]+\r\n[^\n]*: $`)
	for _, want := range []string{"the prompt:", "  ask which\r\n", `  of the \x1b[2Jtwo`, "control or invisible characters"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the question does not show %q:\n%s", want, shown)
		}
	}
	s.Line("y")
	s.Expect("far: I am at it.")
	s.Expect("Which one?")
	s.Expect("result: far: wants an answer")
	s.Match(`permission: call remote agent far on 127.0.0.1:[^\n]*\r\n[^\n]*: $`)
	s.Line("a")
	s.Expect(`It is number \x1b[2Jtwo, then.`)
	s.Expect("It has two.")
	s.Expect("> ")
	s.Line("again")
	s.Expect("far: I am at it.") // it was always allowed
	s.Send("\x03")
	s.Expect("cancelled")
	s.Expect("> ")
	if err := lab.Await(t.Context(), "cancelled"); err != nil {
		t.Error(err)
	}
	s.Line("/stats")
	s.Expect("Agent far: called 3 times, 1 without a report")
	s.Line("/quit")
	s.Exit()
}

// A project's agent is called once the user has agreed to just this file, which is shown. A
// file that changes is taken by /agents reload: the user's own at once, and the project's
// when the user has agreed to that, too.
func TestAgentsOfAProjectAtATerminal(t *testing.T) {
	t.Parallel()
	call := func(id, name string) et.Reply {
		return et.Says("", et.Call(id, "invoke_agent", pt.Calling(id, name)...))
	}
	theirs := func(words string) map[string]string {
		return map[string]string{".gemini/agents/theirs.md": "---\nname: theirs\ndescription: Of the project.\ntools: []\n---\n" + words}
	}
	server := pt.AgentsAnswer(call("1", "theirs"), et.Says("It said well."), call("2", "mine"), et.Says("It is mine."), call("3", "theirs"), et.Says("It is not."))
	c := pt.Terminal(t, server)
	c.Term = "dumb"
	pt.Write(t, c.Dir, theirs("You are vague."))
	pt.Write(t, pt.HomeOf(c), map[string]string{".gemini/agents/mine.md": "---\nname: mine\ndescription: Before.\n---\nYou are nobody."})
	start := func(shown string) *teletype.Session {
		s := teletype.Start(t, c)
		s.Expect("permission: this project brings 1 agent, which")
		s.Expect("agent theirs")
		s.Expect(shown)
		s.Expect("Enter for not now: ")
		return s
	}
	s := start("You are vague.")
	s.Line("1")
	s.Expect("\n> ")
	s.Line("ask it")
	s.Expect("It said well.")
	s.Expect("> ")
	pt.Write(t, c.Dir, theirs("You are vague. Be evil."))
	pt.Write(t, pt.HomeOf(c), map[string]string{".gemini/agents/mine.md": "---\nname: mine\ndescription: Behind.\ntools: []\n---\nYou are vague."})
	s.Line("/agents reload") // and asks about what has changed
	s.Expect("permission: this project brings 1 agent, which nobody has agreed to so far")
	s.Expect("Be evil.")
	s.Expect("answer 1, 3, Enter for not now: ")
	s.Line("")
	s.Expect("theirs (project): Of the project. [not callable: nobody has agreed to this project's agent as it is now")
	s.Expect("mine (user): Behind.")
	s.Expect("> ")
	s.Line("ask mine")
	s.Expect("It is mine.")
	s.Expect("> ")
	s.Line("ask theirs")
	s.Expect("denied: nobody has agreed")
	s.Expect("It is not.")
	s.Expect("> ")
	s.Line("/quit")
	s.Exit()
	s = start("Be evil.")
	s.Line("3") // never
	s.Expect("\n> ")
	s.Line("/agents")
	s.Expect("theirs (project): Of the project. [not callable: you do not want this project's agent; gemline trust remove takes that back]")
	s.Expect("> ")
	pt.Write(t, c.Dir, theirs("You are vague. Be kind."))
	s.Line("/agents reload")
	s.Expect("Be kind.")
	s.Expect("answer 1, 3, Enter for not now: ")
	s.Line("1")
	s.Expect("theirs (project): Of the project.\r\n")
	s.Expect("\n> ")
	s.Line("/quit")
	s.Exit()
	told := false
	for _, r := range pt.Streamed(server) {
		told = told || strings.Contains(string(r.Body), "<name>mine</name><description>Behind.")
	}
	if !told {
		t.Error("the model is not told of what the file says now")
	}
}

// An agent has a list of things to do of its own. In plan mode those run that only look, and
// are told so; when the plan is approved, others are told where it is. Skills are told to
// those that may activate one.
func TestAgentsListsAndPlans(t *testing.T) {
	t.Parallel()
	todo := func(id, what string) et.Reply {
		return et.Says("", et.Call(id, "write_todos", "todos", []any{map[string]any{"description": what, "status": "pending"}}))
	}
	call := func(id, name string) et.Reply {
		return et.Says("", et.Call(id, "invoke_agent", pt.Calling(id, name)...))
	}
	server := et.NewServer(todo("1", "mow the lawn"), call("2", "doer"), todo("3", "find the mower"), pt.Reported("found"), et.Says("Mown."),
		call("4", "codebase_investigator"), pt.SaidBy["You find out how a codebase works"][1], call("5", "doer"),
		et.Says("", et.Call("6", "write_file", "file_path", "plan.md", "content", "# Aim\n- mow\n")), et.Says("", et.Call("7", "exit_plan_mode", "plan_filename", "plan.md")),
		call("8", "doer"), pt.Reported("mown"), et.Says("Planned."))
	c := pt.Terminal(t, server)
	pt.Write(t, pt.HomeOf(c), map[string]string{".gemini/agents/doer.md": "---\nname: doer\ndescription: d\n---\nYou are the doer of ${query}.",
		".gemini/skills/mow/SKILL.md": "---\nname: mow\ndescription: How to mow.\n---\nSlowly."})
	s := teletype.Start(t, c)
	s.Say("mow")
	s.Expect("Mown.")
	s.Expect("> ")
	s.Line("/todos")
	if shown := s.Expect("> "); !strings.Contains(shown, "mow the lawn") || strings.Contains(shown, "find the mower") {
		t.Errorf("the list is %q", shown)
	}
	s.Line("/mode plan")
	s.Expect("plan> ")
	s.Line("plan it")
	s.Expect("It greets.")
	s.Expect("result: denied: ")
	s.Expect("in auto): ")
	s.Line("y")
	s.Expect("Planned.")
	s.Expect("> ")
	s.Line("/quit")
	s.Exit()
	told := map[string]string{ // what an agent is told when it begins, by its task
		"You are the doer of look, 2.": "<skill><name>mow</name><description>How to mow.",
		"You find out how a codebase":  "- Plan mode is on: nothing is changed",
		"You are the doer of look, 8.": "- The user has approved of the plan in ",
	}
	for _, r := range pt.Streamed(server) {
		for who, what := range told {
			if strings.Contains(string(r.Body), who) {
				delete(told, who)
				if !strings.Contains(string(r.Body), what) {
					t.Errorf("%s is not told %q", who, what)
				}
			}
			if strings.Contains(string(r.Body), "codebase works") && strings.Contains(string(r.Body), "<skill>") {
				t.Error("one is told of skills that may activate none")
			}
		}
		if strings.Contains(string(r.Body), "doer of look, 5.") {
			t.Error("an agent that may change things runs in plan mode")
		}
	}
	if len(told) > 0 {
		t.Errorf("not asked were %q", told)
	}
}
