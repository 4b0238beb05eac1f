package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// SetName gives the session a name of the user's, as [Name] returns it, or takes it away
// if it is empty. It is the session's summary, too, which other programs show.
func (f *File) SetName(name string) error {
	f.titled = name != ""
	return f.set(map[string]any{"name": name, "summary": name})
}

// Lock keeps other processes from the session of f, and returns an error if there can be no file
// of it. Nothing else is written before the first message.
func Lock(f *File) (err error) {
	if f.path != "" && f.disk.lock == nil {
		f.disk.lock, err = lockSession(filepath.Dir(f.path), f.id)
	}
	if err == nil && f.disk.lock == nil {
		err = fmt.Errorf("no file can be made in %s", filepath.Dir(f.path))
	}
	return err
}

// SetSummary says in a line of a model's what the session is about.
func (f *File) SetSummary(summary string) error {
	f.titled = true
	return f.set(map[string]any{"summary": title(summary)})
}

// HasTitle reports whether the session has a name or a summary.
func (f *File) HasTitle() bool { return f.titled }

// set merges metadata. When the session was last worked with it leaves as it is.
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

// Summarize says in a line of a model's what a session is about that nobody works with.
func Summarize(s Session, summary string) error {
	f := &File{id: s.ID, path: s.Path, exists: true, disk: handle{files: system{}}}
	if strings.HasSuffix(s.Path, ".json") {
		return errors.New("a file of the old form is not changed")
	}
	return errors.Join(f.SetSummary(summary), f.Close())
}

// Name returns the name that a session may have, made of what the user has typed. It
// can't be taken for a number, an id or the word latest, and no other session has it.
func Name(sessions []Session, id, typed string) (string, error) {
	name := title(typed)
	_, err := strconv.Atoi(name)
	switch {
	case name == "":
		return "", errors.New("a name has letters or digits")
	case err == nil || strings.EqualFold(name, "latest"):
		return "", fmt.Errorf("%q can't be a name: it says which session of the list is meant", name)
	}
	for i, s := range sessions {
		if s.ID != id && (s.ID == name || strings.EqualFold(s.Name, name)) {
			return "", fmt.Errorf("session %d is called so already: %s", i+1, s.ID)
		}
	}
	return name, nil
}
