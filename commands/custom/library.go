package custom

import (
	"slices"
	"sync"
)

// A Library is the commands of directories. It reads them when it is first asked for
// commands, and again after [Library.Forget]. It is safe for concurrent use.
type Library struct {
	Dirs func() []Dir // returns the current directories, later ones before earlier ones

	mu    sync.Mutex
	files *loader // the files read, nil before the first reading
	named bool    // its commands have names
}

// read returns the loaded files.
func (l *Library) read() *loader {
	if l.files == nil {
		l.files, l.named = read(l.Dirs()), false
	}
	return l.files
}

// Commands returns the commands, by names that are not taken.
func (l *Library) Commands(taken func(name string) bool) []Command {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.read(); !l.named {
		f.found, f.notes = named(f.found, f.notes, taken)
		l.named = true
	}
	return l.files.found
}

// Faults returns messages about faulty files, each once unless the files are read again. It
// leaves out the fault of the command called but, which [Library.Lost] returns.
func (l *Library) Faults(but string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.read()
	faults := f.faults
	f.faults = nil
	return slices.DeleteFunc(faults, func(fault string) bool { return fault == noteOf+f.lost[but] })
}

// Notes returns the faults, the parts of the files without a meaning, and the names that were not
// given, as Faults does.
func (l *Library) Notes(but string) []string {
	faults := l.Faults(but)
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.read()
	notes := f.notes
	f.notes = nil
	return append(faults, notes...)
}

// Lost returns why there is no command of a name although a file for it exists, "" if there is no
// such file.
func (l *Library) Lost(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read().lost[name]
}

// Forget makes the next call read the files again.
func (l *Library) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = nil
}
