package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gemline/engine/disk"
	"gemline/engine/text"
)

// A Source is a folder of agents, a file each. Other files in it are ignored.
type Source struct {
	Name string // the owner: project, user, or the name of an extension
	Dir  string

	// Within says that links out of Dir are not followed, as others may have made them.
	Within bool

	// Fill replaces the variables in a string, or in the strings of a decoded YAML value;
	// nil replaces none.
	Fill func(v any) any
}

const (
	maxFile  = 256 << 10 // bytes
	maxFiles = 200       // in a folder
)

// A Library holds the agents of folders. It reads the files on first use, and again after
// [Library.Forget]. It is safe for concurrent use.
type Library struct {
	Sources func() []Source // the strongest first

	mu       sync.Mutex
	read     bool
	found    []Definition
	problems []error
}

// Find returns first and then the agents of the sources. If several agents have one name,
// the first wins.
func (l *Library) Find(first ...Definition) (list []Definition, problems []error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.read {
		l.found, l.problems, l.read = nil, nil, true
		for _, s := range l.Sources() {
			found, wrong := s.Load()
			l.found, l.problems = append(l.found, found...), append(l.problems, wrong...)
		}
	}
	list, problems = slices.Clip(first), slices.Clip(l.problems)
	taken := map[string]Definition{}
	for _, d := range first {
		taken[d.Name] = d
	}
	for _, d := range l.found {
		if other, is := taken[d.Name]; is {
			problems = append(problems, fmt.Errorf("%s: the agent %s is not used, since %s has that name", text.PrintableLine(d.File), d.Name, other.where()))
			continue
		}
		taken[d.Name], list = d, append(list, d)
	}
	return list, problems
}

// where names the origin of an agent.
func (d Definition) where() string {
	if d.File == "" {
		return "one that is built in"
	}
	return text.PrintableLine(d.File)
}

// Forget makes the next call read the files again.
func (l *Library) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read = false
}

// Load reads the agents of a folder. A faulty file does not affect the others.
func (s Source) Load() (list []Definition, problems []error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		problems = append(problems, fmt.Errorf("the agents in %s are not used: %w",
			text.PrintableLine(s.Dir), disk.Cause(err)))
	}
	files := 0
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".md") || strings.HasPrefix(name, "_") || e.IsDir() {
			continue
		}
		if files++; files > maxFiles {
			problems = append(problems, fmt.Errorf("%s holds more than %d files; the others are no agents", text.PrintableLine(s.Dir), maxFiles))
			break
		}
		found, err := s.load(filepath.Join(s.Dir, name), e.Type()&fs.ModeSymlink != 0)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		list = append(list, found...)
	}
	return list, append(problems, misread(list)...)
}

func misread(list []Definition) (problems []error) {
	for _, d := range list {
		problems = append(problems, d.Misread...)
	}
	return problems
}

// LoadFile reads the agents of a file.
func LoadFile(path string) (list []Definition, problems []error) {
	list, err := Source{}.load(path, false)
	if err != nil {
		return nil, []error{err}
	}
	return list, misread(list)
}

func (s Source) load(path string, link bool) ([]Definition, error) {
	if link && s.Within && !disk.Inside(disk.ResolveLinks(s.Dir), disk.ResolveLinks(path)) {
		return nil, &FileError{path, 1, "it is a link that leads out of the folder"}
	}
	b, err := disk.Read(path, maxFile)
	if err != nil {
		return nil, &FileError{path, 1, disk.Cause(err).Error()}
	}
	list, err := Parse(path, string(b))
	if err != nil {
		return nil, err
	}
	for i := range list {
		d := &list[i]
		if d.Source = s.Name; s.Fill != nil {
			d.Prompt.Text, d.Description = s.Fill(d.Prompt.Text).(string), s.Fill(d.Description).(string)
			for name, server := range d.Access.Servers {
				d.Access.Servers[name] = s.Fill(server)
			}
		}
	}
	return list, nil
}
