package memory

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Show returns the output of /memory show.
func (c Contents) Show() string {
	if len(c.Files) == 0 {
		return "Memory is currently empty."
	}
	var parts []string
	for _, part := range []struct {
		tier Tier
		text string
	}{{Global, c.Global}, {Private, c.Private}, {Extension, c.Extension}, {Project,
		c.Project}, {Discovered, framed(c.Files, Discovered)}} {
		if part.text != "" {
			parts = append(parts, fmt.Sprintf("--- %s ---\n%s\n", part.tier, part.text))
		}
	}
	return fmt.Sprintf("Current memory content from %d file(s):\n\n---\n%s---", len(c.Files), strings.Join(parts, "\n"))
}

// List returns the output of /memory list.
func (c Contents) List() string {
	if len(c.Files) == 0 {
		return "No GEMINI.md files in use."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "There are %d GEMINI.md file(s) in use:\n", len(c.Files))
	for _, f := range c.Files {
		b.WriteString("\n" + oneLiner(f.Path))
	}
	return b.String()
}

// Reloaded returns the output of /memory refresh.
func (c Contents) Reloaded() string {
	if len(c.Files) == 0 {
		return "Memory reloaded successfully. No memory content found"
	}
	return fmt.Sprintf("Memory reloaded successfully. Loaded %d characters from %d file(s)",
		utf8.RuneCountInString(c.Global+c.Private+c.Extension+c.Project), len(c.Files))
}
