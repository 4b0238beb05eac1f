package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/genai"

	et "gemline/engine/enginetest"
	"gemline/repl/teletype"
)

// transcript writes what the model reads in the server's last request to a
// file.
//
//	transcript FILE
func transcript(ts *testscript.TestScript, neg bool, args []string) {
	requests := (*ts.Value(serving{}).(**et.Server)).Requests()
	if len(requests) == 0 {
		ts.Fatalf("the server got no request")
	}
	last := requests[len(requests)-1]
	var b strings.Builder
	if system, ok := last.JSON()["systemInstruction"].(map[string]any); ok {
		for _, part := range system["parts"].([]any) {
			fmt.Fprintf(&b, "[system]\n%v\n", part.(map[string]any)["text"])
		}
	}
	for _, c := range last.Contents() {
		for _, p := range c.Parts {
			fmt.Fprintf(&b, "[%s]\n%s\n", c.Role, words(p))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

// words returns what the model reads of a part.
func words(p *genai.Part) string {
	switch {
	case p.FunctionCall != nil:
		return "calls " + p.FunctionCall.Name
	case p.FunctionResponse != nil:
		return fmt.Sprintf("answer of %s:\n%v", p.FunctionResponse.Name, p.FunctionResponse.Response["output"])
	}
	return p.Text
}

// In a session, /memory refresh brings what the files say by now into the next
// request, and a directory's file comes again after it, as after /clear.
func TestRefresh(t *testing.T) {
	look := et.Says("", et.Call("1", "read_file", "file_path", "sub/a.txt"))
	server := et.NewServer(look, et.Says("One."), look, et.Says("Two."), look, et.Says("Three."), look, et.Says("Four."))
	c := terminal(t, server)
	write := func(name, text string) {
		path := filepath.Join(c.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("GEMINI.md", "the first rule")
	write("sub/GEMINI.md", "rule of sub")
	write("sub/a.txt", "text of a")
	s := teletype.Start(t, c)
	ask := func(line, answer string) {
		s.Expect("> ")
		s.Line(line)
		s.Expect(answer)
	}
	ask("look", "One.")
	write("GEMINI.md", "the second rule")
	ask("look again", "Two.")
	ask("/memory refresh", "Loaded")
	ask("and again", "Three.")
	ask("/memory list", "2 GEMINI.md")
	ask("/clear", "afresh")
	ask("once more", "Four.")
	ask("/memory add be brief", "added to")
	ask("/quit", "")
	s.Exit()
	sent := server.Requests()
	for i, want := range []struct{ first, second, sub int }{1: {1, 0, 1}, 3: {1, 0, 1}, 5: {0, 1, 2}, 7: {0, 1, 1}} {
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
