package terminal

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// editProposal has the user change the first proposal of [work] in an editor, which
// makes another word of it, and allow that.
func editProposal(t *testing.T, c teletype.Command) {
	t.Helper()
	s := teletype.Start(t, c)
	s.Say("mend it")
	s.Expect(pt.Asking)
	s.Line("e")
	s.Expect("+Hello, reader.")
	s.Expect(pt.Asking)
	s.Line("yes")
	s.Expect("Fine.")
	s.Expect("> ")
	s.Send("\x04")
	pt.Succeeds(t, s)
	if b, _ := os.ReadFile(filepath.Join(c.Dir, "greeting.txt")); string(b) != "Hello, reader.\n" {
		t.Errorf("the greeting is %q", b)
	}
}

// What the user makes of a proposal in an editor is shown and asked about
// again, and it is what runs and what the model reads.
func TestEditedProposal(t *testing.T) {
	t.Parallel()
	server := et.NewServer(pt.Work()[0], et.Says("Fine."))
	c := pt.Terminal(t, server)
	c.Env = append(c.Env, "EDITOR=sed -i s/world/reader/")
	editProposal(t, c)
	if !bytes.Contains(server.Requests()[1].Body, []byte("reader")) {
		t.Error("the model does not know what was written")
	}
}

// The editor that the settings name beats the one of the environment.
func TestPreferredEditor(t *testing.T) {
	t.Parallel()
	server := et.NewServer(pt.Work()[0], et.Says("Fine."))
	c := pt.Terminal(t, server)
	bin, home := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "code"), []byte("#!/bin/sh\ntest \"$1\" = --wait && shift\ntest \"$1\" = --new-window && shift\nsed -i s/world/reader/ \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, ".gemini"), 0o700); err != nil {
		t.Fatal(err)
	}
	const text = `{"general": {"preferredEditor": "vscode", "openEditorInNewWindow": true}}`
	if err := os.WriteFile(filepath.Join(home, ".gemini", "settings.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Env = append(c.Env, "EDITOR=false", "VISUAL=false", "GEMINI_CLI_HOME="+home, "PATH="+bin+":"+os.Getenv("PATH"))
	editProposal(t, c)
}

// Where no editor is named, the first of the usual ones is it; where there is
// none, it is not offered.
func TestUsualEditor(t *testing.T) {
	t.Parallel()
	for _, there := range []string{"ed vim", "sensible-editor nano", ""} {
		t.Run(there, func(t *testing.T) {
			server := et.NewServer(pt.Work()[0], et.Says("Fine."))
			c := pt.Terminal(t, server)
			bin := t.TempDir()
			for i, name := range strings.Fields(there) {
				script := "#!/bin/sh\n/bin/sed -i s/world/" + name + "/ \"$1\"\n"
				if i == 0 && name == "ed" {
					script = "#!/bin/sh\nexit 1\n" // comes last
				}
				if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			c.Env = append(c.Env, "PATH="+bin)
			s := teletype.Start(t, c)
			s.Say("mend it")
			question := s.Match(`y n [^\n]*\): `)
			if got := strings.Contains(question, " e ? ("); got != (there != "") {
				t.Errorf("offered: %v", got)
			}
			switch there {
			case "":
				s.Line("n")
				s.Expect("Fine.")
				s.Say("/editor")
				s.Expect("no editor was found")
			case "ed vim":
				s.Line("e")
				s.Expect("+Hello, vim.")
				s.Expect(pt.Asking)
				s.Line("y")
				s.Expect("Fine.")
			default:
				s.Line("e")
				s.Expect("+Hello, sensible-editor.")
				s.Expect(pt.Asking)
				s.Line("y")
				s.Expect("Fine.")
			}
			s.Expect("> ")
			s.Send("\x04")
			s.Exit()
		})
	}
}

// What a session's line editor is given: an editor, what was typed in sessions
// before, and names to complete.
func TestEditorHistoryAndCompletion(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("One."), et.Says("Two."), et.Says("Three."))
	c := pt.Terminal(t, server)
	script := filepath.Join(t.TempDir(), "ed")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nprintf 'two\\nlines\\n' >>\"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.Term, c.Env = "xterm", append(c.Env, "EDITOR="+script)
	s := teletype.Start(t, c)
	s.Say("/editor begun")
	s.Expect("One.")
	s.Say("remember this")
	s.Expect("Two.")
	s.Expect("> ")
	pt.Leave(t, s, teletype.Rules{Smart: true})
	if !strings.Contains(string(server.Requests()[0].Body), `begun`+`two\nlines`) {
		t.Errorf("the editor's text is not in %s", server.Requests()[0].Body)
	}
	s = teletype.Start(t, c)
	s.Expect("> ")
	s.Send("/acc\t")
	s.Expect("/accessible ")
	s.Send("\r")
	s.Expect("screen reader mode: off")
	s.Expect("> ")
	s.Send("look at @notes\t")
	s.Expect("@notes.txt ")
	s.Send("\x15\x1b[A\x1b[A\x1b[A") // past /accessible and /quit
	s.Expect("remember this")
	s.Send("\r")
	s.Expect("Three.")
	s.Expect("> ")
	pt.Leave(t, s, teletype.Rules{Smart: true})
	if !strings.Contains(string(server.Requests()[2].Body), "remember this") {
		t.Error("the line of before was not sent")
	}
}
