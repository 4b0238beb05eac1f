package skill

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"gemline/engine/text"
)

// A Library holds the skills of folders. It reads the files on first use, and again after
// [Library.Forget]. It is safe for concurrent use.
type Library struct {
	Dirs func() []Dir // the current folders, the strongest last

	// Off returns the names of skills that are switched off, in any case.
	Off func() []string

	mu    sync.Mutex
	read  bool
	found []Skill
	notes []string

	switched map[string]bool // by names in lower case; overrides Off
}

// All returns all skills, also skills that are switched off.
func (l *Library) All() []Skill {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.read {
		l.found, l.notes = load(l.Dirs())
		l.read = true
		off, names := l.Off(), []string{}
		for i := range l.found {
			name := l.found[i].Name
			names = append(names, name)
			l.found[i].Disabled = slices.ContainsFunc(off, func(o string) bool { return strings.EqualFold(o, name) })
			if on, ok := l.switched[strings.ToLower(name)]; ok {
				l.found[i].Disabled = !on
			}
		}
		for _, name := range off {
			if near := text.Misspelled(name, off, names); near != "" {
				l.notes = append(l.notes, fmt.Sprintf("skills.disabled: no skill is called %q; did you mean %s?", name, near))
			}
		}
	}
	return l.found
}

// Skills returns the enabled skills.
func (l *Library) Skills() []Skill {
	return slices.DeleteFunc(slices.Clone(l.All()), func(s Skill) bool { return s.Disabled })
}

// Notes returns the problems of the files, each only once until the files are read again.
func (l *Library) Notes() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	notes := l.notes
	l.notes = nil
	return notes
}

// Switch switches a skill on or off, until the files are read by another library.
func (l *Library) Switch(name string, on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.switched == nil {
		l.switched = map[string]bool{}
	}
	l.switched[strings.ToLower(name)] = on
	l.read = false
}

// Forget makes the next call read the files again.
func (l *Library) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read = false
}

// CommandName returns the name by which a skill is called as a command.
func CommandName(name string) string { return strings.Join(strings.Fields(name), "-") }
