package tools

import (
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
)

// A task is one entry of the tracker, as its file has it.
type task struct {
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

// A taskStore keeps tasks in a directory, a file each. Its methods hold the lock
// for as long as what they read must stay true.
type taskStore struct {
	mu  sync.Mutex
	dir func() string
}

// longestTask is how many bytes the file of a task may have.
const longestTask = 1 << 20

// all returns the tasks: those that are worked on first, the closed ones last.
func (s *taskStore) all() ([]task, error) {
	entries, err := os.ReadDir(s.dir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var tasks []task
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		var t task
		b, err := disk.Read(filepath.Join(s.dir(), e.Name()), longestTask)
		if err == nil {
			err = json.Unmarshal(b, &t)
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
	slices.SortFunc(tasks, func(a, b task) int {
		if d := slices.Index(order, a.Status) - slices.Index(order, b.Status); d != 0 {
			return d
		}
		return strings.Compare(a.ID, b.ID)
	})
	return tasks, nil
}

// find returns the task of an id, nil if there is none.
func find(tasks []task, id string) *task {
	if i := slices.IndexFunc(tasks, func(t task) bool { return t.ID == id }); i >= 0 {
		return &tasks[i]
	}
	return nil
}

// existing returns the task of an id, or the error that there is none.
func existing(tasks []task, id string) (*task, error) {
	if t := find(tasks, id); t != nil {
		return t, nil
	}
	return nil, untracked("Task %s not found.", id)
}

// create keeps a new task.
func (s *taskStore) create(t task) (task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tasks, err := s.all()
	if err != nil {
		return t, err
	}
	for t.ID == "" || find(tasks, t.ID) != nil {
		var b [3]byte
		rand.Read(b[:])
		t.ID = hex.EncodeToString(b[:])
	}
	return t, s.write(append(tasks, t), t)
}

// update changes the task of an id by change.
func (s *taskStore) update(id string, change func(*task)) (task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tasks, err := s.all()
	if err != nil {
		return task{}, err
	}
	t, err := existing(tasks, id)
	if err != nil {
		return task{}, err
	}
	change(t)
	return *t, s.write(tasks, *t)
}

// write keeps t, which is one of tasks, if it may be so.
func (s *taskStore) write(tasks []task, t task) error {
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
			return untracked("Cannot close task %s because dependency %s is still %s.", t.ID, id, on.Status)
		}
	}
	if reaches(tasks, t.ID, func(t task) []string { return t.Dependencies }) {
		return untracked("Task %s would depend on itself, by way of others.", t.ID)
	}
	if reaches(tasks, t.ID, func(t task) []string { return []string{t.Parent} }) {
		return untracked("Task %s would be a part of itself.", t.ID)
	}
	b, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir(), 0o700); err != nil {
		return err
	}
	return disk.Replace(filepath.Join(s.dir(), t.ID+".json"), b, 0o600)
}

// reaches reports whether next, followed from the task of an id, leads back to it.
func reaches(tasks []task, id string, next func(task) []string) bool {
	seen := map[string]bool{}
	var from func(string) bool
	from = func(at string) bool {
		t := find(tasks, at)
		if t == nil || seen[at] {
			return false
		}
		seen[at] = true
		return slices.ContainsFunc(next(*t), func(n string) bool { return n == id || from(n) })
	}
	return from(id)
}

// forest returns a line for each task, those that are part of another below it.
func forest(tasks []task) string {
	marks := map[string]string{"open": "⭕", "in_progress": "🚧", "blocked": "⛔", "closed": "✅"}
	lines := []string{"Task Tracker Graph:"}
	var add func(t task, indent string)
	add = func(t task, indent string) {
		lines = append(lines, fmt.Sprintf("%s%s %s [%s] %s", indent, marks[t.Status], t.ID, strings.ToUpper(t.Type), flat(t.Title)))
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
		if find(tasks, t.Parent) == nil {
			add(t, "")
		}
	}
	return strings.Join(lines, "\n")
}
