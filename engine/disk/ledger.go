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

// A Ledger notes the names of files that are being written, before they are
// there. Files noted by a process that has died are nobody's, and are removed by
// [Ledger.Sweep]; without the note, it could be anybody's.
//
// The notes of a process are a file of its own, which it holds a lock on as long
// as it lives. Nil is a Ledger that notes nothing, as is one of no directory. A
// Ledger is safe for concurrent use.
type Ledger struct {
	dir string

	mu     sync.Mutex
	lock   *flock.Flock // nil before the first note
	out    *os.File
	failed bool // there is no place for notes
}

// NewLedger returns a Ledger whose notes are in dir. Nothing is touched before
// the first one.
func NewLedger(dir string) *Ledger { return &Ledger{dir: dir} }

// Create begins a file in the directory of path, with a note. If it is to replace a file, old, it
// gets the mode of old and, as far as the user may set it, the owner. A symbolic link at path
// would be replaced.
func (l *Ledger) Create(path string, old fs.FileInfo) (*File, error) {
	f := &File{old: old}
	return f.create(filepath.Join(filepath.Dir(path), begin), 0o666, l.note)
}

// CreateIn is [Ledger.Create] for a file in an open directory, which was found at
// path and must stay open until the File is ended. Commit then takes the name of
// the file in it.
func (l *Ledger) CreateIn(dir *os.Root, path string, old fs.FileInfo) (*File, error) {
	f := &File{old: old, dir: dir}
	return f.create(begin, 0o666, func(name string) { l.note(filepath.Join(path, name)) })
}

// CreatePrivate begins a file in an open directory, for the user alone, without a note.
func CreatePrivate(dir *os.Root) (*File, error) {
	f := &File{dir: dir}
	return f.create(begin, 0o600, func(string) {})
}

// note writes a path down. Where that can't be done, the file is written all the
// same.
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

// open creates the file for this process's notes. Before the lock, another process may remove
// the file as a dead process's; then open creates another.
func (l *Ledger) open() error {
	for range 100 {
		if err := os.MkdirAll(l.dir, 0o700); err != nil {
			return err
		}
		path := filepath.Join(l.dir, fmt.Sprintf("%d-%016x", os.Getpid(), rand.Uint64()))
		out, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrNotExist) { // somebody has removed the directory
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

// Close ends the notes: nothing is being written any more.
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
		os.Remove(l.dir) // unless there are others
	}
}

// begin is how the name of a File begins until it is whole.
const begin = ".gemline-"

// temporary is what a File is called until it is whole.
var temporary = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.gemline-[0-9a-f]{16}$`) })

// IsUnfinished reports whether name is the name of a File that is not committed yet.
func IsUnfinished(name string) bool { return temporary().MatchString(name) }

// Sweep removes the files that processes have noted and left, now that they are
// dead.
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
		os.Remove(l.dir) // unless somebody lives
	}
}

// sweep removes what the notes in a file name, and the file, if nobody holds it.
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
