//go:build unix

package terminal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// inEmacs runs c in a comint buffer of Emacs, which waits for texts and sends
// lines in turn, and returns what the buffer holds at the end.
func inEmacs(t *testing.T, c teletype.Command, steps ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), pt.Need(t, "emacs"), "--batch", "--no-site-file", "--quick", "--load", "commands/program/acceptance/testdata/emacs/session.el")
	cmd.Env = append(c.Env, "LC_ALL=C.UTF-8", "STEPS="+strings.Join(steps, "\n"),
		"COMMAND=env\n-C\n"+c.Dir+"\n"+strings.Join(append([]string{c.Path}, c.Args...), "\n"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("emacs: %v:\n%s", err, out)
	}
	return string(out)
}

// A whole session in Emacs: its prompt is one that comint knows, what is sent
// stands in the buffer once, and all else is text.
func TestSessionInEmacs(t *testing.T) {
	t.Parallel()
	server := et.NewServer(pt.Work()...)
	c := pt.Terminal(t, server)
	var steps []string
	wait := ""
	pt.Converse(func(line string) { steps = append(steps, wait+"\t"+line); wait = "" },
		func(string) { steps = append(steps, wait+"\tC-c"); wait = "" },
		func(text string) string {
			if wait != "" {
				steps = append(steps, wait)
			}
			wait = text
			return ""
		})
	buffer := inEmacs(t, c, steps...)
	pt.CheckWork(t, c, server)
	pt.CheckPlain(t, []byte(buffer))
	if n := strings.Count(buffer, `prompt "> "`); n != 6 {
		t.Errorf("comint knows %d of 6 prompts", n)
	}
	for _, line := range []string{"mend it", "n because I still need them", "what does @notes.txt say?", "/stats"} {
		if n := strings.Count(buffer, line+"\n"); n != 1 {
			t.Errorf("%q stands there %d times", line, n)
		}
	}
	if !strings.HasSuffix(buffer, "exit 0\n") {
		t.Error("the exit code is another")
	}
	if t.Failed() {
		t.Log(buffer)
	}
}

// Emacs knows a question for a key as one for a password, and hides what is
// typed.
func TestKeyInEmacs(t *testing.T) {
	t.Parallel()
	c := pt.Terminal(t, et.NewServer())
	c.Args = []string{"auth", "signin"}
	buffer := inEmacs(t, c, ": ")
	if !strings.Contains(buffer, "\nasked \"") || strings.Contains(buffer, "a-secret-key") || !strings.Contains(buffer, "exit 0\n") {
		t.Errorf("the key is not asked for unseen:\n%s", buffer)
	}
	home := filepath.Join(filepath.Dir(c.Dir), "home")
	found := false
	filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), "a-secret-key") {
			found = true
		}
		return nil
	})
	if !found {
		t.Log("the key is kept in another form") // encrypted, for example
	}
}

// A block that is sent in Emacs is one request.
func TestPasteInEmacs(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("One."), et.Says("Two."))
	c := pt.Terminal(t, server)
	block := pt.Traceback(50)
	buffer := inEmacs(t, c, "> \t"+strings.ReplaceAll(block, "\n", "<RET>"), "50 lines pasted, sent as one", "One.", "done:", "> \ttyped", "Two.", "done:", "> \t/quit")
	pt.CheckPaste(t, server, block, "typed")
	if !strings.HasSuffix(buffer, "exit 0\n") {
		t.Error(buffer)
	}
}
