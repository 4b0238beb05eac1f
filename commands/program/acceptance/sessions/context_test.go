package sessions

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// In a session, /memory refresh brings what the files say by now into the next
// request, and a directory's file comes again after it, as after /clear.
func TestMemoryRefresh(t *testing.T) {
	t.Parallel()
	look := et.Says("", et.Call("1", "read_file", "file_path", "sub/a.txt"))
	server := et.NewServer(look, et.Says("One."), look, et.Says("Two."), look, et.Says("Three."),
		et.Says("Rules of the project"), look, et.Says("Four.")) // a session that ends is summed up
	c := pt.Terminal(t, server)
	pt.Write(t, c.Dir, map[string]string{"GEMINI.md": "the first rule", "sub/GEMINI.md": "rule of sub", "sub/a.txt": "text of a"})
	s := teletype.Start(t, c)
	ask := func(line, answer string) {
		s.Say(line)
		s.Expect(answer)
	}
	ask("look", "One.")
	pt.Write(t, c.Dir, map[string]string{"GEMINI.md": "the second rule"})
	ask("look again", "Two.")
	ask("/memory refresh", "Loaded")
	ask("and again", "Three.")
	ask("/memory list", "2 GEMINI.md")
	ask("/clear", "A new session begins")
	ask("once more", "Four.")
	ask("/memory add be brief", "added to")
	ask("/quit", "")
	s.Exit()
	sent := server.Requests()
	for i, want := range []struct{ first, second, sub int }{1: {1, 0, 1}, 3: {1, 0, 1}, 5: {0, 1, 2}, 8: {0, 1, 1}} {
		if want.sub == 0 {
			continue
		}
		body, _ := json.Marshal(sent[i].Contents())
		for text, n := range map[string]int{"the first rule": want.first, "the second rule": want.second, "rule of sub": want.sub} {
			if got := strings.Count(string(body), text); got != n {
				t.Errorf("request %d has %q %d times; want %d", i, text, got, n)
			}
		}
	}
}

// A directory that is added in a session brings its context files, which the
// next request has beside its name and what is in it.
func TestAddedDirectory(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("One."), et.Says("Two."))
	c := pt.Terminal(t, server)
	home := pt.HomeOf(c)
	more := filepath.Join(home, "my more")
	pt.Write(t, c.Dir, map[string]string{"GEMINI.md": "rule of the project"})
	pt.Write(t, more, map[string]string{"GEMINI.md": "rule of more", "there.txt": ""})
	s := teletype.Start(t, c)
	for _, line := range [][2]string{{"hi", "One."}, {"/directory add ~/my more, ~/nowhere", "~/nowhere: there is no such directory"},
		{"/directory add " + more, "nothing to add"}, {"/dir show", "my more"}, {"hi again", "Two."}, {"/quit", ""}} {
		s.Say(line[0])
		s.Expect(line[1])
	}
	s.Exit()
	if seen := string(s.Transcript()); !strings.Contains(seen, "context file: ") {
		t.Errorf("the file is not named: %q", seen)
	}
	real, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 1} {
		first := server.Requests()[i].Contents()[0].Parts[0].Text
		for _, text := range []string{"rule of more", "  - " + filepath.Join(real, "my more") + "\n", "there.txt"} {
			if strings.Count(first, text) != want {
				t.Errorf("request %d: %q in %s", i, text, first)
			}
		}
		if strings.Count(first, "rule of the project") != 1 {
			t.Errorf("request %d: %s", i, first)
		}
	}
}

// In a folder that is not trusted only the user's own files count, those of
// extensions among them, also for what a call touches, and for a directory
// that is added.
func TestUntrustedContext(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("", et.Call("1", "read_file", "file_path", "sub/a.txt")), et.Says("One."))
	c := pt.Terminal(t, server)
	c.Env = append(c.Env, "GEMINI_CLI_TRUST_WORKSPACE=")
	other := filepath.Join(filepath.Dir(c.Dir), "other")
	pt.Write(t, c.Dir, map[string]string{
		".gemini/settings.json": `{}`,
		"GEMINI.md":             "rule of the project",
		"sub/GEMINI.md":         "rule of sub",
		"sub/a.txt":             "text of a",
	})
	pt.Write(t, other, map[string]string{"GEMINI.md": "rule of the other"})
	pt.Write(t, pt.HomeOf(c), map[string]string{
		".gemini/GEMINI.md":                          "rule of the user",
		".gemini/extensions/x/gemini-extension.json": `{"name": "x", "version": "1"}`,
		".gemini/extensions/x/GEMINI.md":             "rule of the extension",
	})
	s := teletype.Start(t, c)
	s.Expect("not now")
	s.Line("n")
	s.Expect("\n> ")
	s.Line("/directory add " + other)
	s.Expect("its context files are not used")
	s.Say("look")
	s.Expect("One.")
	s.Say("/quit")
	s.Exit()
	sent := server.Requests()
	body := string(sent[len(sent)-1].Body)
	for text, want := range map[string]bool{"rule of the user": true, "rule of the extension": true, "text of a": true, "rule of the project": false, "rule of sub": false, "rule of the other": false} {
		if strings.Contains(body, text) != want {
			t.Errorf("the request has %q: %v", text, !want)
		}
	}
}
