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

// Pages returns all pages: the one to begin with, then the others by name.
func Pages() []Page {
	const first = "usage"
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // it is in memory
	}
	var pages []Page
	for _, e := range entries {
		p, _ := Find(strings.TrimSuffix(e.Name(), ".md"))
		pages = append(pages, p)
	}
	slices.SortStableFunc(pages, func(a, b Page) int {
		switch {
		case a.Name == first:
			return -1
		case b.Name == first:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
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
