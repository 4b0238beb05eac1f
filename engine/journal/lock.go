package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"gemline/engine/disk"
	"gemline/engine/text"
)

// A BusyError means that another process uses a session. Fields that the process did not report
// are empty.
type BusyError struct {
	ID string
	LockHolder
}

// A LockHolder describes a process that uses a session, as reported by the process.
type LockHolder struct {
	PID      int
	Since    time.Time
	Host     string
	Terminal string
}

// Error names the process.
func (e *BusyError) Error() string {
	by := "another process"
	if e.PID > 0 {
		by = fmt.Sprintf("process %d", e.PID)
	}
	var more []string
	if !e.Since.IsZero() {
		more = append(more, "since "+e.Since.Local().Format("2006-01-02 15:04"))
	}
	if e.Terminal != "" {
		more = append(more, "at "+e.Terminal)
	}
	if here, _ := os.Hostname(); e.Host != "" && e.Host != here {
		more = append(more, "on "+e.Host)
	}
	return strings.TrimSpace(fmt.Sprintf("session %s is in use by %s %s", text.ShortID(e.ID), by, strings.Join(more, ", ")))
}

// Hint says what to do about it.
func (e *BusyError) Hint() string {
	return fmt.Sprintf("gemline attach %s shows it if it is at a terminal; or wait for its end, or resume a copy: gemline --resume %[1]s --fork", text.ShortID(e.ID))
}

// lockSession locks the session id in dir against other processes, which get a [BusyError]. If no
// file can be created, there is no lock: no session can be written there either.
//
// The lock ends with the process, even if it is killed. Its file is beside the session files and
// describes the holder, one property per line. Unlocking removes the file, so a lock on a removed
// file is void, and the attempt is repeated.
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
			return nil, &BusyError{ID: id, LockHolder: readHolder(path)}
		}
		ours, err := l.Stat()
		there, gone := os.Stat(path)
		if err == nil && gone == nil && os.SameFile(ours, there) {
			os.WriteFile(path, newHolder().lines(), 0o600) // only for messages
			return l, nil
		}
		l.Close()
	}
	return nil, &BusyError{ID: id}
}

// newHolder describes this process.
func newHolder() LockHolder {
	h := LockHolder{PID: os.Getpid(), Since: time.Now()}
	h.Host, _ = os.Hostname()
	for _, fd := range []string{"0", "2"} { // where the system says it
		if name, err := os.Readlink("/proc/self/fd/" + fd); err == nil &&
			(strings.HasPrefix(name, "/dev/pts/") || strings.HasPrefix(name, "/dev/tty")) {
			h.Terminal = name
			break
		}
	}
	return h
}

// lines returns h in the format of the lock's file.
func (h LockHolder) lines() []byte {
	return fmt.Appendf(nil, "%d\n%s\n%s\n%s\n", h.PID, text.Timestamp(h.Since), h.Host, h.Terminal)
}

// readHolder returns the holder in a lock's file.
func readHolder(path string) (h LockHolder) {
	b, err := disk.Read(path, 4096)
	if err != nil {
		return h
	}
	lines := append(strings.Split(string(b), "\n"), "", "", "")
	if h.PID, err = strconv.Atoi(lines[0]); err != nil || h.PID < 1 {
		return LockHolder{}
	}
	h.Since, _ = time.Parse(time.RFC3339, lines[1])
	h.Host, h.Terminal = title(lines[2]), title(lines[3])
	return h
}

// unlock releases the lock of lockSession, which may be nil.
func unlock(l *flock.Flock) {
	if l != nil {
		os.Remove(l.Path())
		l.Close()
	}
}
