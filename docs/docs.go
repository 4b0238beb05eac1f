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

//go:embed *.md
var files embed.FS

// A Page is one page of the documentation.
type Page struct {
	Name  string // the topic
	Title string
	Text  string // Markdown
}

// order is that of the pages for whoever uses the program. Those for whoever
// builds it come last.
var order = []string{"usage", "gemini-cli", "approval", "plan", "commands", "command-line",
	"terminal", "ide", "answers", "accessibility", "configuration", "settings", "environment",
	"credentials", "models", "model-list", "trust", "undo", "worktrees", "context", "policy", "denied", "looking", "sandbox", "security", "secrets", "web", "tools", "discovered-tools", "instructions",
	"output", "pipelines", "json", "exit-codes", "limits", "batches", "scale", "protocol", "agents", "hooks", "telemetry"}

// makers are the pages for whoever builds the program.
var makers = []string{"library", "performance", "tour", "tour-command", "design", "packages",
	"sandbox-layers", "security-tests", "rough-edges"}

// Pages returns all pages: those for users in their order, others by name, and
// at last those for whoever builds the program.
func Pages() []Page {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // it is in memory
	}
	var pages []Page
	for _, e := range entries {
		p, _ := Find(strings.TrimSuffix(e.Name(), ".md"))
		pages = append(pages, p)
	}
	place := func(p Page) int {
		if i := slices.Index(order, p.Name); i >= 0 {
			return i - len(order)
		}
		return 1 + slices.Index(makers, p.Name)
	}
	slices.SortStableFunc(pages, func(a, b Page) int { return place(a) - place(b) })
	return pages
}

// Find returns the page of a name.
func Find(name string) (Page, bool) {
	b, err := files.ReadFile(name + ".md")
	if err != nil {
		return Page{}, false
	}
	p := Page{Name: name, Text: string(b)}
	head, _, _ := strings.Cut(p.Text, "\n")
	p.Title = strings.TrimPrefix(head, "# ")
	return p, true
}
