//go:build unix

package protocol

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
	"gemline/tools/ide/idelab"
)

// inEditor returns the program at a terminal of an editor that has a companion.
func inEditor(t *testing.T, c *idelab.Companion, s *et.Server) teletype.Command {
	t.Helper()
	cmd := pt.Terminal(t, s)
	cmd.Term = "dumb"
	cmd.Env = append(append(cmd.Env, c.Environ(cmd.Dir)...), "TERM_PROGRAM=vscode")
	return cmd
}

// replacing calls for a change of the greeting.
func replacing(id string) et.Reply {
	return et.Says("I mend it.", et.Call(id, "replace", "file_path", "greeting.txt", "instruction", "spell it right", "old_string", "wrld", "new_string", "world"))
}

// until types nothing until something is told, which comes when nobody types.
func until(s *teletype.Session, want string) {
	for range 10_000 {
		if strings.Contains(string(s.Transcript()), want) {
			return
		}
		s.Line("")
		s.Expect("> ")
	}
	s.Expect(want) // which fails
}

// A change is open in the editor and at the terminal, and the first answer counts: accepted
// there, as it was or changed, refused there, or answered here, which takes it out there.
func TestChangesInTheEditor(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "xterm-256color"} {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			companion := idelab.New(t)
			cmd := inEditor(t, companion, et.NewServer(replacing("1"), et.Says("One."), replacing("2"), et.Says("Two."),
				replacing("3"), et.Says("Three."), replacing("4"), et.Says("Four."), replacing("5"), et.Says("Five.")))
			cmd = pt.Configured(t, cmd, `{"ide":{"enabled":true}}`)
			cmd.Term = term
			greeting := filepath.Join(cmd.Dir, "greeting.txt")
			holds := func(want string) {
				t.Helper()
				if b, _ := os.ReadFile(greeting); string(b) != want {
					t.Errorf("the greeting is %q, not %q", b, want)
				}
				pt.Write(t, cmd.Dir, map[string]string{"greeting.txt": "Hello, wrld.\n"})
			}
			s := teletype.Start(t, cmd)
			s.Expect("> ")
			companion.Listened() // nobody has waited for it
			ask := func() idelab.Diff {
				t.Helper()
				s.Line("mend it")
				s.Expect("+Hello, world.")
				s.Expect(pt.Asking)
				d := companion.Opened()
				if d.Path != greeting || d.Content != "Hello, world.\n" {
					t.Errorf("%+v", d)
				}
				return d
			}
			ready := func(said string) {
				t.Helper()
				s.Expect(said)
				s.Expect("done:")
				s.Expect("> ")
			}

			d := ask()
			companion.Accept(d.Path, d.Content)
			s.Expect("accepted in VS Code\r\n")
			ready("One.")
			holds("Hello, world.\n")

			ask()
			companion.Accept(d.Path, "Hello, editor.\n")
			s.Expect("accepted in VS Code, as it was changed there")
			s.Expect("+Hello, editor.") // what is written
			ready("Two.")
			holds("Hello, editor.\n")

			ask()
			companion.Reject(d.Path)
			s.Expect("refused in VS Code")
			ready("Three.")
			holds("Hello, wrld.\n")

			ask()
			s.Line("y")
			if companion.Closed().Path != greeting {
				t.Error("the change stays open")
			}
			ready("Four.")
			holds("Hello, world.\n")

			ask()
			companion.Edit(greeting, "Hello, both.\n")
			s.Line("y")
			s.Expect("it was changed in VS Code meanwhile; this is what would be written now:")
			s.Expect("+Hello, both.") // nobody has seen that here
			s.Expect(pt.Asking)
			companion.Opened()
			s.Line("y")
			ready("Five.")
			holds("Hello, both.\n")
			s.Line("/quit")
			if pt.Succeeds(t, s); term == "dumb" {
				pt.Lint(t, s.Transcript(), teletype.Rules{Quiet: true})
			}
			if strings.Contains(string(s.Transcript()), "^C") {
				t.Error("nobody has typed Ctrl-C")
			}
		})
	}
}

// The model knows what is open: all of it, and then what has changed; /clear has it told
// anew. What is selected in a file of secrets is not sent.
func TestContextOfTheEditor(t *testing.T) {
	t.Parallel()
	companion, server := idelab.New(t), et.NewServer(et.Says("One."), et.Says("Two."), et.Says("Three."), et.Says("A summary."), et.Says("Four."))
	cmd := pt.Configured(t, inEditor(t, companion, server), `{"ide":{"enabled":true}}`)
	at := func(name string) string { return filepath.Join(cmd.Dir, name) }
	companion.Update(map[string]any{"path": at("notes.txt"), "timestamp": 2, "isActive": true, "cursor": map[string]int{"line": 1, "character": 3}, "selectedText": "the milk"},
		map[string]any{"path": "/x\x1b[2Jy", "timestamp": 1})
	s := teletype.Start(t, cmd)
	s.Expect("> ")
	await := func(open string) { // what the editor has said, the program may not have read yet
		for listed := ""; !strings.Contains(listed, open); {
			s.Line("/ide")
			listed = s.Expect("\n> ")
		}
	}
	await("open: notes.txt")
	say := func(line, answer string) {
		t.Helper()
		s.Line(line)
		s.Expect(answer)
		s.Expect("done:")
		s.Expect("> ")
	}
	say("what is this?", "One.")
	say("and now?", "Two.")
	companion.Update(map[string]any{"path": at(".env"), "timestamp": 3, "isActive": true, "selectedText": "PASSPHRASE=hidden"})
	await("open: .env, where you are; the model does not see your selection")
	say("and here?", "Three.")
	s.Line("/clear")
	s.Expect("> ")
	say("once more", "Four.")
	pt.Leave(t, s, teletype.Rules{Quiet: true})
	requests := pt.Streamed(server)
	if len(requests) != 4 {
		t.Fatalf("%d requests", len(requests))
	}
	body := func(i int) string { return strings.ReplaceAll(string(requests[i].Body), `\\\"`, `"`) }
	for i, want := range [][]string{
		{"What the user has open in the editor", "the milk", "notes.txt", "/x"},
		{"What the user has open in the editor"},
		{"What has changed in the user's editor", "filesClosed"},
		{"What the user has open in the editor", "activeFile"},
	} {
		for _, w := range want {
			if !strings.Contains(body(i), w) {
				t.Errorf("request %d lacks %q: %s", i+1, w, body(i))
			}
		}
		if strings.Contains(body(i), "hidden") {
			t.Errorf("request %d has the secret", i+1)
		}
	}
	if n := strings.Count(body(1), "the user has open"); n != 1 || strings.Contains(body(1), "has changed in the") {
		t.Errorf("told %d times: %s", n, body(1))
	}
	if strings.Contains(body(3), "the milk") || strings.Contains(body(3), "has changed in the") {
		t.Errorf("of another conversation: %s", body(3))
	}
}

// stubborn is a companion that is started as a program: it accepts each change as another one,
// or answers nothing if it is told so, and ends only if it has to.
const stubborn = `trap '' TERM HUP
echo $$ >>pids
[ "$1" = mute ] && while :; do sleep 1; done
say() { printf '{"jsonrpc":"2.0",%s}\n' "$1"; }
while IFS= read -r line; do
	id='"id":'$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
	case $line in
	*'"method":"initialize"'*) say "$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"ed","version":"1"}}';;
	*'"method":"notifications/initialized"'*) say '"method":"ide/contextUpdate","params":{"workspaceState":{"openFiles":[{"path":"/seen.go","timestamp":1}]}}';;
	*'"name":"openDiff"'*)
		say "$id"',"result":{"content":[]}'
		say '"method":"ide/diffAccepted","params":{"filePath":"'"$PWD"'/greeting.txt","content":"Hello, you.\n"}';;
	esac
done
while :; do sleep 1; done
`

// A companion that is a program is started, talked with and ended, also if it never answers.
func TestIDEProgram(t *testing.T) {
	t.Parallel()
	for _, mute := range []bool{false, true} {
		cmd := pt.Configured(t, pt.Terminal(t, et.NewServer(replacing("1"), et.Says("One."))), `{"ide":{"enabled":true}}`)
		pt.Write(t, cmd.Dir, map[string]string{"ed.sh": stubborn})
		cmd.Term = "dumb"
		cmd.Env = append(cmd.Env, "TERM_PROGRAM=vscode", "GEMINI_CLI_IDE_WORKSPACE_PATH="+cmd.Dir,
			"GEMINI_CLI_IDE_SERVER_STDIO_COMMAND=sh", `GEMINI_CLI_IDE_SERVER_STDIO_ARGS=["ed.sh"]`)
		if mute {
			cmd.Env = append(cmd.Env, `GEMINI_CLI_IDE_SERVER_STDIO_ARGS=["ed.sh", "mute"]`)
		}
		s := teletype.Start(t, cmd)
		s.Expect("> ") // nothing waits for it
		if mute {
			for _, err := os.Stat(filepath.Join(cmd.Dir, "pids")); err != nil; _, err = os.Stat(filepath.Join(cmd.Dir, "pids")) {
				s.Line("/ide")
				s.Expect("> ")
			}
			s.Line("")
		} else {
			s.Line("/ide enable")
			s.Expect("connected to VS Code")
			s.Expect("> ")
			for !strings.Contains(string(s.Transcript()), "open: /seen.go") { // which comes by itself
				s.Line("/ide")
				s.Expect("> ")
			}
			s.Line("mend it")
			s.Expect("accepted in VS Code, as it was changed there")
			s.Expect("One.")
			if b, _ := os.ReadFile(filepath.Join(cmd.Dir, "greeting.txt")); string(b) != "Hello, you.\n" {
				t.Errorf("the greeting is %q", b)
			}
		}
		s.Expect("> ")
		pt.Leave(t, s, teletype.Rules{Quiet: true})
		b, err := os.ReadFile(filepath.Join(cmd.Dir, "pids"))
		if err != nil {
			t.Fatal(err)
		}
		for _, pid := range strings.Fields(string(b)) {
			if n, _ := strconv.Atoi(pid); !errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
				t.Errorf("mute %v: the companion is left running", mute)
				syscall.Kill(n, syscall.SIGKILL)
			}
		}
	}
}

// /ide says how things stand, connects, and ends the connection, in this session and in
// those that follow. An editor that goes away is one line.
func TestIDECommand(t *testing.T) {
	t.Parallel()
	companion := idelab.New(t)
	cmd := inEditor(t, companion, et.NewServer())
	s := teletype.Start(t, cmd)
	s.Expect("> ")
	say := func(line, want string) {
		t.Helper()
		s.Line(line)
		s.Expect(want)
		s.Expect("> ")
	}
	say("/ide", "not connected to VS Code; /ide enable connects")
	say("/ide install", "--install-extension google.gemini-cli-vscode-ide-companion")
	if asked := companion.Asked(); len(asked) > 0 {
		t.Errorf("asked unasked: %v", asked)
	}
	say("/ide enable", "connected to VS Code")
	say("/ide disable", "not connected to VS Code; /ide enable connects")
	say("/ide enable", "connected to VS Code")
	companion.Close()
	until(s, "info: VS Code is no longer there")
	say("/ide status", "not connected: VS Code is no longer there")
	say("/ide enable", "no connection to VS Code")
	if text := pt.Leave(t, s, teletype.Rules{}); strings.Count(text, "info: VS Code is no longer there") != 1 {
		t.Errorf("%s", text)
	}
	failing := func(want string) {
		t.Helper()
		s := teletype.Start(t, cmd)
		s.Expect("> ")
		until(s, want)
		pt.Leave(t, s, teletype.Rules{Quiet: true})
	}
	failing("info: no connection to VS Code: ") // since it stays switched on
	cmd.Env = append(cmd.Env, "GEMINI_CLI_IDE_WORKSPACE_PATH=/elsewhere")
	failing("VS Code has /elsewhere open, and gemline works in ")
	cmd.Env = append(cmd.Env, "TERM_PROGRAM=", "GEMINI_CLI_IDE_SERVER_PORT=")
	s = teletype.Start(t, cmd) // in a terminal of no editor nothing is said or done
	s.Expect("> ")
	if n := len(s.Transcript()); n > 200 {
		t.Errorf("%d bytes: %q", n, s.Transcript())
	}
	s.Line("/ide")
	s.Expect("not connected: this terminal belongs to no editor with a companion")
	pt.Leave(t, s, teletype.Rules{Quiet: true})
}
