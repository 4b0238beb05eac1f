//go:build unix

package sessions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// said reports what the last request to a server holds.
func lastSaid(server *et.Server) string {
	rs := server.Requests()
	var b strings.Builder
	for _, c := range rs[len(rs)-1].Contents() {
		for _, p := range c.Parts {
			b.WriteString(p.Text + "\n")
		}
	}
	return b.String()
}

// Another session is gone on with inside of one: by its number in a list, its name, or
// what was said in it. A copy leaves the session alone that it is one of.
func TestResumeInside(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "xterm"} {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			server := et.NewServer(et.Says("Apples it is."), et.Says("Pears it is."), et.Says("Back with apples."), et.Says("Pears once more."),
				et.Says("The copy says so."), et.Says("Apples alone."))
			c := pt.Terminal(t, server)
			c.Env = append(c.Env, "TERM="+term)
			s := teletype.Start(t, c)
			s.Say("remember apples")
			s.Expect("Apples it is.")
			s.Say("/name Fruit work")
			s.Expect("name: Fruit work")
			s.Say("/clear")
			s.Expect("A new session begins")
			s.Say("remember pears")
			s.Expect("Pears it is.")
			s.Say("/name fruit WORK")
			s.Expect("session 1 is called so already")

			s.Say("/resume")
			s.Expect("  1 Fruit work (Just now) [")
			s.Expect("  2 remember pears (Just now, current) [")
			s.Expect("newest")
			s.Expect("resume which session? 1 to 2, Enter for none: ")
			s.Line("7")
			s.Expect("there is no choice 7")
			s.Expect("Enter for none: ")
			s.Line("1")
			s.Expect("info: resumed: Fruit work (just now, 1 turn)")
			s.Expect("you: remember apples")
			s.Expect("Apples it is.")
			s.Say("go on")
			s.Expect("Back with apples.")
			if got := lastSaid(server); !strings.Contains(got, "remember apples") || strings.Contains(got, "pears") {
				t.Errorf("the model was told:\n%s", got)
			}

			s.Say("/resume PEARS it")
			s.Expect("info: resumed: remember pears (just now, 1 turn)")
			s.Say("once more")
			s.Expect("Pears once more.")

			s.Say("/resume fruit work")
			s.Expect("info: resumed: Fruit work (just now, 2 turns)")
			s.Say("/fork")
			s.Expect("info: resumed: Fruit work (just now, 2 turns)")
			s.Expect("; the original stays (/resume ")
			s.Say("in the copy")
			s.Expect("The copy says so.")
			s.Say("/fork 1")
			s.Expect("info: resumed: ")
			s.Expect("1 turn)")
			s.Say("after one turn")
			s.Expect("Apples alone.")
			if got := lastSaid(server); !strings.Contains(got, "Apples it is.") || strings.Contains(got, "Back with apples") {
				t.Errorf("the model was told:\n%s", got)
			}
			s.Say("/fork 9")
			s.Expect("there is no turn 9: that session has 2")
			s.Say("/resume nothing like it")
			s.Expect("no other in which that was said")
			s.Say("/resume apples IT")
			s.Expect("  1 Fruit work (Just now) [")
			s.Expect("turn 1, gemini: Apples it is.")
			s.Expect("Enter for none: ")
			s.Line("")
			s.Say("/resume pears REMEMBER")
			s.Expect("info: resumed: remember pears")
			s.Say("/resume")
			s.Expect("fork of ")
			s.Expect("Enter for none: ")
			s.Line("")
			s.Say("/quit")
			s.Exit()
			files, err := filepath.Glob(filepath.Join(pt.HomeOf(c), ".gemini/tmp/*/chats/session-*.jsonl"))
			if err != nil || len(files) != 4 {
				t.Errorf("sessions: %v, %v", files, err)
			}
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				apples, pears := strings.Contains(string(b), "Apples it is"), strings.Contains(string(b), "Pears it is")
				if apples == pears {
					t.Errorf("%s mixes two conversations:\n%s", f, b)
				}
			}
		})
	}
}

// Where changes can't be recorded, /changes, /diff and /undo say why.
func TestUnrecordedChanges(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("", et.Call("1", "write_file", "file_path", "greeting.txt", "content", "Hi.\n")), et.Says("Written."))
	c := pt.Terminal(t, server, "--approval-mode", "auto_edit")
	pt.Write(t, pt.HomeOf(c), map[string]string{".gemini/history": "a file"})
	s := teletype.Start(t, c)
	s.Say("/changes")
	s.Expect("this session has changed no files")
	s.Say("greet shorter")
	s.Expect("what follows can't be taken back")
	s.Expect("Written.")
	for _, command := range []string{"/changes", "/diff", "/undo"} {
		s.Say(command)
		s.Expect("error: changes of files could not be recorded: no checkpoint can be made: ")
	}
	s.Say("/quit")
	s.Exit()
}

// A copy of a session, however it is made, knows what that one has changed, and takes it
// back. It is kept, though nothing is said in it.
func TestCopyKnowsFiles(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("", et.Call("1", "write_file", "file_path", "greeting.txt", "content", "Hi.\n")), et.Says("Written."),
		et.Says("Elsewhere."), et.Says("Onwards."))
	c := pt.Terminal(t, server, "--approval-mode", "auto_edit")
	s := teletype.Start(t, c)
	s.Say("greet shorter")
	s.Expect("Written.")
	s.Say("/name Greeting")
	s.Say("/chat save short")
	s.Expect("saved as short")
	s.Say("/fork")
	s.Expect("; the original stays (/resume ")
	s.Say("/changes")
	s.Expect("changed greeting.txt (+1 -1)")
	s.Say("/rewind")
	s.Expect("1: greet shorter (1 file, +1 -1)")
	s.Say("/diff")
	s.Expect("+Hi.")
	s.Say("/undo")
	s.Expect("took back: greet shorter")
	s.Say("/redo")
	s.Expect("done again")
	s.Say("/fork") // what ends with a note waits for no answer
	s.Expect("; the original stays (/resume ")
	s.Say("/export talk.md")
	s.Expect("wrote session ")
	s.Expect("> ")
	if b, _ := os.ReadFile(filepath.Join(c.Dir, "talk.md")); !strings.Contains(string(b), "**Note:**\n\n```text\nThe user has changed files") || strings.Contains(string(b), "interrupted") {
		t.Errorf("the session is exported as\n%s", b)
	}
	s.Line("/clear")
	s.Say("go elsewhere")
	s.Expect("Elsewhere.")
	s.Say("/changes")
	s.Expect("this session has changed no files")
	s.Say("/chat resume short")
	s.Say("/changes")
	s.Expect("changed greeting.txt (+1 -1)")
	s.Say("/undo")
	s.Expect("took back: greet shorter")
	s.Say("/fork")
	s.Expect("; the original stays (/resume ")
	s.Say("go on")
	s.Expect("Onwards.")
	if got := lastSaid(server); !strings.Contains(got, "<note>The user has changed files") || strings.Contains(got, "interrupted") {
		t.Errorf("the model was told:\n%s", got)
	}
	s.Say("/quit")
	said := s.Expect("go on with gemline --resume ")
	id := strings.TrimSpace(s.Match(`[0-9a-f]{8}`))
	s.Exit()
	if b, _ := os.ReadFile(filepath.Join(c.Dir, "greeting.txt")); string(b) != "Hello, wrld.\n" {
		t.Errorf("the greeting is %q", b)
	}
	if list := pt.Printed(t, c, "sessions"); !strings.Contains(list, "Greeting (fork) (Just now, fork of ") || !strings.Contains(list, id) {
		t.Errorf("%s is promised, there is\n%s%s", id, list, said)
	}

	again := c
	again.Args = append(again.Args, "--resume", "greeting", "--fork")
	s = teletype.Start(t, again)
	s.Say("/changes")
	s.Expect("this session has changed no files") // they were taken back, in the other one
	s.Say("/quit")
	s.Expect("go on with gemline --resume ")
	id = s.Match(`[0-9a-f]{8}`)
	s.Exit()
	if list := pt.Printed(t, c, "sessions"); !strings.Contains(list, "Greeting (fork 3) (Just now, fork of ") || !strings.Contains(list, id) {
		t.Errorf("%s is promised, there is\n%s", id, list)
	}
}

// A conversation is saved under a tag, gone on with, and deleted; documents are written.
// Nothing is written over unasked.
func TestSavedInside(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("Apples it is."), et.Says("Pears it is."), et.Says("Back with apples."))
	c := pt.Terminal(t, server)
	s := teletype.Start(t, c)
	s.Say("/chat save a b")
	s.Expect("nothing was said")
	s.Say("remember apples")
	s.Expect("Apples it is.")
	s.Say("/chat save a b")
	s.Expect("saved as a b")
	s.Say("/resume save a b")
	s.Expect("write over it?")
	s.Expect("y or n: ")
	s.Line("n")
	s.Say("remember pears")
	s.Expect("Pears it is.")
	s.Say("/resume list")
	s.Expect("List of saved conversations:")
	s.Expect("- a b (20")
	s.Say("/chat checkpoint load a b")
	s.Expect("info: resumed: a b (just now, 1 turn)")
	s.Say("go on")
	s.Expect("Back with apples.")
	if got := lastSaid(server); !strings.Contains(got, "remember apples") || strings.Contains(got, "pears") || strings.Count(got, "<session_context>") != 1 {
		t.Errorf("the model was told:\n%s", got)
	}
	s.Say("/chat delete a b")
	s.Expect("delete the conversation that is saved as a b?")
	s.Expect("y or n: ")
	s.Line("n")
	s.Say("/chat delete a b")
	s.Expect("y or n: ")
	s.Line("y")
	s.Expect("deleted: a b")
	s.Say("/chat resume a b")
	s.Expect(`no conversation is saved as "a b"`)

	s.Say("/export talk.html")
	s.Expect("wrote session ")
	s.Say("/export-session talk.html")
	s.Expect("write over it?")
	s.Expect("y or n: ")
	s.Line("y")
	s.Expect("wrote session ")
	s.Say("/export talk")
	s.Expect("has to end with .md, .html or .json")
	s.Say("/chat share shared/talk.json")
	s.Expect("wrote 2 turns to ")
	s.Say("/chat share talk.md")
	s.Expect("wrote 2 turns to ")
	s.Say("/quit")
	s.Exit()
	for name, want := range map[string]string{"talk.html": `<h2 id="turn-2">Turn 2: go on</h2>`, "talk.md": "## Turn 2: go on", "shared/talk.json": `"text": "remember apples"`} {
		b, err := os.ReadFile(filepath.Join(c.Dir, name))
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v\n%s", name, err, b)
		}
	}
}

// Whoever wants a session that another process has is told which, since when and where,
// and may go on with a copy.
func TestHeldInside(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("First."), et.Says("Second."), et.Says("Third."), et.Says("Fourth."))
	c := pt.Terminal(t, server)
	one, two := teletype.Start(t, c), teletype.Start(t, c)
	one.Say("one")
	one.Expect("First.")
	one.Say("/name Mine")
	one.Expect("name: Mine")
	two.Say("two")
	two.Expect("Second.")
	two.Say("/resume mine")
	two.Match(`session [0-9a-f-]+ is in use by process \d+ since 20[0-9-]+ [0-9:]+, at /dev/pts/\d+; resume a copy\?`)
	two.Expect("y or n: ")
	two.Line("y")
	two.Expect("info: resumed: Mine (just now, 1 turn)")
	two.Say("three")
	two.Expect("Third.")
	one.Say("four")
	one.Expect("Fourth.")
	if got := lastSaid(server); strings.Contains(got, "three") || !strings.Contains(got, "First.") {
		t.Errorf("the model was told:\n%s", got)
	}
	for _, s := range []*teletype.Session{one, two} {
		s.Say("/quit")
		s.Exit()
	}
}

// A session of several turns is summed up in a line when it ends, which lists show; a name
// of the user's is left alone, and so is a session whose first question says enough.
func TestSummedUp(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("One."), et.Says("Two."), et.Says("Three."), et.Says("\"Counting to three\"\n"), et.Says("Four."),
		et.Says("a."), et.Says("b."), et.Says("c."))
	c := pt.Terminal(t, server)
	s := teletype.Start(t, c)
	for _, say := range []string{"one", "two", "three"} {
		s.Say(say)
		s.Expect("done: ")
	}
	s.Say("/clear")
	s.Expect("A new session begins")
	s.Say("four")
	s.Expect("Four.")
	s.Say("/clear")
	s.Expect("A new session begins")
	for _, say := range []string{"a", "b", "c"} {
		s.Say(say)
		s.Expect("done: ")
	}
	s.Say("/name Letters")
	s.Expect("name: Letters")
	s.Say("/resume")
	s.Expect("  1 Counting to three (Just now) [")
	s.Expect("  2 four (Just now) [")
	s.Expect("  3 Letters (Just now, current) [")
	s.Expect("Enter for none: ")
	s.Line("")
	s.Say("/quit")
	s.Exit()
	rs := server.Requests()
	if len(rs) != 8 || !strings.Contains(rs[3].Path, "lite") {
		t.Errorf("%d requests", len(rs))
	}
}
