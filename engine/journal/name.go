package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// SetName sets the session's name, as returned by [Name], or removes it if name is "". The name
// is also the session's summary, which other programs show.
func (f *File) SetName(name string) error {
	f.titled = name != ""
	return f.set(map[string]any{"name": name, "summary": name})
}

// Lock locks the session of f against other processes, and returns an error if its file can't be
// created. Nothing else is written before the first message.
func Lock(f *File) (err error) {
	if f.path != "" && f.disk.lock == nil {
		f.disk.lock, err = lockSession(filepath.Dir(f.path), f.id)
	}
	if err == nil && f.disk.lock == nil {
		err = fmt.Errorf("no file can be made in %s", filepath.Dir(f.path))
	}
	return err
}

// SetSummary sets the session's summary, a line by a model.
func (f *File) SetSummary(summary string) error {
	f.titled = true
	return f.set(map[string]any{"summary": title(summary)})
}

// HasTitle reports whether the session has a name or a summary.
func (f *File) HasTitle() bool { return f.titled }

// set merges metadata. It does not change the time of the last use.
func (f *File) set(meta map[string]any) error {
	b, err := encode(map[string]any{"$set": meta})
	if err != nil {
		return err
	}
	if f.disk.out == nil && !f.exists {
		f.pending.lines = append(f.pending.lines, b...)
		return nil
	}
	return f.write(b)
}

// Summarize sets the summary, a line by a model, of a session that no process uses.
func Summarize(s Session, summary string) error {
	f := &File{id: s.ID, path: s.Path, exists: true, disk: handle{files: system{}}}
	return errors.Join(f.SetSummary(summary), f.Close())
}

// Name returns a valid name for a session from the user's input. The name is no number, no id,
// not the word latest, and unused by other sessions.
func Name(sessions []Session, id, typed string) (string, error) {
	name := title(typed)
	switch {
	case name == "":
		return "", errors.New("a name has letters or digits")
	case selects(name):
		return "", fmt.Errorf("%q can't be a name: it says which session of the list is meant", name)
	}
	for i, s := range sessions {
		if s.ID != id && (s.ID == name || strings.EqualFold(s.Name, name)) {
			return "", fmt.Errorf("session %d is called so already: %s", i+1, s.ID)
		}
	}
	return name, nil
}

// selects reports whether a word says which session of the list is meant.
func selects(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil || strings.EqualFold(word, "latest")
}
