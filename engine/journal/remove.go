package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// errNewer means that a session was written to after it was chosen for removal.
var errNewer = errors.New("the session has been gone on with")

// remove deletes the session id with its files, unless a file was written after last. Related
// data is deleted first: without the session file it could not be found.
func (s Storage) remove(id string, paths []string, last time.Time) error {
	lock, err := lockSession(s.Chats, id)
	if err != nil {
		return err
	}
	defer unlock(lock)
	for _, path := range paths {
		if now, err := glance(path); !last.IsZero() && err == nil && (now.Updated.After(last) || now.NewerFormat) {
			return errNewer
		}
	}
	if err = s.Drop(id); err != nil { // the session stays, with its related data
		return fmt.Errorf("the copies for undo can't be deleted: %w", err)
	}
	for _, dir := range append(s.Dirs(id), filepath.Join(s.Chats, id)) { // the last directory has the agents' files
		if info, serr := os.Lstat(dir); serr == nil && info.IsDir() {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	if err != nil {
		return err
	}
	for _, path := range paths {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// filesOf returns the files of each session in dir.
func filesOf(dir string) (map[string][]string, error) {
	found, err := sessionsIn(dir, "")
	paths := map[string][]string{}
	for _, s := range found {
		paths[s.ID] = append(paths[s.ID], s.Path)
	}
	return paths, err
}
