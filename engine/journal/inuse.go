package journal

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// InUse returns the [BusyError] of a session in dir that a process uses, nil if there is none.
func InUse(dir string) error {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		id, is := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".lock"), ".session-")
		if !is || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		l := flock.New(path, flock.SetFlag(os.O_RDWR|noFollow))
		ok, err := l.TryLock()
		l.Close()
		if err == nil && !ok {
			return &BusyError{ID: id, LockHolder: readHolder(path)}
		}
	}
	return nil
}
