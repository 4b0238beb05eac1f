package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	protocol "github.com/a2aproject/a2a-go/a2a"
	"github.com/google/uuid"

	"gemline/engine/disk"
)

// A store is the folder of the tasks, each in a folder of its own. "" keeps nothing.
type store string

// open has the folder be this process's, and returns what is kept in it. Of a task that
// can't be read it tells warn.
func (d store) open(ctx context.Context, warn func(string)) (all []record, done func(), err error) {
	const soon = time.Second
	if d == "" {
		return nil, func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	if done, err = disk.Lock(ctx, filepath.Join(string(d), "task.json")); err != nil {
		return nil, nil, err
	}
	entries, err := os.ReadDir(string(d))
	if err != nil {
		done()
		return nil, nil, err
	}
	for _, e := range entries {
		if uuid.Validate(e.Name()) != nil {
			continue
		}
		r, err := d.read(protocol.TaskID(e.Name()))
		switch {
		case err == nil:
			all = append(all, r)
		case !errors.Is(err, fs.ErrNotExist): // which a task that was forgotten may leave
			warn(fmt.Sprintf("a task is left out: %v", err))
		}
	}
	return all, done, nil
}

// read returns the task id.
func (d store) read(id protocol.TaskID) (r record, err error) {
	b, err := disk.Read(d.path(id), 4*mostRecord)
	if err == nil {
		err = json.Unmarshal(b, &r)
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

// save keeps what a task is now.
func (d store) save(id protocol.TaskID, b []byte) error {
	if d == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(d.path(id)), 0o700); err != nil {
		return err
	}
	return disk.Replace(d.path(id), b, 0o600)
}

// forget removes a task.
func (d store) forget(id protocol.TaskID) {
	if d != "" && uuid.Validate(string(id)) == nil {
		os.RemoveAll(filepath.Dir(d.path(id)))
	}
}
