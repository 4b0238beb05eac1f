package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gemline/engine/memory"
)

// What a project says is known from the start; what a directory further down says
// comes when something there is touched, once.
func Example() {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		panic(err)
	}
	for name, text := range map[string]string{
		".git/HEAD":      "ref: refs/heads/main\n",
		"GEMINI.md":      "Be brief.\n@style.md",
		"style.md":       "Use tabs.",
		"web/GEMINI.md":  "No frameworks.",
		"web/index.html": "<p>",
	} {
		os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700)
		os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
	}
	m := memory.New(memory.Config{Roots: func() []string { return []string{dir} }})
	say := func(text string) { fmt.Println(filepath.ToSlash(strings.ReplaceAll(text, dir, "project"))) }
	say(m.Contents().Project)
	for range 2 {
		text, _ := m.Discover(filepath.Join(dir, "web", "index.html"))
		say("and then: " + text)
	}
	// Output:
	// --- Context from: project/GEMINI.md ---
	// Be brief.
	// <!-- Imported from: style.md -->
	// Use tabs.
	// <!-- End of import from: style.md -->
	// --- End of Context from: project/GEMINI.md ---
	// and then: --- Context from: project/web/GEMINI.md ---
	// No frameworks.
	// --- End of Context from: project/web/GEMINI.md ---
	// and then:
}
