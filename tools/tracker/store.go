// Package tracker stores tasks with their dependencies, in a directory, a file
// each, as the Gemini CLI does.
//
// # Tasks are consistent
//
// Parents and dependencies exist, no task depends on itself or is part of itself, and no
// task is closed before its dependencies. A change that would violate this fails with a
// [RefusedError].
package tracker

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
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

// A Task is one entry of the tracker, in the form of its file.
type Task struct {
	ID           string         `json:"id"`
	Title        string         `json:"title"`
	Description  string         `json:"description"`
	Type         string         `json:"type"`   // epic, task or bug
	Status       string         `json:"status"` // open, in_progress, blocked or closed
	Parent       string         `json:"parentId,omitempty"`
	Dependencies []string       `json:"dependencies"`
	Agent        string         `json:"subagentSessionId,omitempty"`
	Metadata     map[string]any `json:"metadata,omitempty"`
}

// A Store stores tasks. It is safe for concurrent use.
type Store struct {
	Dir func() string // called at each use; the first write creates the directory

	mu sync.Mutex // held while tasks are read and changed
}

// A RefusedError says in a sentence why a change is refused.
type RefusedError string

// Error returns the sentence.
func (r RefusedError) Error() string { return string(r) }

func refused(format string, args ...any) error { return RefusedError(fmt.Sprintf(format, args...)) }

// longest limits the file of a task, in bytes.
const longest = 1 << 20

// All returns the tasks: tasks in work first, closed tasks last.
func (s *Store) All() ([]Task, error) {
	entries, err := os.ReadDir(s.Dir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var tasks []Task
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		var t Task
		b, err := disk.Read(filepath.Join(s.Dir(), e.Name()), longest)
		if err == nil {
			err = text.Unmarshal(b, &t)
		}
		if err == nil && t.ID != name {
			err = fmt.Errorf("it says that its id is %q", t.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("the task in %s can't be read: %w", e.Name(), err)
		}
		tasks = append(tasks, t)
	}
	order := []string{"in_progress", "open", "blocked", "closed"}
	slices.SortFunc(tasks, func(a, b Task) int {
		return cmp.Or(slices.Index(order, a.Status)-slices.Index(order, b.Status), strings.Compare(a.ID, b.ID))
	})
	return tasks, nil
}

// Find returns the task with an id, nil if there is none.
func Find(tasks []Task, id string) *Task {
	if i := slices.IndexFunc(tasks, func(t Task) bool { return t.ID == id }); i >= 0 {
		return &tasks[i]
	}
	return nil
}

// existing returns the task with an id, or an error if there is none.
func existing(tasks []Task, id string) (*Task, error) {
	if t := Find(tasks, id); t != nil {
		return t, nil
	}
	return nil, refused("Task %s not found.", id)
}

// Create stores a new task.
func (s *Store) Create(t Task) (Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tasks, err := s.All()
	if err != nil {
		return t, err
	}
	for t.ID == "" || Find(tasks, t.ID) != nil {
		var b [3]byte
		rand.Read(b[:])
		t.ID = hex.EncodeToString(b[:])
	}
	return t, s.write(append(tasks, t), t)
}

// Update changes the task of an id by change.
func (s *Store) Update(id string, change func(*Task)) (Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tasks, err := s.All()
	if err != nil {
		return Task{}, err
	}
	t, err := existing(tasks, id)
	if err != nil {
		return Task{}, err
	}
	change(t)
	return *t, s.write(tasks, *t)
}

// write checks t, an element of tasks, and stores it.
func (s *Store) write(tasks []Task, t Task) error {
	if t.Parent != "" {
		if _, err := existing(tasks, t.Parent); err != nil {
			return err
		}
	}
	for _, id := range t.Dependencies {
		on, err := existing(tasks, id)
		if err != nil {
			return err
		}
		if t.Status == "closed" && on.Status != "closed" {
			return refused("Cannot close task %s because dependency %s is still %s.", t.ID, id, on.Status)
		}
	}
	if reaches(tasks, t.ID, func(t Task) []string { return t.Dependencies }) {
		return refused("Task %s would depend on itself, by way of others.", t.ID)
	}
	if reaches(tasks, t.ID, func(t Task) []string { return []string{t.Parent} }) {
		return refused("Task %s would be a part of itself.", t.ID)
	}
	b, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
		return err
	}
	return disk.Replace(filepath.Join(s.Dir(), t.ID+".json"), b, 0o600)
}

// reaches reports whether following next from the task with an id leads back to the task.
func reaches(tasks []Task, id string, next func(Task) []string) bool {
	seen := map[string]bool{}
	var from func(string) bool
	from = func(at string) bool {
		t := Find(tasks, at)
		if t == nil || seen[at] {
			return false
		}
		seen[at] = true
		return slices.ContainsFunc(next(*t), func(n string) bool { return n == id || from(n) })
	}
	return from(id)
}

// Tree returns a line for each task, parts below their parent.
func Tree(tasks []Task) string {
	marks := map[string]string{"open": "⭕", "in_progress": "🚧", "blocked": "⛔", "closed": "✅"}
	lines := []string{"Task Tracker Graph:"}
	var add func(t Task, indent string)
	add = func(t Task, indent string) {
		lines = append(lines, fmt.Sprintf("%s%s %s [%s] %s", indent, marks[t.Status], t.ID,
			strings.ToUpper(t.Type), t.Title))
		if len(t.Dependencies) > 0 {
			lines = append(lines, indent+"  └─ Depends on: "+strings.Join(t.Dependencies, ", "))
		}
		for _, part := range tasks {
			if part.Parent == t.ID {
				add(part, indent+"  ")
			}
		}
	}
	for _, t := range tasks {
		if Find(tasks, t.Parent) == nil {
			add(t, "")
		}
	}
	return strings.Join(lines, "\n")
}
