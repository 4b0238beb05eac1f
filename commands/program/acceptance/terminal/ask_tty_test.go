//go:build unix

package terminal

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// In a pipeline, questions go to the terminal with --ask-tty, and the answer
// alone to standard output.
func TestAskTTY(t *testing.T) {
	t.Parallel()
	s := et.NewServer(
		et.Says("First.", et.Call("1", "run_shell_command", "command", "rm notes.txt")),
		et.Says("Then.", et.Call("2", "run_shell_command", "command", "rm greeting.txt")),
		et.Says("Done."))
	c := pt.Terminal(t, s)
	// The shell stays: what the leader of a session writes last, the kernel may
	// drop with the terminal.
	self, args := c.Path, strings.Join(c.Args, " ")
	c.Path, c.Args = "/bin/sh", []string{"-c", "echo data | " + self + " " + args + " --ask-tty -p tidy -o json 2>errors | cat >out; echo ended; read -r x"}
	term := teletype.Start(t, c)
	term.Expect("permission: ")
	term.Expect(pt.Asking)
	term.Line("n keep it")
	term.Expect("rm greeting.txt")
	term.Expect(pt.Asking)
	term.Line("y")
	term.Expect("ended")
	var r struct {
		ExitCode int `json:"exit_code"`
		Response string
	}
	out, err := os.ReadFile(filepath.Join(c.Dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &r); err != nil || r.ExitCode != 0 || !strings.Contains(r.Response, "Done.") {
		t.Errorf("%v: %s", err, out)
	}
	for name, want := range map[string]bool{"notes.txt": true, "greeting.txt": false} {
		if _, err := os.Stat(filepath.Join(c.Dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := pt.AnswerOf(t, s, "run_shell_command"); strings.Contains(got, "non-interactive") {
		t.Errorf("the model was told %s", got)
	}
	if got := string(term.Transcript()); strings.Contains(got, "Done.") {
		t.Errorf("the answer is on the terminal:\n%s", got)
	}
}

// Ctrl-C at the question ends the run with its record.
func TestAskTTYInterrupted(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.Says("First.", et.Call("1", "run_shell_command", "command", "rm notes.txt")))
	c := pt.Terminal(t, s, "--ask-tty", "-p", "tidy", "-o", "json")
	c.Path, c.Args = "/bin/sh", append([]string{"-c", `trap : INT; "$@" >out 2>errors; echo code $?; read -r x`, "sh", c.Path}, c.Args...)
	term := teletype.Start(t, c)
	term.Expect(pt.Asking)
	term.Send("\x03")
	term.Expect("code 130")
	if out, err := os.ReadFile(filepath.Join(c.Dir, "out")); err != nil || !strings.Contains(string(out), `"termination_reason": "sigint"`) {
		t.Errorf("%v: %s", err, out)
	}
}

// Where there is no terminal, that is said before anything is sent.
func TestAskTTYWithoutTerminal(t *testing.T) {
	t.Parallel()
	s := et.NewServer()
	t.Cleanup(s.Close)
	var out, errs strings.Builder
	cmd := pt.Headless(t, s, t.TempDir(), &out, &errs, "--ask-tty", "-p", "hi")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 42 || errs.String() != "error: --ask-tty: there is no terminal to ask at\n" || out.Len() > 0 {
		t.Errorf("%v, code %d: %q, %q", err, code, out.String(), errs.String())
	}
	if n := len(s.Requests()); n > 0 {
		t.Errorf("%d requests", n)
	}
}

// With --no-input a terminal is no reason to ask.
func TestNoInput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		replies []et.Reply
		args    []string
		shows   string
		code    int
	}{
		"a call":    {[]et.Reply{et.Says("First.", et.Call("1", "run_shell_command", "command", "rm notes.txt")), et.Says("Kept.")}, []string{"tidy"}, "Kept.", 0},
		"no prompt": {nil, nil, "error: no prompt", 42},
		"a secret":  {nil, []string{"auth", "set-key"}, "error: no key on standard input", 41},
	} {
		t.Run(name, func(t *testing.T) {
			c2 := pt.Terminal(t, et.NewServer(c.replies...), append([]string{"--no-input"}, c.args...)...)
			term := teletype.Start(t, c2)
			if code := term.Exit(); code != c.code {
				t.Errorf("code %d", code)
			}
			if got := string(term.Transcript()); !strings.Contains(got, c.shows) || strings.Contains(got, pt.Asking) {
				t.Errorf("the terminal has seen %q", got)
			}
			if _, err := os.Stat(filepath.Join(c2.Dir, "notes.txt")); err != nil {
				t.Error(err)
			}
		})
	}
}
