package journal

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/genai"

	"gemline/engine/text"
)

// fork returns a copy of another session, with all messages or the first turns. Its name is
// derived from the original's name and unused in there. The original is not changed; another
// process may use it.
func fork(cfg Config, load func() (*LoadedSession, *record, error), there []Session, turns int) (OpenedSession, error) {
	c, r, err := load()
	if err != nil {
		return OpenedSession{}, err
	}
	said := c.History
	all := Turns(said)
	switch {
	case len(c.Transcript) == 0:
		return OpenedSession{}, errors.New("nothing was said in that session yet")
	case turns > len(all):
		return OpenedSession{}, fmt.Errorf("there is no turn %d: that session has %d", turns, len(all))
	case turns > 0 && turns < len(all):
		said = said[:all[turns].From]
		c.Interrupted, c.NotStarted, c.Cut = nil, nil, false
	}
	cfg.Directories, cfg.ForkOf = c.Directories, c.ID
	o, err := begin(cfg, r, said)
	o.File.opening = c.opened
	o.From, o.Directories, o.CopyOf = c, c.Directories, c.ID
	c.History, c.Transcript = o.History, Transcript(o.File, o.History)
	switch {
	case err != nil:
	case c.Name != "":
		err = o.File.SetName(copyName(there, cfg.ID, c.Name))
	case c.Summary != "":
		err = o.File.SetSummary(c.Summary)
	}
	return o, err
}

// copyName returns the name of a copy of a session that has a name.
func copyName(there []Session, id, name string) string {
	name = copied().ReplaceAllString(name, "")
	for n := 1; ; n++ {
		mark := " (fork)"
		if n > 1 {
			mark = fmt.Sprintf(" (fork %d)", n)
		}
		short := []rune(name) // leaves room for the suffix in a title
		if free, err := Name(there, id, string(short[:min(len(short), 80)])+mark); err == nil || n > 1000 {
			return free
		}
	}
}

// copied matches the suffix of a copy's name.
var copied = text.Pattern(` \(fork( [0-9]+)?\)$`)

// restored returns a session that begins with the conversation of an untrusted file. Every call
// in it has one answer.
func restored(cfg Config, saved SavedConversation) (OpenedSession, error) {
	r := &record{}
	said := slices.DeleteFunc(slices.Clone(saved.History), func(c *genai.Content) bool { return c == nil })
	list, err := r.list(said, saved.At)
	if err != nil {
		return OpenedSession{}, err
	}
	o, err := begin(cfg, r, historyOf(list))
	o.File.opening = false // since it would replace the messages
	o.From, o.CopyOf = &LoadedSession{Session: Session{Title: saved.Title, Updated: saved.At},
		History: o.History, Transcript: o.History}, saved.Session
	return o, err
}

// begin returns a session that begins with a conversation, and reuses the messages of r.
func begin(cfg Config, r *record, said []*genai.Content) (OpenedSession, error) {
	f := New(cfg)
	f.known = nil // the copy begins with messages of another session
	list, err := r.list(said, f.now())
	if err != nil {
		return OpenedSession{File: f}, err
	}
	for n := len(r.said); n > 0; n-- {
		if _, stays := r.index[r.said[n-1].ID]; !stays { // a compression replaced it
			f.startWith(bytesOf(r.said[:n])) // can be encoded, since it was JSON
			break
		}
	}
	return OpenedSession{File: f, History: said, Copy: true}, f.startWith(list)
}
