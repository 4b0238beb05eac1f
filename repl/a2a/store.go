package a2a

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	protocol "github.com/a2aproject/a2a-go/a2a"
	"github.com/google/uuid"

	"gemline/engine/disk"
	"gemline/engine/text"
)

// A store is the folder of the tasks; each task has a folder in it. "" stores nothing.
type store string

// open locks the folder for this process, and returns the stored tasks, the last used up to the
// limit. It deletes the others, and warns about deleted and unusable tasks.
func (d store) open(ctx context.Context, warn func(string)) (all []record, done func(), err error) {
	if d == "" {
		return nil, func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	done, err = disk.Lock(ctx, filepath.Join(string(d), "task.json"))
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, nil, fmt.Errorf("another gemline a2a serve has the tasks of this folder, which are in %s: give it the tasks, or end it first", d)
	}
	var ids []protocol.TaskID
	if err == nil {
		if ids, err = d.list(); err != nil {
			done()
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("tasks can't be kept: %w", err)
	}
	if n := len(ids) - mostTasks; n > 0 {
		for _, id := range ids[mostTasks:] {
			d.forget(id)
		}
		ids = ids[:mostTasks]
		warn(fmt.Sprintf("%s that were used longest ago are forgotten, since at most %d are kept",
			text.Count(n, "task"), mostTasks))
	}
	var unread []error
	for _, id := range ids {
		if r, err := d.read(id); err == nil {
			all = append(all, r)
		} else {
			unread = append(unread, err)
		}
	}
	switch len(unread) {
	case 0:
	case 1:
		warn(fmt.Sprintf("a task is left out: %v", unread[0]))
	default:
		warn(fmt.Sprintf("%s are left out, such as %v", text.Count(len(unread), "task"), unread[0]))
	}
	return all, done, nil
}

// list returns the ids of the stored tasks, the last used first.
func (d store) list() (ids []protocol.TaskID, err error) {
	entries, err := os.ReadDir(string(d))
	used := map[protocol.TaskID]time.Time{}
	for _, e := range entries {
		id := protocol.TaskID(e.Name())
		if info, err := os.Stat(d.path(id)); err == nil && uuid.Validate(e.Name()) == nil {
			ids, used[id] = append(ids, id), info.ModTime()
		}
	}
	slices.SortStableFunc(ids, func(a, b protocol.TaskID) int { return used[b].Compare(used[a]) })
	return ids, err
}

// read returns the task with an id.
func (d store) read(id protocol.TaskID) (r record, err error) {
	b, err := disk.Read(d.path(id), 4*mostRecord)
	if err == nil {
		err = text.Unmarshal(b, &r)
	}
	if err == nil && r.Task.ID != id {
		err = errors.New("it is of another task")
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", d.path(id), err)
	}
	return r, err
}

func (d store) path(id protocol.TaskID) string {
	return filepath.Join(string(d), string(id), "task.json")
}

// save stores the current state of a task.
func (d store) save(r record) error {
	if d == "" {
		return nil
	}
	b, err := text.JSON(r, "")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(d.path(r.Task.ID)), 0o700)
	}
	if err == nil {
		err = disk.Replace(d.path(r.Task.ID), b, 0o600)
	}
	return err
}

// forget removes a task.
func (d store) forget(id protocol.TaskID) {
	if d != "" {
		os.RemoveAll(filepath.Dir(d.path(id)))
	}
}
