//go:build unix

package terminal

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genai"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// Whatever is typed, whenever, on a terminal of whatever size, while agents speak side by
// side and commands print, in front and behind: the session goes on, and Ctrl-C ends it. In
// a soak that is tried for an hour.
func TestRandomKeys(t *testing.T) {
	t.Parallel()
	const sessions, bursts, soak = 4, 24, time.Hour
	random := et.Random(t, 7)
	began := time.Now()
	n := 0
	for ; n < sessions || et.Soak() && time.Since(began) < soak; n++ {
		seed := random.Uint64()
		if !t.Run(fmt.Sprint(n), func(t *testing.T) { typeAtRandom(t, rand.New(rand.NewPCG(seed, 1)), bursts) }) {
			break
		}
	}
	t.Logf("%d sessions of %d bursts of keys", n, bursts)
}

// typeAtRandom has a session, and types.
func typeAtRandom(t *testing.T, r *rand.Rand, bursts int) {
	m := &moody{random: rand.New(rand.NewPCG(r.Uint64(), 2))}
	server := et.NewServer()
	server.Forget, server.Respond = true, m.reply
	c := pt.Terminal(t, server, "--approval-mode", one(r, "default", "yolo", "yolo", "yolo"))
	c.Term = one(r, "dumb", "xterm", "xterm-256color", "-")
	c.Env = append(c.Env, "EDITOR=true", "PAGER=cat")
	files := map[string]string{".gemini/settings.json": fmt.Sprintf(`{"general": {"vimMode": %t}, "ui": {"accessibility": {"screenReader": %t}}}`,
		r.IntN(3) == 0, r.IntN(3) == 0)}
	for name, tools := range map[string]string{"alpha": "read_file", "beta": "read_file", "gamma": "read_file, run_shell_command"} {
		files[".gemini/agents/"+name+".md"] = fmt.Sprintf("---\nname: %s\ndescription: d\ntools: [%s]\n---\nYou are %[1]s.", name, tools)
	}
	pt.Write(t, pt.HomeOf(c), files)
	s := teletype.Start(t, c)
	s.Expect("> ")                                 // before, Ctrl-C just kills
	pause := time.NewTicker(50 * time.Millisecond) // what comes at once is a paste
	defer pause.Stop()
	for range bursts {
		if r.IntN(4) == 0 {
			s.Resize(1+r.IntN(60), one(r, 1, 2, 10, 20, 40, 79, 80, 81, 200, 400))
		}
		said := one(r, "", "\x15go on\r", "y\r")
		for range r.IntN(4) {
			said += key(r)
		}
		said += one(r, "", "\r", "\r")
		if !s.Try(said) {
			break
		}
		for range one(r, 1, 1, 7) { // after the longest one, nothing more belongs to a paste
			<-pause.C
		}
	}
	const most = 1200 // a minute of them
	for range most {  // one ends the turn, or a question, and two in a row the session
		if !s.Try("\x03") {
			break
		}
		<-pause.C
	}
	t.Logf("%d requests", m.requests)
	if code := s.Exit(); code != 0 && code != 130 && code != -1 { // the last Ctrl-C may meet one that is leaving
		t.Errorf("exit code %d", code)
	}
	seen := string(s.Transcript())
	for _, bad := range []string{"a bug in gemline", "panic: ", "fatal error: ", "goroutine "} {
		if strings.Contains(seen, bad) {
			t.Errorf("the terminal shows %q", bad)
		}
	}
}

func one[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// key returns something to type.
func key(r *rand.Rand) string {
	switch n := r.IntN(20); {
	case n < 7:
		return one(r, "go on", "look around", "a", "y", "n", "1", "2", "é", "日本", "👩‍💻", "x y", "@notes.txt ", "?", "\t", " ", `\`)
	case n < 12:
		return one(r, "\r", "\r", "\r", "go on\r", "y\r", "y\r", "n\r", "a\r", "1\r", "\n", "\\\r")
	case n < 15:
		return one(r, "/help\r", "/tasks\r", "/stats\r", "/detail full\r", "/detail short\r", "/detail normal\r", "/stream token\r", "/diff\r", "/undo\r", "/show 1\r",
			"/history\r", "/mode yolo\r", "/mode default\r", "/agents\r", "/again\r", "/vim\r", "/accessible\r", "/clear\r", "/fork\r", "/compress\r", "/name x\r", "/last\r",
			"/nothing\r", "!echo hi\r", "!cat\r", "!printf '\\033[2J'\r", "/editor\r", "/copy\r", "/resume\r", "/chat list\r", "/tools\r", "/brief\r")
	case n < 17: // as terminals send them
		return one(r, "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1bOH", "\x1b[3~", "\x1b", "\x1bb", "\x1b[Z", "\x1b[200~pasted\ntwice\x1b[201~", "\x1b[200~", "\x1b[201~",
			"\x1b[1;5C", "\x1b[999;999R", "\x1b]0;", "\x1b[<0;1;1M")
	case n < 19:
		return one(r, "\x01", "\x05", "\x06", "\x0b", "\x0c", "\x12", "\x15", "\x17", "\x19", "\x14", "\x0f", "\x18\x05", "\x7f", "\x08", "\x16", "\x1f", "\x00")
	}
	if r.IntN(3) == 0 {
		return "\x03"
	}
	return one(r, "\xff\xfe", "\xe2\x82", "\u202e", strings.Repeat("w", 300))
}

// A moody model calls for this and that.
type moody struct {
	mu              sync.Mutex
	random          *rand.Rand
	calls, requests int
}

// reply returns what the model says to a request.
func (m *moody) reply(r et.Received) et.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
	body := string(r.Body)
	for _, name := range []string{"alpha", "beta", "gamma"} {
		if strings.Contains(body, "You are "+name+".") {
			return m.agent(name, strings.Count(body, `"role":"model"`))
		}
	}
	if m.random.IntN(3) == 0 {
		return et.Says(one(m.random, "Done.", "One. Two. Three.\n\n- a\n- b\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "```go\nfunc f() {}\n```\n",
			strings.Repeat("A long line of words. ", 40), "日本語 👩‍💻 \u202e", "\x1b[31mred"))
	}
	switch m.random.IntN(10) {
	case 0, 1, 2, 7, 8: // side by side, if they only look
		return et.Says("I ask around.", m.call("invoke_agent", "agent_name", "alpha", "prompt", "look"), m.call("invoke_agent", "agent_name", "beta", "prompt", "look"),
			m.call("invoke_agent", "agent_name", one(m.random, "alpha", "beta", "gamma"), "prompt", "look"))
	case 3:
		return et.Says("", m.call("run_shell_command", "command", "for i in 1 2 3 4 5; do echo $i; sleep 0.02; done"))
	case 4:
		return et.Says("", m.call("run_shell_command", "command", "for i in 1 2 3 4 5; do echo behind; sleep 0.05; done", "is_background", true), m.call("list_background_processes"))
	case 5:
		return et.Says("Now to the file.", m.call("write_file", "file_path", "new.txt", "content", fmt.Sprintf("%d\n\ttwo\n", m.calls)),
			m.call("read_file", "file_path", "notes.txt"), m.call("read_file", "file_path", "greeting.txt"))
	case 6:
		return et.Says("", m.call("ask_user", "questions", []any{map[string]any{"header": "Colour", "question": "Which colour?", "type": "choice",
			"options": []any{map[string]any{"label": "red", "description": "warm"}, map[string]any{"label": "blue", "description": "cold"}}}}))
	}
	return et.Says("", m.call("write_todos", "todos", []any{map[string]any{"description": "look", "status": "in_progress"}}))
}

// agent returns what an agent says that has answered n times.
func (m *moody) agent(name string, n int) et.Reply {
	if n > map[string]int{"alpha": 0, "beta": 2, "gamma": 1}[name]+m.random.IntN(2) { // one ends before the others
		return et.Says(one(m.random, "", "That is all.", "Half a line"), m.call("complete_task", "result", "nothing"))
	}
	if name == "gamma" && m.random.IntN(2) == 0 {
		return et.Says("I run it. ", m.call("run_shell_command", "command", "seq 30"))
	}
	return et.Says(one(m.random, "I look into it.", "A line\nand ", "Well, "+name+". "), m.call("read_file", "file_path", "notes.txt"))
}

// call returns a call of a tool.
func (m *moody) call(name string, args ...any) *genai.FunctionCall {
	m.calls++
	return et.Call(fmt.Sprint("c", m.calls), name, args...)
}
