package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// A BusyError means that another process works with a session.
type BusyError struct {
	ID  string
	PID int // 0 if it did not say
}

// Error says who uses it.
func (e *BusyError) Error() string {
	by := "another process"
	if e.PID > 0 {
		by = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("session %s is in use by %s", e.ID, by)
}

// Hint says what to do about it.
func (e *BusyError) Hint() string { return "wait for its end, or begin a session of another id" }

// lockSession keeps other processes from the session id in dir until the lock is let
// go; they get a [BusyError]. There is no lock where no file can be made: no
// session can be written there either.
//
// The lock ends with the process, whatever ends that. Its file is named beside
// the sessions' and holds the number of the process. Whoever lets go removes
// it, so a lock on a file without a name counts for nothing and is tried again.
func lockSession(dir, id string) (*flock.Flock, error) {
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return nil, nil
	}
	path := filepath.Join(dir, ".session-"+fileName(id)+".lock")
	for range 100 {
		l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|noFollow), flock.SetPermissions(0o600))
		ok, err := l.TryLock()
		if err != nil {
			return nil, nil
		}
		if !ok {
			return nil, &BusyError{ID: id, PID: lockHolder(path)}
		}
		ours, err := l.Stat()
		there, gone := os.Stat(path)
		if err == nil && gone == nil && os.SameFile(ours, there) {
			os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600) // only to be told
			return l, nil
		}
		l.Close()
	}
	return nil, &BusyError{ID: id}
}

// lockHolder returns the process that a lock's file names, 0 if it does not.
func lockHolder(path string) int {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}

// unlock ends what lockSession began. The lock may be nil.
func unlock(l *flock.Flock) {
	if l != nil {
		os.Remove(l.Path())
		l.Close()
	}
}
