package checkpoint

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// The form of a store, and what is in it: a file that says the form, a zip file for each state,
// and for each session a file with the name of its last state.
const (
	formatVersion = 1
	formFile      = "store.json"
	statesDir     = "states"
	sessionsDir   = "sessions"
	formerRefs    = "refs/sessions" // of a store that was a git repository
)

const (
	saidName     = "state.json"
	manifestName = "manifest.txt"
	mostManifest = 256 << 20 // bytes
	mostLine     = 4096      // bytes of a small file
	mostOpen     = 16        // states
)

// A Sum is the SHA-256 of a content, in bytes. It is empty for none.
type Sum string

// sumOf returns the sum of a content.
func sumOf(content []byte) Sum {
	h := sha256.Sum256(content)
	return Sum(h[:])
}

// String returns s in hexadecimal digits.
func (s Sum) String() string { return hex.EncodeToString([]byte(s)) }

// A repo is a store: a directory of states and names for the last states of sessions. It is
// safe for concurrent use.
type repo struct {
	dir   *disk.Dir
	files Files
	lock  *flock.Flock

	mu         sync.Mutex
	where      map[Sum]string // the states that have contents, as far as they were looked into
	listed     map[string]bool
	open       map[string]*opened
	begun      []*batch
	generation string
}

// An opened state is a zip file that is being read.
type opened struct {
	*zip.Reader
	file  *os.File
	files map[string]*zip.File
}

// Why something is not in a store.
var (
	errMissing = errors.New("is not in the store of checkpoints")
	errNewer   = errors.New("the checkpoints here were kept by a newer gemline: update this one")
)

// create opens the store at path, and makes it if there is none.
func create(path string, files Files) (*repo, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: disk.ErrLink}
	}
	disk.Restrict(path)
	dir, err := disk.OpenDir(path)
	if err != nil {
		return nil, err
	}
	r := &repo{dir: dir, files: files, listed: map[string]bool{}, open: map[string]*opened{}, where: map[Sum]string{},
		lock: flock.New(filepath.Join(path, "lock"), flock.SetPermissions(0o600))}
	var form struct {
		FormatVersion int `json:"formatVersion"`
	}
	b, err := r.read(formFile, mostLine)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err = r.put(".", formFile, fmt.Appendf(nil, "{\"formatVersion\":%d}\n", formatVersion)); err == nil {
			return r, nil
		}
	case err == nil:
		if err = json.Unmarshal(b, &form); err == nil && form.FormatVersion > formatVersion {
			err = errNewer
		}
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// close closes the store.
func (r *repo) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
	r.lock.Close()
	r.dir.Close()
}

// forget has the states looked into anew.
func (r *repo) forget() {
	for _, o := range r.open {
		o.file.Close()
	}
	r.where, r.listed, r.open = map[Sum]string{}, map[string]bool{}, map[string]*opened{}
}

// use keeps others from collecting until done is called. It reports whether somebody has
// collected since it was last called: what was known to be there may be gone.
func (r *repo) use(ctx context.Context) (done func(), collected bool, err error) {
	if ok, err := r.lock.TryRLockContext(ctx, 5*time.Millisecond); !ok {
		return nil, false, fmt.Errorf("lock the checkpoints: %w", err)
	}
	b, _ := r.read("generation", mostLine) // there is none before the first time
	r.mu.Lock()
	defer r.mu.Unlock()
	if collected = string(b) != r.generation; collected {
		r.generation = string(b)
		r.forget()
	}
	return func() {
		for _, b := range r.begun {
			b.discard()
		}
		r.begun = nil
		r.lock.Unlock()
	}, collected, nil
}

// states returns the names of the states, in order.
func (r *repo) states() (ids []string) {
	entries, _ := r.dir.List(statesDir)
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".zip"); ok && CanName(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// look has r.where hold the contents of all states.
func (r *repo) look() {
	for _, id := range r.states() {
		if !r.listed[id] {
			r.listed[id] = true
			if o, err := r.reader(id); err == nil { // a damaged one is as good as none
				for _, sum := range o.sums() {
					r.where[sum] = id
				}
			}
		}
	}
}

// sums returns the sums of the contents that a state has.
func (o *opened) sums() (list []Sum) {
	for name := range o.files {
		if b, err := hex.DecodeString(name); err == nil {
			list = append(list, Sum(b))
		}
	}
	return list
}

// know is look for who holds no lock: what is kept is not kept again.
func (r *repo) know() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.look()
}

// reader opens a state.
func (r *repo) reader(id string) (*opened, error) {
	if o := r.open[id]; o != nil {
		return o, nil
	}
	if !CanName(id) {
		return nil, fmt.Errorf("%.80q %w", id, errMissing)
	}
	f, info, err := r.dir.File(filepath.Join(statesDir, id+".zip"))
	if err != nil {
		return nil, fmt.Errorf("%s %w", id, errMissing)
	}
	f.SetReadDeadline(time.Time{})
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("the checkpoint %s is damaged: %w", id, err)
	}
	o := &opened{z, f, make(map[string]*zip.File, len(z.File))}
	for _, file := range z.File {
		o.files[file.Name] = file
	}
	if len(r.open) >= mostOpen {
		for other, o := range r.open {
			o.file.Close()
			delete(r.open, other)
			break
		}
	}
	r.open[id] = o
	return o, nil
}

// part returns what a state has under a name.
func (o *opened) part(name string, most int64) ([]byte, error) {
	f := o.files[name]
	if f == nil {
		return nil, fmt.Errorf("%s %w", name, errMissing)
	}
	if f.UncompressedSize64 > uint64(most) {
		return nil, fmt.Errorf("%s in the store of checkpoints is too large", name)
	}
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b := make([]byte, 0, f.UncompressedSize64+1)
	for len(b) < cap(b) {
		n, err := in.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s is damaged in the store of checkpoints: %w", name, err)
		}
	}
	return nil, fmt.Errorf("%s is damaged in the store of checkpoints", name)
}

// content returns what was kept under a sum.
func (r *repo) content(sum Sum, most int64) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := r.where[sum]
	if id == "" {
		r.look()
		id = r.where[sum]
	}
	if id == "" {
		return nil, fmt.Errorf("%s %w", sum, errMissing)
	}
	o, err := r.reader(id)
	if err != nil {
		return nil, err
	}
	b, err := o.part(sum.String(), most)
	if err == nil && sumOf(b) != sum {
		err = fmt.Errorf("%s is damaged in the store of checkpoints", sum)
	}
	return b, err
}

// A heading is what is said of a state.
type heading struct {
	FormatVersion int             `json:"formatVersion"`
	Parent        string          `json:"parent,omitempty"`
	Record        json.RawMessage `json:"record"`
}

// heading returns what is said of a state.
func (r *repo) heading(id string) (s heading, err error) {
	b, err := r.part(id, saidName)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err == nil && s.FormatVersion > formatVersion {
		err = errNewer
	}
	return s, err
}

func (r *repo) part(id, name string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o, err := r.reader(id)
	if err != nil {
		return nil, err
	}
	return o.part(name, mostManifest)
}

// append adds a line of a manifest to b: how a path was, how it is, and when it was changed.
func (c Change) append(b []byte) []byte {
	for _, v := range []Version{c.Before, c.After} {
		b = append(strconv.AppendUint(b, uint64(v.Mode), 8), ' ')
		if v.Sum == "" {
			b = append(b, '-')
		}
		b = append(hex.AppendEncode(b, []byte(v.Sum)), ' ')
	}
	b = append(strconv.AppendInt(b, c.size, 10), ' ')
	b = append(strconv.AppendInt(b, c.time, 10), ' ')
	return append(strconv.AppendQuote(b, c.Path), '\n')
}

// changes returns what a state differs in from the one before it.
func (r *repo) changes(id string) (list []Change, err error) {
	b, err := r.part(id, manifestName)
	for line := range strings.Lines(string(b)) {
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 7)
		if len(words) < 7 {
			return nil, fmt.Errorf("the manifest of the checkpoint %s can't be read", id)
		}
		var c Change
		var errs [3]error
		c.Before, errs[0] = version(words[0], words[1])
		c.After, errs[1] = version(words[2], words[3])
		c.Path, errs[2] = strconv.Unquote(words[6])
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("the manifest of the checkpoint %s can't be read: %w", id, err)
		}
		list = append(list, c)
	}
	return list, err
}

// version reads a mode and a sum.
func version(mode, sum string) (v Version, err error) {
	bits, err := strconv.ParseUint(mode, 8, 32)
	if v.Mode = fs.FileMode(bits); sum != "-" && err == nil {
		var b []byte
		b, err = hex.DecodeString(sum)
		v.Sum = Sum(b)
	}
	return v, err
}

// A ref is the name of the last state of a session.
type ref struct {
	name    string
	changed time.Time
}

// refs returns the sessions, in no order.
func (r *repo) refs() (list []ref, err error) {
	entries, err := r.dir.List(sessionsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if !CanName(e.Name()) {
			continue
		}
		if info, err := r.dir.Lstat(filepath.Join(sessionsDir, e.Name())); err == nil && info.Mode().IsRegular() {
			list = append(list, ref{e.Name(), info.ModTime()})
		}
	}
	return list, err
}

// ref returns the last state of a session, "" if there is none.
func (r *repo) ref(session string) (id string, err error) {
	if !CanName(session) {
		return "", fmt.Errorf("%.80q can't be the name of a state", session)
	}
	b, err := r.read(filepath.Join(sessionsDir, session), mostLine)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(b)), err
}

// former reports whether a session has states in the form of an older release.
func (r *repo) former(session string) bool {
	if !CanName(session) {
		return false
	}
	_, err := r.dir.Lstat(filepath.Join(filepath.FromSlash(formerRefs), session))
	return err == nil
}

// setRef makes a state the last one of a session. The disk has it then.
func (r *repo) setRef(session, id string) error {
	if !CanName(session) {
		return fmt.Errorf("%.80q can't be the name of a state", session)
	}
	return r.put(sessionsDir, session, []byte(id+"\n"))
}
