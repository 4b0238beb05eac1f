package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/gofrs/flock"
)

// A Ledger records the names of temporary files before they are created. [Ledger.Sweep] removes
// the recorded files of a dead process; without a record, such a file could belong to a living
// process.
//
// Each process has its own file of records, and locks the file until the process exits. A nil
// Ledger, or a Ledger without a directory, records nothing. A Ledger is safe for concurrent use.
type Ledger struct {
	dir string

	mu     sync.Mutex
	lock   *flock.Flock // nil before the first record
	out    *os.File
	failed bool // the records can't be written
}

// NewLedger returns a Ledger whose records are in dir. It creates nothing before the first
// record.
func NewLedger(dir string) *Ledger { return &Ledger{dir: dir} }

// Create creates a recorded temporary file in the directory of path. If it will replace a file,
// old, it gets the mode of old and, if the user may set it, the owner. A symbolic link at path
// would be replaced.
func (l *Ledger) Create(path string, old fs.FileInfo) (*File, error) {
	f := &File{old: old}
	return f.create(filepath.Join(filepath.Dir(path), begin), 0o666, l.note)
}

// CreateIn is [Ledger.Create] for a file in an open directory, which was opened at path and must
// stay open until the File is ended. The path for Commit is then a name in dir.
func (l *Ledger) CreateIn(dir *os.Root, path string, old fs.FileInfo) (*File, error) {
	f := &File{old: old, dir: dir}
	return f.create(begin, 0o666, func(name string) { l.note(filepath.Join(path, name)) })
}

// CreatePrivate creates a temporary file in an open directory, for the user alone and without a
// record.
func CreatePrivate(dir *os.Root) (*File, error) {
	f := &File{dir: dir}
	return f.create(begin, 0o600, func(string) {})
}

// note records a path. If that fails, the file is written nevertheless.
func (l *Ledger) note(path string) {
	if l == nil || l.dir == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil && !l.failed {
		l.failed = l.open() != nil
	}
	if path, err := filepath.Abs(path); err == nil && !l.failed {
		_, err := fmt.Fprintf(l.out, "%q\n", path)
		l.failed = err != nil
	}
}

// open creates the file for this process's records. Before it is locked, another process may
// remove it as a dead process's; then open creates another.
func (l *Ledger) open() error {
	for range 100 {
		if err := os.MkdirAll(l.dir, 0o700); err != nil {
			return err
		}
		path := filepath.Join(l.dir, fmt.Sprintf("%d-%016x", os.Getpid(), rand.Uint64()))
		out, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrNotExist) { // the directory was removed
			continue
		}
		if err != nil {
			return err
		}
		lock := flock.New(path, flock.SetFlag(os.O_RDWR))
		if ok, err := lock.TryLock(); err == nil && ok {
			ours, oerr := out.Stat()
			there, terr := os.Lstat(path)
			if oerr == nil && terr == nil && os.SameFile(ours, there) {
				l.lock, l.out = lock, out
				return nil
			}
		}
		lock.Close()
		out.Close()
	}
	return fs.ErrInvalid
}

// Close removes the records: all files are written.
func (l *Ledger) Close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = true
	if l.lock != nil {
		os.Remove(l.lock.Path())
		l.out.Close()
		l.lock.Close()
		l.lock = nil
		os.Remove(l.dir) // fails if there are other files
	}
}

// begin is the prefix of the names of temporary files.
const begin = ".gemline-"

// temporary matches the names of temporary files.
var temporary = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.gemline-[0-9a-f]{16}$`) })

// IsUnfinished reports whether name is the name of an uncommitted File.
func IsUnfinished(name string) bool { return temporary().MatchString(name) }

// Sweep removes the recorded files of dead processes.
func (l *Ledger) Sweep() {
	if l == nil || l.dir == "" {
		return
	}
	entries, _ := os.ReadDir(l.dir) // usually empty
	for _, e := range entries {
		if e.Type().IsRegular() {
			sweep(filepath.Join(l.dir, e.Name()))
		}
	}
	if len(entries) > 0 {
		os.Remove(l.dir) // fails if a process is alive
	}
}

// sweep removes the files recorded in notes, and notes itself, unless a process has locked it.
func sweep(notes string) {
	lock := flock.New(notes, flock.SetFlag(os.O_RDWR))
	defer lock.Close()
	if ok, err := lock.TryLock(); err != nil || !ok {
		return
	}
	b, err := os.ReadFile(notes)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(b)) {
		quoted, whole := strings.CutSuffix(line, "\n") // the last line may be incomplete
		path, err := strconv.Unquote(quoted)
		if !whole || err != nil || !IsUnfinished(filepath.Base(path)) {
			continue
		}
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			os.Remove(path)
		}
	}
	os.Remove(notes)
}
