package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	et "gemline/engine/enginetest"
	"gemline/repl/teletype"
)

// What a library writes to the program's streams reaches the debug log and
// nothing else, whenever it took hold of them.
func TestStrayWrites(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	c := terminal(t, et.NewServer(et.Says("Fine.")), "-d")
	c.Path = faulty(t)
	c.Env = append(c.Env, "GEMLINE_TEST_STRAY=1", "GEMINI_DEBUG_LOG_FILE="+log)
	s := teletype.Start(t, c)
	s.Say("go")
	s.Expect("Fine.")
	s.Expect("> ")
	if text := leave(t, s, teletype.Rules{Quiet: true}); strings.Contains(text, "stray") {
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

// held is what a careless library takes hold of when it is loaded.
var held = [2]*os.File{os.Stdout, os.Stderr}

// A strayWriter is a library that is asked for random bytes, and talks about it.
type strayWriter struct{ io.Reader }

func (b strayWriter) Read(p []byte) (int, error) {
	fmt.Println("stray to stdout\x1b[2J")
	fmt.Fprintln(os.Stderr, "stray to stderr")
	fmt.Fprintln(held[0], "stray to stdout of before")
	fmt.Fprintln(held[1], "stray to stderr of before")
	return b.Reader.Read(p)
}
