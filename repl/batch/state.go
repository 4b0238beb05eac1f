package batch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"gemline/engine/text"
	"gemline/repl/input"
)

// A state lists the finished items of a batch, in a file that one run at a
// time appends to, a line for each item that has ended. A state without a file
// holds it in memory, for this run. It must not be used concurrently.
//
// A file may end anywhere, since the program may: an incomplete object counts
// as not there.
type state struct {
	path string
	file *os.File // nil if there is none
	lock *flock.Flock
	full bool  // nothing more can be written to it
	end  int64 // where the file ends
	torn bool  // and whether that is within a line

	items map[int]entry
	jobs  []*job
}

// An entry is an item that has ended, and where its record is.
type entry struct {
	hash    string
	attempt int
	code    int    // its exit code
	reason  string // its termination reason
	at      int64
	size    int
	record  []byte // if it is not in the file
}

// A line is a line of the file: an item that has ended, or
// something about a job of the server's.
type line struct {
	Index   int             `json:"index"`
	Hash    string          `json:"hash,omitempty"`
	Attempt int             `json:"attempt,omitempty"`
	Code    int             `json:"exit_code"`
	Reason  string          `json:"termination_reason,omitempty"`
	Record  json.RawMessage `json:"record,omitempty"`
	Job     *job            `json:"job,omitempty"`
}

// maxLine is how long a line of a state may be. An item with a longer one is
// asked again.
const maxLine = 1 << 30

// openState opens the state in the file path, which is made if need be, with
// its directory. With fresh, its content is forgotten. If another run uses
// it, the error is an [*input.Error].
func openState(path string, fresh bool) (*state, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	s := &state{path: path, items: map[int]entry{}}
	if err := s.seize(); err != nil {
		return nil, err
	}
	flags := os.O_RDWR | os.O_CREATE
	if fresh {
		flags |= os.O_TRUNC
	}
	var err error
	if s.file, err = os.OpenFile(path, flags, 0o600); err == nil {
		err = s.load()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// memory returns a state without a file.
func memory() *state { return &state{items: map[int]entry{}} }

// seize takes the lock, which is a file of its own: that of another run may be
// removed while it is waited for, and is then no lock any more.
func (s *state) seize() error {
	for range 100 {
		l := flock.New(s.path+".lock", flock.SetPermissions(0o600))
		ok, err := l.TryLock()
		switch {
		case err != nil:
			return err
		case !ok:
			l.Close()
			return &input.Error{Message: "another run of this batch is in progress (its state file is " + s.path + ")\n" +
				"hint: wait for it, or give --batch-state another file"}
		}
		mine, err1 := l.Stat()
		there, err2 := os.Stat(l.Path())
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			s.lock = l
			return nil
		}
		l.Close()
	}
	return fmt.Errorf("%s.lock is made and removed by another program", s.path)
}

// load reads the file. A later line about an item beats an earlier
// one.
func (s *state) load() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &input.Error{Message: s.path + " is not a file that the state can be kept in"}
	}
	in := text.NewLines(s.file, '\n', maxLine)
	for {
		at := in.At
		switch b, err := in.Next(); {
		case err == nil:
			s.loadLine(b, at)
		case err == io.EOF:
			s.end, s.torn = in.At, in.Torn // what is torn may be whole all the same
			return nil
		case err != text.ErrLong:
			return err
		}
	}
}

// loadLine takes over a line that stands at a place of the file.
func (s *state) loadLine(b []byte, at int64) {
	var l line
	if json.Unmarshal(b, &l) != nil || l.Index < 0 {
		return
	}
	if l.Job != nil {
		s.loadJob(l.Job)
		return
	}
	if l.Hash == "" || l.Attempt < 1 || !bytes.HasPrefix(l.Record, []byte("{")) {
		return
	}
	s.items[l.Index] = entry{hash: l.Hash, attempt: l.Attempt, code: l.Code, reason: l.Reason, at: at, size: len(b)}
}

// len returns how many items are known to have ended, and how many of them
// were answered.
func (s *state) len() (ended, answered int) {
	for _, e := range s.items {
		if e.code == 0 {
			answered++
		}
	}
	return len(s.items), answered
}

// take returns what an earlier run left about the item at a place, if that is
// still the same one, and forgets it.
func (s *state) take(index int, hash string) (entry, bool) {
	e, ok := s.items[index]
	delete(s.items, index)
	return e, ok && e.hash == hash
}

// add keeps e, whose record is given, and returns it as [state.record] takes it
// when that is safe. The error is of keeping it in the file; its record and all
// that follow are kept in memory then.
func (s *state) add(index int, e entry) (entry, error) {
	b, err := json.Marshal(line{Index: index, Hash: e.hash, Attempt: e.attempt, Code: e.code,
		Reason: e.reason, Record: e.record})
	if err != nil {
		panic(err) // a record is JSON
	}
	at, kept, err := s.append(b)
	if kept {
		e.at, e.size, e.record = at, len(b), nil
	}
	return e, err
}

// volatile reports whether records are kept in memory.
func (s *state) volatile() bool { return s.file == nil || s.full }

// append writes a line and returns where it is, if it is in the file.
func (s *state) append(b []byte) (at int64, kept bool, err error) {
	if s.file == nil || s.full {
		return 0, false, nil
	}
	from := s.end
	at = from
	if s.torn {
		b = append([]byte{'\n'}, b...)
		at++
	}
	if _, err = s.file.WriteAt(append(b, '\n'), from); err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		s.full = true
		return 0, false, err
	}
	s.end, s.torn = from+int64(len(b))+1, false
	return at, true, nil
}

// record returns the record of e.
func (s *state) record(e entry) ([]byte, error) {
	if e.record != nil {
		return e.record, nil
	}
	b := make([]byte, e.size)
	if _, err := s.file.ReadAt(b, e.at); err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	var l line
	if err := json.Unmarshal(b, &l); err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return l.Record, nil
}

// Close lets others use the file.
func (s *state) Close() error { return s.close(false) }

// remove closes the state and removes the file: the batch is over.
func (s *state) remove() error { return s.close(true) }

func (s *state) close(remove bool) error {
	var err error
	if s.file != nil {
		err = s.file.Close()
		s.file = nil
	}
	if remove && s.path != "" {
		if rerr := os.Remove(s.path); !errors.Is(rerr, fs.ErrNotExist) {
			err = cmp.Or(err, rerr)
		}
	}
	if s.lock != nil { // removed while it is held; see seize
		os.Remove(s.lock.Path()) // what stays is in nobody's way
		err = cmp.Or(err, s.lock.Close())
		s.lock = nil
	}
	return err
}
