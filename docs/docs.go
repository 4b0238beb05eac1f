// Package docs holds the pages of the documentation, so that the program can
// print them wherever it is, and reads the little of Markdown that they use.
//
// # One source
//
// What gemline help, the manual page and the repository show is the same text.
package docs

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.md internals/*.md
var files embed.FS

// A Page is one page of the documentation.
type Page struct {
	Name  string `json:"name"` // the topic
	Title string `json:"title"`
	Text  string `json:"text,omitempty"` // Markdown
}

// order is that of the pages for whoever uses the program; others follow by name.
var order = []string{"usage", "install", "gemini-cli", "safety", "policy", "sandbox", "security", "trust", "plan",
	"commands", "command-line", "configuration", "settings", "environment", "credentials", "models", "model-list", "limits",
	"sessions", "undo", "worktrees", "context", "agents", "hooks", "mcp", "extensions", "skills", "custom-commands",
	"output", "json", "exit-codes", "batches", "scale", "protocol", "acp", "a2a", "attach", "ide", "tools", "web",
	"terminal", "answers", "accessibility", "telemetry"}

// last are the pages that come behind all others.
var last = []string{"library", "rough-edges"}

// internals is the directory of the pages for whoever builds the program.
const internals = "internals"

// Pages returns the pages for whoever uses the program, in their order.
func Pages() []Page {
	pages := list(".")
	place := func(p Page) int {
		if i := slices.Index(order, p.Name); i >= 0 {
			return i - len(order)
		}
		return 1 + slices.Index(last, p.Name)
	}
	slices.SortStableFunc(pages, func(a, b Page) int { return place(a) - place(b) })
	return pages
}

// Internals returns the pages for whoever builds the program, by name.
func Internals() []Page { return list(internals) }

// list returns the pages of a directory, by name.
func list(dir string) (pages []Page) {
	entries, err := files.ReadDir(dir)
	if err != nil {
		panic(err) // it is in memory
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".md"); ok {
			p, _ := Find(name)
			pages = append(pages, p)
		}
	}
	return pages
}

// Find returns the page of a name.
func Find(name string) (Page, bool) {
	name = strings.TrimPrefix(name, internals+"/")
	b, err := files.ReadFile(name + ".md")
	if err != nil {
		b, err = files.ReadFile(internals + "/" + name + ".md")
	}
	if err != nil {
		return Page{}, false
	}
	p := Page{Name: name, Text: string(b)}
	head, _, _ := strings.Cut(p.Text, "\n")
	p.Title = strings.TrimPrefix(head, "# ")
	return p, true
}
