package pipes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// What a library writes to the program's streams reaches the debug log and
// nothing else, whenever it took hold of them.
func TestStrayWrites(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	c := pt.Terminal(t, et.NewServer(et.Says("Fine.")), "-d")
	c.Path = pt.Faulty(t)
	c.Env = append(c.Env, "GEMLINE_TEST_STRAY=1", "GEMINI_DEBUG_LOG_FILE="+log)
	s := teletype.Start(t, c)
	s.Say("go")
	s.Expect("Fine.")
	s.Expect("> ")
	if text := pt.Leave(t, s, teletype.Rules{Quiet: true}); strings.Contains(text, "stray") {
		t.Errorf("on the terminal: %q", text)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"stray to stdout\x1b[2J", "stray to stderr", "stray to stdout of before", "stray to stderr of before"} {
		if !slices.Contains(strings.Split(string(b), "\n"), want) {
			t.Errorf("no %q in the log", want)
		}
	}
}
