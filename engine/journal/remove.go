package journal

import (
	"errors"
	"os"
	"path/filepath"
)

// Remove deletes all that dir holds of a session: its files, in either form,
// and those of its agents. A session that a process works with stays, which is
// a [*BusyError].
func Remove(dir, id string) error {
	if !ValidID(id) {
		return errors.New("no session has such an id")
	}
	lock, err := lockSession(dir, id)
	if err != nil {
		return err
	}
	defer unlock(lock)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !isSessionName(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if s, rerr := read(path); rerr == nil && s.ID == id {
			err = errors.Join(err, os.Remove(path))
		}
	}
	if info, serr := os.Lstat(filepath.Join(dir, id)); serr == nil && info.IsDir() {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, id)))
	}
	return err
}
