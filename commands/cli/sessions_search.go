package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"gemline/engine/journal"
	"gemline/settings/project"
)

type sessionsSearch struct {
	Words []string `arg:"" help:"What is looked for, in any case of letters."`
	All   bool     `help:"Look in the sessions of all directories."`
}

// A foundSession is a session in gemline sessions search --json.
type foundSession struct {
	SessionEntry
	Directory string        `json:"directory"`
	Hits      []journal.Hit `json:"hits"`
}

// Run prints the sessions with the words, and their matching lines.
func (c *sessionsSearch) Run(out *Output, here *Folder) error {
	words := strings.Join(c.Words, " ")
	if strings.TrimSpace(words) == "" {
		return misused("gemline sessions search needs a word to look for")
	}
	at := here.Paths.All()
	if here, known := here.Paths.Registered(); !c.All && known {
		at = []project.Store{here}
	} else if !c.All {
		at = nil
	}
	var found []foundSession
	var lines []string
	for _, store := range at {
		list, err := journal.Search(store.Chats(), words)
		if err != nil {
			return err
		}
		if c.All && len(list) > 0 {
			lines = append(lines, store.Root+":")
		}
		for _, f := range list {
			one := foundSession{SessionEntry: out.entries(f.Session)[0], Directory: store.Root, Hits: f.Hits}
			one.Index = f.Number
			lines = append(lines, f.Line(f.Number, "", time.Now()))
			lines = append(lines, HitLines(f.Hits)...)
			found = append(found, one)
		}
	}
	where := cmp.Or(map[bool]string{true: "any directory"}[c.All], "this directory")
	return out.listing(map[string]any{"sessions": found}, lines, fmt.Sprintf("no session of %s holds %q", where, words))
}

// HitLines describes the first hits of a search in turns.
func HitLines(hits []journal.Hit) (lines []string) {
	const most = 5
	for _, h := range hits {
		if h.Turn > 0 { // otherwise the list's line shows it
			lines = append(lines, fmt.Sprintf("   turn %d, %s: %s", h.Turn, h.Who, h.Line))
		}
	}
	if left := len(lines) - most; left > 0 {
		lines = append(lines[:most], fmt.Sprintf("   and %d more", left))
	}
	return lines
}
