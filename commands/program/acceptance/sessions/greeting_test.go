package sessions

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A session starts with a line that says what it is, and with a second one if
// there is no key, in 200 bytes at most; nothing is asked of the network. What is
// wrong later is told with what to do about it, and before the closing line.
func TestGreeting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, term string
		env        []string
		keyless    bool
	}{
		{"plain", "dumb", nil, false},
		{"smart", "xterm-256color", nil, false},
		{"plain, no key", "dumb", nil, true},
		{"smart, no key", "xterm-256color", nil, true},
		{"asked for, no key", "xterm-256color", []string{"ACCESSIBLE=1"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := et.NewServer(slices.Repeat([]et.Reply{et.NotFound("gemini-x")}, 4)...)
			t.Cleanup(server.Close)
			home := t.TempDir()
			dir := filepath.Join(home, "a", strings.Repeat("long", 20), "folder with a name", "shop")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			env := pt.Environment(home, nil, append(c.env, "GEMINI_MODEL="+pt.Model, "GOOGLE_GEMINI_BASE_URL="+server.URL)...)
			if !c.keyless {
				env = append(env, "GEMINI_API_KEY=key-of-the-test")
			}
			s := teletype.Start(t, teletype.Command{Path: pt.Self(t), Dir: dir, Term: c.term, Env: env})
			s.Expect("shop") // a listener reads no pointer to /help
			s.Expect("> ")
			start := s.Transcript()
			if len(start) > 200 || len(server.Requests()) > 0 {
				t.Errorf("%d bytes and %d requests: %q", len(start), len(server.Requests()), start)
			}
			if got := strings.Contains(string(start), "/auth signin"); got != c.keyless {
				t.Errorf("the start is %q", start)
			}
			s.Line("hi")
			shown := s.Expect("failed after ")
			if want := "hint: "; !strings.Contains(shown, want) || strings.Index(shown, "error:") > strings.Index(shown, want) {
				t.Errorf("shown: %q", shown)
			}
		})
	}
}

// A session says what to do in the words of -p, before its closing line.
func TestHintsOfASession(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, hint string
		replies    []et.Reply
		key        string
	}{
		{"no key", "store a key with gemline auth set-key", nil, ""},
		{"wrong key", "check GEMINI_API_KEY; keys are made at https://aistudio.google.com/apikey", []et.Reply{et.BadKey()}, "x"},
		{"no such model", "choose another model with -m or /model", []et.Reply{et.NotFound("gemini-x")}, "x"},
		{"no quota", "wait for the quota to be renewed, choose another model with -m or /model, or use another key", []et.Reply{et.DailyQuota()}, "x"},
		{"full context", "send less, sum up the conversation (/compress in a session), or begin another (/clear)", []et.Reply{et.BadRequest("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).")}, "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := et.NewServer(slices.Repeat(c.replies, 8)...) // of other models, too
			command := pt.Terminal(t, server)
			command.Env = append(command.Env, "GEMINI_API_KEY="+c.key)
			var errs bytes.Buffer
			once := exec.Command(command.Path, append(command.Args, "-p", "hi")...)
			once.Dir, once.Env, once.Stderr = command.Dir, command.Env, &errs
			if err := once.Run(); err == nil {
				t.Error("it does not fail")
			}
			hint := "\nhint: "
			if _, line, ok := strings.Cut(errs.String(), hint); !ok || !strings.HasSuffix(line, c.hint+"\n") {
				t.Fatalf("standard error: %q", &errs)
			} else {
				hint += line
			}
			s := teletype.Start(t, command)
			s.Say("hi")
			if shown := s.Expect("failed after "); !strings.Contains(shown, strings.ReplaceAll(hint, "\n", "\r\n")) {
				t.Errorf("shown: %q, want %q", shown, hint)
			}
		})
	}
	t.Run("no room", func(t *testing.T) {
		t.Parallel()
		s := teletype.Start(t, pt.Terminal(t, et.NewServer(et.Says("Long.").With(1<<20-4, 2))))
		for range 2 {
			s.Say("a question of a few words")
		}
		s.Expect("and only 2 are left in the model's context\r\nhint: send less, sum up the conversation (/compress in a session), or begin another (/clear)\r\n")
	})
}
