package journal

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/genai"
)

// fork returns a session that begins with what was said in another one, or in its
// first turns. The other one stays as it is; somebody may work with it.
func fork(cfg Config, from Session, turns int) (Opened, error) {
	c, r, err := loadRecord(from.Path)
	if err != nil {
		return Opened{}, err
	}
	said := c.History
	all := Turns(said)
	switch {
	case len(all) == 0:
		return Opened{}, errors.New("nothing was said in that session yet")
	case turns > len(all):
		return Opened{}, fmt.Errorf("there is no turn %d: that session has %d", turns, len(all))
	case turns > 0 && turns < len(all):
		said = said[:all[turns].From]
		c.Interrupted = nil
	}
	cfg.Directories, cfg.ForkOf = c.Directories, c.ID
	o, err := begin(cfg, r, said)
	o.File.opening = c.opened
	o.From, o.Directories = c, c.Directories
	c.History = o.History
	return o, err
}

// restored returns a session that begins with what was said, as a file says that
// may be anybody's. Every call in it has one answer.
func restored(cfg Config, saved Saved) (Opened, error) {
	r := &record{want: raw}
	said := slices.DeleteFunc(slices.Clone(saved.History), func(c *genai.Content) bool { return c == nil })
	list, err := r.list(said, saved.At)
	if err != nil {
		return Opened{}, err
	}
	o, err := begin(cfg, r, conversation(list))
	o.File.opening = false // it would stand in the place of the messages
	o.From = &Conversation{Session: Session{Title: saved.Title, Updated: saved.At}, History: o.History}
	return o, err
}

// begin returns a session that begins with what was said, in the messages of r where it
// has them.
func begin(cfg Config, r *record, said []*genai.Content) (Opened, error) {
	f := New(cfg)
	f.known = nil // it begins with what another one says
	list, err := r.list(said, f.now())
	if err != nil {
		return Opened{File: f}, err
	}
	set, err := encode(map[string]any{"$set": map[string]any{"messages": list}})
	f.head, f.copied = append(f.head, set...), true
	return Opened{File: f, History: said}, err
}
