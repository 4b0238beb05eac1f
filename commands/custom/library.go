package custom

import (
	"slices"
	"sync"
)

// A Library is the commands of directories. It reads them when it is first asked for
// commands, and again after [Library.Forget]. It is safe for concurrent use.
type Library struct {
	Dirs func() []Dir // those there are at the moment, later ones before earlier ones

	mu    sync.Mutex
	read  bool
	found []Command
	notes []string
	lost  map[string]string
}

// Commands returns the commands, by names that are not taken.
func (l *Library) Commands(taken func(name string) bool) []Command {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.read {
		l.found, l.notes, l.lost = Load(l.Dirs(), taken)
		l.read = true
	}
	return l.found
}

// Notes returns the faults of the files, each once in the life of the Library
// unless the files are read again. [Library.Lost] tells those of the name but.
func (l *Library) Notes(but string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	notes := l.notes
	l.notes = nil
	return slices.DeleteFunc(notes, func(note string) bool { return note == noteOf+l.lost[but] })
}

// Lost returns why there is no command of a name although a file is there for it, "" if
// there is none.
func (l *Library) Lost(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost[name]
}

// Forget has the files read again.
func (l *Library) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read = false
}
