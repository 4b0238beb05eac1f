//go:build unix

package sessions

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// What the Gemini CLI has kept before a call is gone back to, and so is the question that
// led to a call, with the files.
func TestRestored(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	server := et.NewServer(et.Says("Here it is."), et.Says("", et.Call("1", "write_file", "file_path", "notes.txt", "content", "new")), et.Says("Written."), et.Says("Fine."))
	c := pt.Terminal(t, server, "--approval-mode", "auto_edit")
	home := filepath.Join(filepath.Dir(c.Dir), "home")
	kept := filepath.Join(home, ".gemini", "history", "project", ".git")
	pt.Write(t, filepath.Dir(kept), nil)
	var commit string
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "Snapshot"}, {"rev-parse", "HEAD"}} {
		cmd := exec.Command("git", append([]string{"--git-dir", kept, "--work-tree", c.Dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		commit = strings.TrimSpace(string(out))
	}
	const name = "2026-11-24T06-03-29_190Z-greeting.txt-replace"
	pt.Write(t, filepath.Join(home, ".gemini", "tmp", "project"), map[string]string{"checkpoints/" + name + ".json": `{"history":[],"clientHistory":[{"role":"user","parts":[{"text":"mend the greeting"}]},` +
		`{"role":"model","parts":[{"functionCall":{"name":"replace","args":{"file_path":"greeting.txt"}}}]}],"toolCall":{"name":"replace","args":{}},"commitHash":"` + commit + `","messageId":"x"}`})
	pt.Write(t, c.Dir, map[string]string{"greeting.txt": "spoilt", "more.txt": "more"})
	s := teletype.Start(t, c)
	s.Say("/restore")
	s.Expect("Available tool calls to restore:")
	s.Expect(name)
	s.Say("/restore " + name)
	s.Expect("overwrite what others have changed in 2 files, too?")
	s.Expect("y or n: ")
	s.Line("y")
	s.Expect("went back to " + name)
	s.Expect("not made yet: the call of replace")
	content := func(file, want string) {
		t.Helper()
		if b, _ := os.ReadFile(filepath.Join(c.Dir, file)); string(b) != want {
			t.Errorf("%s holds %q, want %q", file, b, want)
		}
	}
	content("greeting.txt", "Hello, wrld.\n")
	content("more.txt", "")
	s.Say("go on")
	s.Expect("Here it is.")
	if got := lastSaid(server); !strings.Contains(got, "mend the greeting") || !strings.Contains(got, "go on") {
		t.Errorf("the model was told:\n%s", got)
	}

	s.Say("write the notes anew")
	s.Expect("Written.")
	content("notes.txt", "new")
	s.Say("/rewind 99")
	s.Expect("there is no question 99; /rewind lists 3")
	s.Say("/restore 99")
	s.Expect("there is no call 99; /restore lists 1")
	s.Say("/restore 1")
	s.Expect("take back the question, too, and all messages since: write the notes anew?")
	s.Expect("y or n: ")
	s.Line("y")
	s.Expect("the conversation goes on before: write the notes anew")
	content("notes.txt", "Remember the milk.\n")
	s.Say("something else")
	s.Expect("Fine.")
	if got := lastSaid(server); strings.Contains(got, "write the notes anew") || !strings.Contains(got, "mend the greeting") {
		t.Errorf("the model was told:\n%s", got)
	}
	s.Say("/quit")
}

// What is brought back out of the trash is taken back by /undo, like what a turn has done;
// what others have changed is named when it is overwritten.
func TestTrashInside(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("", et.Call("1", "write_file", "file_path", "greeting.txt", "content", "Hi.\n")), et.Says("Written."))
	c := pt.Terminal(t, server, "--approval-mode", "auto_edit")
	pt.Write(t, c.Dir, map[string]string{"my notes.txt": "mine\n"})
	s := teletype.Start(t, c)
	holds := func(file, want string) {
		t.Helper()
		if b, err := os.ReadFile(filepath.Join(c.Dir, file)); string(b) != want {
			t.Errorf("%s holds %q, want %q (%v)", file, b, want, err)
		}
	}
	s.Say("greet shorter")
	s.Expect("Written.")
	s.Say("/trash restore none")
	s.Expect("none was not deleted or overwritten by a call; /trash list lists the files that were")
	s.Say("/trash restore greeting.txt --to my notes.txt")
	s.Expect("overwrite my notes.txt (now 1 line) with greeting.txt as it was until ")
	s.Expect("y or n: ")
	s.Line("y")
	s.Expect("brought back my notes.txt; /undo takes that back")
	s.Expect("> ")
	holds("my notes.txt", "Hello, wrld.\n")
	s.Line("/trash")
	s.Expect("1: my notes.txt, overwritten ")
	s.Expect("> ")
	s.Line("/undo")
	s.Expect("took back: trash restore greeting.txt --to my notes.txt (1 file)")
	s.Expect("> ")
	holds("my notes.txt", "mine\n")
	s.Line("/redo")
	s.Expect("done again (1 file)")
	s.Say("/undo")
	s.Expect("(1 file)")
	s.Expect("> ")
	pt.Write(t, c.Dir, map[string]string{"greeting.txt": "theirs\n"})
	s.Line("/undo")
	s.Expect("overwrite what others have changed in 1 file, too?")
	s.Expect("y or n: ")
	s.Line("y")
	s.Expect("  restore greeting.txt")
	s.Expect("took back: greet shorter (1 file)")
	s.Expect("> ")
	holds("greeting.txt", "Hello, wrld.\n")
	pt.Leave(t, s, teletype.Rules{})
	if said := pt.Printed(t, c, "sessions", "show", "latest"); !strings.Contains(said, "\nnote:\n  The user has changed files back") || strings.Contains(said, "<note>") {
		t.Errorf("the session is shown as\n%s", said)
	}
}

// What a command had done when gemline was killed is taken back when the session is gone on
// with, once the user agrees: others may have done some of it.
func TestKilledCommandTakenBack(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("", et.Call("1", "write_file", "file_path", "greeting.txt", "content", "Hi.\n")),
		pt.Runs("2", "rm notes.txt; echo removed; exec sleep 300"))
	c := pt.Terminal(t, server, "--approval-mode", "yolo", "--detail", "full")
	s := teletype.Start(t, c)
	s.Say("clean up")
	s.Expect("\n  removed")
	s.Signal(syscall.SIGKILL)
	s.Exit()
	if _, err := os.Stat(filepath.Join(c.Dir, "notes.txt")); err == nil {
		t.Error("nothing was removed")
	}
	c.Args = append(c.Args, "--resume", "latest")
	s = teletype.Start(t, c)
	s.Say("/changes")
	s.Expect("deleted notes.txt")
	s.Say("/undo")
	s.Expect("left as they are unless you say so: notes.txt")
	s.Expect("y or n: ")
	s.Line("y")
	s.Expect("took back: clean up (2 files)")
	pt.Leave(t, s, teletype.Rules{})
	for name, want := range map[string]string{"greeting.txt": "Hello, wrld.\n", "notes.txt": "Remember the milk.\n"} {
		if b, err := os.ReadFile(filepath.Join(c.Dir, name)); err != nil || string(b) != want {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}
}

// A session that the Gemini CLI has written is gone back in.
func TestRewoundOriginal(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("Fine."))
	c := pt.Terminal(t, server)
	const name = "session-2026-11-24T06-04-5160dc07.jsonl"
	b, err := os.ReadFile("commands/program/acceptance/sessions/sessions_original.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(string(b), name+" --\n")
	lines, _, _ = strings.Cut(lines, "\n-- ")
	chats := filepath.Join(filepath.Dir(c.Dir), "home", ".gemini", "tmp", "project", "chats")
	pt.Write(t, chats, map[string]string{name: lines})
	c.Args = append(c.Args, "--resume", "latest")
	s := teletype.Start(t, c)
	s.Say("/rewind")
	s.Expect("1: please read the file greeting.txt (no files changed)")
	s.Say("/rewind 1 conversation")
	s.Expect("the conversation goes on before: please read the file greeting.txt")
	s.Line("")
	s.Say("something else")
	s.Expect("Fine.")
	if got := lastSaid(server); strings.Contains(got, "please read") || !strings.Contains(got, "something else") {
		t.Errorf("the model was told:\n%s", got)
	}
	if b, err := os.ReadFile(filepath.Join(chats, name)); err != nil || !strings.HasPrefix(string(b), strings.TrimSuffix(lines, "\n")) {
		t.Errorf("what was there has changed: %v", err)
	}
	s.Say("/quit")
}
