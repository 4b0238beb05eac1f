package terminal

import (
	"regexp"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A question costs at most three lines of a usual terminal, be it the first of
// its session, and its choices are one of them. A diff stands above it.
func TestQuestionsAreShort(t *testing.T) {
	t.Parallel()
	const long = "internal/storage/migrations/2024_add_index.go"
	for name, test := range map[string]struct {
		tool  string
		args  []any
		setup map[string]string
		after string // what is answered to a question before this one, and what it says
	}{
		"a command":                     {tool: "run_shell_command", args: []any{"command", "rm notes.txt"}},
		"with a sub-command":            {tool: "run_shell_command", args: []any{"command", "go test ./..."}},
		"with a long beginning":         {tool: "run_shell_command", args: []any{"command", "/usr/local/lib/very/long/path/to/a/program build everything"}},
		"in another directory":          {tool: "run_shell_command", args: []any{"command", "touch x", "dir_path", "sub"}, setup: map[string]string{"sub/x": ""}},
		"a chain":                       {tool: "run_shell_command", args: []any{"command", "cd sub && go build ./... && go test ./... | tail -n 20"}, setup: map[string]string{"sub/x": ""}},
		"for the network":               {tool: "run_shell_command", args: []any{"command", "npm install"}},
		"in the background":             {tool: "run_shell_command", args: []any{"command", "sleep 100", "is_background", true}},
		"after a refusal":               {tool: "run_shell_command", args: []any{"command", "touch ../x"}, after: "n not there"},
		"after it failed":               {tool: "run_shell_command", args: []any{"command", "curl -s https://example.com/"}, after: "y"},
		"an edit":                       {tool: "replace", args: []any{"file_path", "greeting.txt", "instruction", "spell it right", "old_string", "wrld", "new_string", "world"}},
		"an edit of a long name":        {tool: "replace", args: []any{"file_path", long, "instruction", "x", "old_string", "a", "new_string", "b"}, setup: map[string]string{long: "a\n"}},
		"a new file":                    {tool: "write_file", args: []any{"file_path", "new.txt", "content", "one\ntwo\n"}},
		"a page":                        {tool: "web_fetch", args: []any{"prompt", "sum up https://go.dev/doc/effective_go"}},
		"a secret":                      {tool: "read_file", args: []any{"file_path", ".env"}, setup: map[string]string{".env": "A=b\n"}},
		"a secret of a long name":       {tool: "read_file", args: []any{"file_path", "internal/storage/testdata/certificates/server.key"}, setup: map[string]string{"internal/storage/testdata/certificates/server.key": "x\n"}},
		"a command that reads a secret": {tool: "run_shell_command", args: []any{"command", "cat .env"}, setup: map[string]string{".env": "A=b\n"}},
	} {
		for mode, env := range map[string]string{"smart": "TERM=xterm", "plain": "TERM=dumb", "accessible": "ACCESSIBLE=1"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				if test.after == "y" {
					pt.Need(t, "curl")
				}
				call := et.Says("", et.Call("", test.tool, test.args...))
				server := et.NewServer(call, et.Says("So be it."))
				c := pt.Terminal(t, server)
				pt.Confining(t, c)
				pt.Write(t, c.Dir, test.setup)
				c.Env = append(c.Env, env)
				if mode == "smart" {
					c.Term = "xterm"
				}
				asking := pt.Asking
				if mode == "accessible" {
					asking = pt.AskingAloud
				}
				s := teletype.Start(t, c)
				s.Say("go on")
				if test.after != "" {
					s.Expect(asking)
					s.Expect(": ")
					if s.Line(test.after); test.after[0] == 'n' {
						s.Expect("So be it.")
						s.Match(pt.Prompting)
						server.Add(call, et.Says("So be it."))
						s.Line("try again")
					}
				}
				s.Expect(asking)
				s.Match(`: $`)
				checkQuestion(t, string(pt.Own.ReplaceAll(s.Transcript(), nil)))
			})
		}
	}
}

// What is not a part of a question: what stands above it, the lines of a change,
// and what a slow machine says.
var (
	before      = regexp.MustCompile(`(?s).*(> (go on|try again)|\?[^\n]*: y)\r\n`)
	changedLine = regexp.MustCompile(`(?m)^([-+]|@@|added:|removed:|unchanged:|progress:).*\r\n`)
)

// checkQuestion checks that the question with which shown ends is short.
func checkQuestion(t *testing.T, shown string) {
	t.Helper()
	shown = changedLine.ReplaceAllString(before.ReplaceAllString(shown, ""), "")
	const columns, answer = 80, 2
	n := 0
	lines := strings.Split(shown, "\r\n")
	for i, l := range lines {
		width := displaywidth.String(l)
		n += 1 + (width-1)/columns
		if last := i == len(lines)-1; last && (width > columns-answer || !strings.HasPrefix(l, pt.Asking) && !strings.HasPrefix(l, pt.AskingAloud)) {
			t.Errorf("the choices are %d columns wide:\n%s", width, l)
		}
	}
	if n > 3 {
		t.Errorf("the question costs %d lines:\n%s", n, shown)
	}
}
