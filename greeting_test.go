package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	et "gemline/engine/enginetest"
	"gemline/repl/teletype"
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
			server := et.NewServer(et.NotFound("gemini-x"))
			t.Cleanup(server.Close)
			home := t.TempDir()
			dir := filepath.Join(home, "a", strings.Repeat("long", 20), "folder with a name", "shop")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			env := append([]string{asProgram + "=1", "GORACE=atexit_sleep_ms=0", "CI=", "GITHUB_ACTIONS=", "PATH=" + os.Getenv("PATH"), "HOME=" + home, "GEMINI_FORCE_FILE_STORAGE=true",
				"GOOGLE_GEMINI_BASE_URL=" + server.URL}, c.env...)
			if !c.keyless {
				env = append(env, "GEMINI_API_KEY=key-of-the-test")
			}
			s := teletype.Start(t, teletype.Command{Path: self, Dir: dir, Term: c.term, Env: env, Wait: time.Minute})
			s.Expect("shop; /help")
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
