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

// A state lists the finished items of a batch, in a file with a line for each ended item; one run
// at a time appends to it. A state without a file stores them in memory, for this run. It is not
// safe for concurrent use.
//
// A file may end anywhere, since the program may be killed: an incomplete line is ignored.
type state struct {
	path string
	file *os.File // nil without a file
	lock *flock.Flock
	full bool  // no more can be written to it
	end  int64 // the length of the file
	torn bool  // whether it ends within a line

	items map[int]entry
	jobs  []*job
}

// An entry is an ended item, with the place of its record.
type entry struct {
	hash    string
	attempt int
	code    int    // its exit code
	reason  string // its termination reason
	at      int64
	size    int
	record  []byte // nil if it is in the file
}

// A line is a line of the file: an ended item, or a change of a job.
type line struct {
	Index   int             `json:"index"`
	Hash    string          `json:"hash,omitempty"`
	Attempt int             `json:"attempt,omitempty"`
	Code    int             `json:"exit_code"`
	Reason  string          `json:"termination_reason,omitempty"`
	Record  json.RawMessage `json:"record,omitempty"`
	Job     *job            `json:"job,omitempty"`
}

// maxLine is the longest line of a state, in bytes. An item with a longer line is repeated.
const maxLine = 1 << 30

// openState opens the state in the file path, which it creates with its directory if needed. With
// fresh, it drops the contents. If another run uses the file, the error is an [*input.Error].
func openState(path string, fresh bool) (*state, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	s := &state{path: path, items: map[int]entry{}}
	if err := s.lockState(); err != nil {
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

// lockState takes the lock, which is a separate file. A run that ends removes the lock's file, so
// lockState checks that the locked file still has its name.
func (s *state) lockState() error {
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

// load reads the file. A later line about an item overrides an earlier line.
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
			s.end, s.torn = in.At, in.Torn // an unfinished line may hold a complete object
			return nil
		case err != text.ErrLong:
			return err
		}
	}
}

// loadLine reads the line at an offset of the file.
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

// len returns the number of ended items, and of answered items.
func (s *state) len() (ended, answered int) {
	for _, e := range s.items {
		if e.code == 0 {
			answered++
		}
	}
	return len(s.items), answered
}

// take removes and returns an earlier run's entry of the item at an index, if the item is
// unchanged.
func (s *state) take(index int, hash string) (entry, bool) {
	e, ok := s.items[index]
	delete(s.items, index)
	return e, ok && e.hash == hash
}

// add stores e with its record, and returns the stored entry. After an error of the file, that
// record and all later records stay in memory.
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

// volatile reports whether records are stored in memory.
func (s *state) volatile() bool { return s.file == nil || s.full }

// append writes a line, and returns its offset if it is in the file.
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

// Close closes the file and releases its lock.
func (s *state) Close() error { return s.close(false) }

// remove closes the state and deletes the file after the end of the batch.
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
	if s.lock != nil { // deleted while locked; see lockState
		os.Remove(s.lock.Path()) // a file that remains does no harm
		err = cmp.Or(err, s.lock.Close())
		s.lock = nil
	}
	return err
}
