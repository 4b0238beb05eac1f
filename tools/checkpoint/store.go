package checkpoint

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"gemline/engine/disk"
)

// The form of a store: a file that names the form, a zip file for each state,
// and for each session a file with the name of its last state.
const (
	formatVersion = 1
	formFile      = "store.json"
	statesDir     = "states"
	sessionsDir   = "sessions"
)

// directories lists the directories of a store, its root included.
var directories = []string{".", sessionsDir, statesDir}

const (
	saidName     = "state.json"
	manifestName = "manifest.txt"
	mostManifest = 256 << 20 // bytes
	mostLine     = 4096      // bytes of a small file
	mostOpen     = 16        // states
)

// A Sum is the SHA-256 of a content, in hexadecimal digits; "" means no content.
type Sum string

// sumOf returns the sum of a content.
func sumOf(content []byte) Sum {
	h := sha256.Sum256(content)
	return Sum(hex.EncodeToString(h[:]))
}

// A store is a directory of states and names for the last states of sessions. Only
// [store.add] is safe for concurrent use.
type store struct {
	dir    *disk.Dir
	at     map[string]*os.Root // open directories for writing
	create func(at *os.Root) (file, error)
	lock   *flock.Flock

	mu         sync.Mutex     // guards where and next while contents are added
	where      map[Sum]string // the state that holds each content, for the states that were read
	open       map[string]*opened
	generation string
	next       *batch // the state that is being written, nil if there is none
}

// An opened state is a zip file that is being read.
type opened struct {
	zip  *zip.Reader
	file *os.File
}

// Reasons why a content or a state can't be read.
var (
	errMissing = errors.New("is not in the store of checkpoints")
	errNewer   = errors.New("the checkpoints here were kept by a newer gemline: gemline update says which command updates this one")
)

// A damagedError means that the file with the form of a store is damaged.
type damagedError struct{ error }

// create opens the store at path, and makes it if there is none.
func create(path string, begin func(at *os.Root) (file, error)) (*store, error) {
	for _, dir := range directories {
		at := filepath.Join(path, dir)
		if err := os.MkdirAll(at, 0o700); err != nil {
			return nil, err
		}
		if info, err := os.Lstat(at); err != nil || !info.IsDir() { // so that nothing is created behind a link
			return nil, &fs.PathError{Op: "open", Path: at, Err: disk.ErrLink}
		}
	}
	disk.Restrict(path)
	dir, err := disk.OpenDir(path)
	if err != nil {
		return nil, err
	}
	r := &store{dir: dir, at: map[string]*os.Root{}, create: begin,
		lock: flock.New(filepath.Join(path, "lock"), flock.SetPermissions(0o600))}
	r.forget()
	for _, name := range directories {
		at, err := dir.Sub(name)
		if err != nil {
			r.close()
			return nil, err
		}
		r.at[name] = at
	}
	b, err := r.read(formFile, mostLine)
	if errors.Is(err, fs.ErrNotExist) {
		b = fmt.Appendf(nil, "{\"formatVersion\":%d}\n", formatVersion)
		err = r.write(".", formFile, b)
	}
	if err == nil {
		if err = new(heading).read(b); err != nil && err != errNewer {
			err = &damagedError{fmt.Errorf("%s is damaged (%v): nothing can be taken back here, and no checkpoint is made, "+
				"until you move it away; the next change makes it anew", filepath.Join(path, formFile), err)}
		}
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// close closes the store.
func (r *store) close() {
	r.forget()
	for _, at := range r.at {
		at.Close()
	}
	r.lock.Close()
	r.dir.Close()
}

// forget drops the cached states, which are then read again.
func (r *store) forget() {
	for _, o := range r.open {
		o.file.Close()
	}
	r.where, r.open = map[Sum]string{}, map[string]*opened{}
}

// use prevents collections by others until done is called. It reports whether there was a
// collection since the last call: known states may be gone.
func (r *store) use(ctx context.Context) (done func(), collected bool, err error) {
	if ok, err := r.lock.TryRLockContext(ctx, 5*time.Millisecond); !ok {
		return nil, false, fmt.Errorf("lock the checkpoints: %w", err)
	}
	b, _ := r.read("generation", mostLine) // missing before the first collection
	if collected = string(b) != r.generation; collected {
		r.generation = string(b)
		r.forget()
	}
	return func() {
		r.discard()
		r.lock.Unlock()
	}, collected, nil
}

// states returns the names of the states, in order.
func (r *store) states() (ids []string) {
	entries, _ := r.dir.List(statesDir)
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".zip"); ok && CanName(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// index fills r.where with the contents of all states.
func (r *store) index() {
	for _, id := range r.states() {
		for _, sum := range r.sums(id) {
			r.where[sum] = id
		}
	}
}

// sums returns the sums of the contents in a state, none for a damaged state.
func (r *store) sums(id string) (list []Sum) {
	o, err := r.reader(id)
	for i := 0; err == nil && i < len(o.zip.File); i++ {
		list = append(list, Sum(o.zip.File[i].Name))
	}
	return list
}

// reader opens a state.
func (r *store) reader(id string) (*opened, error) {
	if o := r.open[id]; o != nil {
		return o, nil
	}
	f, info, err := r.dir.File(filepath.Join(statesDir, id+".zip"))
	if err != nil {
		return nil, fmt.Errorf("%.80q %w", id, errMissing)
	}
	f.SetReadDeadline(time.Time{})
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("the checkpoint %s is damaged: %w", id, err)
	}
	o := &opened{z, f}
	for other, o := range r.open {
		if len(r.open) >= mostOpen {
			o.file.Close()
			delete(r.open, other)
		}
	}
	r.open[id] = o
	return o, nil
}

// part returns the entry of a state with a name.
func (r *store) part(id, name string, most int64) ([]byte, error) {
	o, err := r.reader(id)
	if err != nil {
		return nil, err
	}
	info, err := fs.Stat(o.zip, name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s %w", name, errMissing)
	case uint64(info.Size()) > uint64(most):
		return nil, fmt.Errorf("%s in the store of checkpoints is too large", name)
	}
	b, err := fs.ReadFile(o.zip, name)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged in the store of checkpoints: %w", name, err)
	}
	return b, nil
}

// content returns the content with a sum.
func (r *store) content(sum Sum, most int64) ([]byte, error) {
	if r.where[sum] == "" {
		r.index()
	}
	id := r.where[sum]
	if id == "" {
		return nil, fmt.Errorf("%s %w", sum, errMissing)
	}
	b, err := r.part(id, string(sum), most)
	if err == nil && sumOf(b) != sum {
		return nil, fmt.Errorf("%s is damaged in the store of checkpoints", sum)
	}
	return b, err
}

// A heading holds the record and the manifest of a state.
type heading struct {
	FormatVersion disk.Format `json:"formatVersion"`
	Parent        string      `json:"parent,omitempty"`
	Record        Record      `json:"record"`
}

// read reads a heading. A heading in a newer form is [errNewer], even if its other fields
// can't be read.
func (s *heading) read(b []byte) error {
	if !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) { // Unmarshal accepts null, too
		return errors.New("it is no JSON object")
	}
	err := json.Unmarshal(b, s)
	if s.FormatVersion > formatVersion {
		return errNewer
	}
	return err
}

// heading returns the heading of a state.
func (r *store) heading(id string) (s heading, err error) {
	b, err := r.part(id, saidName, mostManifest)
	if err == nil {
		err = s.read(b)
	}
	return s, err
}

// append appends a line of a manifest to b: the path's version before and after, and the
// time of the change.
func (c Change) append(b []byte) []byte {
	return fmt.Appendf(b, "%o %s %o %s %d %d %q\n", c.Before.Mode, cmp.Or(c.Before.Sum, "-"),
		c.After.Mode, cmp.Or(c.After.Sum, "-"), c.size, c.time, c.Path)
}

// changes returns the changes of a state from the state before.
func (r *store) changes(id string) (list []Change, err error) {
	b, err := r.part(id, manifestName, mostManifest)
	for line := range strings.Lines(string(b)) {
		words := make([]string, 7)
		copy(words, strings.SplitN(strings.TrimSuffix(line, "\n"), " ", len(words)))
		before, berr := version(words[0], words[1])
		after, aerr := version(words[2], words[3])
		path, perr := strconv.Unquote(words[6])
		if err := cmp.Or(berr, aerr, perr); err != nil {
			return nil, fmt.Errorf("the manifest of the checkpoint %s can't be read: %w", id, err)
		}
		list = append(list, Change{Path: path, Before: before, After: after})
	}
	return list, err
}

// version reads a mode and a sum.
func version(mode, sum string) (v Version, err error) {
	bits, err := strconv.ParseUint(mode, 8, 32)
	if v.Mode = fs.FileMode(bits); sum != "-" {
		v.Sum = Sum(sum)
	}
	return v, err
}

// refs returns the files of the sessions, in no order.
func (r *store) refs() (list []fs.FileInfo, err error) {
	entries, err := r.dir.List(sessionsDir)
	for _, e := range entries {
		info, err := r.dir.Lstat(filepath.Join(sessionsDir, e.Name()))
		if err == nil && info.Mode().IsRegular() && CanName(e.Name()) {
			list = append(list, info)
		}
	}
	return list, err
}

// ref returns the last state of a session, "" if there is none.
func (r *store) ref(session string) (id string, err error) {
	b, err := r.read(filepath.Join(sessionsDir, session), mostLine)
	if errors.Is(err, fs.ErrNotExist) || !CanName(session) {
		return "", nil
	}
	return strings.TrimSpace(string(b)), err
}

// setRef makes a state the last state of a session, and syncs it to disk.
func (r *store) setRef(session, id string) error {
	if !CanName(session) {
		return fmt.Errorf("%.80q can't be the name of a state", session)
	}
	return r.write(sessionsDir, session, []byte(id+"\n"))
}
