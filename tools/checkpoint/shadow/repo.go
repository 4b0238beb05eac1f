package shadow

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"gemline/engine/disk"
)

// Most bytes of a tree or a commit, of an index, and of a file that says something
// in a line.
const (
	mostObject = 64 << 20
	mostIndex  = 1 << 30
	mostLine   = 4096
)

// A Repo is a repository. It is safe for concurrent use.
type Repo struct {
	path  string
	dir   *disk.Dir
	files Files
	size  int // of a name of an object
	lock  *flock.Flock

	mu         sync.Mutex
	packs      []*pack
	listed     map[string]bool // their names
	generation string
}

// ErrMissing says that an object is not in the repository.
var ErrMissing = errors.New("is not in the repository of checkpoints")

// Create opens the repository at path, and makes it if there is none.
func Create(path string, files Files) (*Repo, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: disk.ErrLink}
	}
	disk.Restrict(path)
	r, err := open(path, sha256.Size, files)
	if err != nil {
		return nil, err
	}
	if config, err := r.read("config", mostLine); err == nil && string(config) == configuration {
		return r, nil
	}
	if err := r.lay(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// configuration is what git has to know of a repository of ours.
const configuration = "[core]\n\trepositoryformatversion = 1\n\tfilemode = true\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n[gc]\n\tauto = 0\n"

// lay makes what git wants to find.
func (r *Repo) lay() error {
	for _, f := range []struct{ dir, name, text string }{{".", "HEAD", "ref: refs/heads/none\n"},
		{"objects/pack", "", ""}, {refs, "", ""}, {".", "config", configuration}} {
		at, err := r.sub(filepath.FromSlash(f.dir))
		if err == nil && f.name != "" {
			err = r.put(at, f.name, []byte(f.text))
		}
		if err == nil {
			err = r.files.Sync(at)
		}
		if at != nil {
			at.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Open opens a repository to read in it: one of ours, or one of git's whose objects
// have names of so many bytes.
func Open(path string, size int) (*Repo, error) {
	if size != sha1.Size && size != sha256.Size {
		return nil, fmt.Errorf("%d is no length of a name of an object", size)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: disk.ErrLink}
	}
	return open(path, size, nil)
}

func open(path string, size int, files Files) (*Repo, error) {
	dir, err := disk.OpenDir(path)
	if err != nil {
		return nil, err
	}
	return &Repo{path: path, dir: dir, files: files, size: size, listed: map[string]bool{},
		lock: flock.New(filepath.Join(path, "lock"), flock.SetPermissions(0o600))}, nil
}

// Close closes the repository.
func (r *Repo) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.packs {
		p.close()
	}
	r.packs = nil
	r.lock.Close()
	r.dir.Close()
}

func (p *pack) close() {
	if p.file != nil {
		p.file.Close()
		p.file = nil
	}
}

// Use keeps others from collecting until done is called. It reports whether
// somebody has collected since it was last called: what was known to be there may
// be gone.
func (r *Repo) Use(ctx context.Context) (done func(), collected bool, err error) {
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
	r.list()
	return func() { r.lock.Unlock() }, collected, nil
}

// forget has the packs listed again.
func (r *Repo) forget() {
	for _, p := range r.packs {
		p.close()
	}
	r.packs, r.listed = nil, map[string]bool{}
}

// list reads the indexes of packs that are not known yet. A damaged one is as good
// as none.
func (r *Repo) list() {
	entries, _ := r.dir.List(filepath.FromSlash("objects/pack"))
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".idx")
		if !ok || r.listed[name] {
			continue
		}
		b, err := r.read(filepath.Join("objects", "pack", e.Name()), mostIndex)
		if err != nil {
			continue
		}
		if p, err := newPack(name, b, r.size); err == nil {
			r.add(p)
		}
	}
}

func (r *Repo) add(p *pack) {
	r.packs, r.listed[p.name] = append(r.packs, p), true
}

// Packs returns the names of the packs that were there when [Repo.Use] was called last,
// and of those that were written since.
func (r *Repo) Packs() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.listed))
}

// knows reports whether there is a pack of a name.
func (r *Repo) knows(pack string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listed[pack]
}

// has reports whether an object is in one of these packs.
func (r *Repo) has(sum Sum) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, _ := r.find(sum)
	return p != nil
}

// find returns where an object is.
func (r *Repo) find(sum Sum) (*pack, int64) {
	for _, p := range slices.Backward(r.packs) {
		if offset, ok := p.find(sum); ok {
			return p, offset
		}
	}
	return nil, 0
}

// Read returns the content of an object, of at most so many bytes.
func (r *Repo) Read(kind Kind, sum Sum, most int64) ([]byte, error) {
	if len(sum) != r.size {
		return nil, fmt.Errorf("%s %w", sum, ErrMissing)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	got, b, err := r.load(sum, most, 0)
	if err != nil {
		return nil, err
	}
	if got != kind {
		return nil, fmt.Errorf("%s is a %s and no %s", sum, got, kind)
	}
	if sumOf(r.size, kind, b) != sum {
		return nil, fmt.Errorf("%s is damaged in the repository of checkpoints", sum)
	}
	return b, nil
}

// deepest is how many differences may stand one upon the other.
const deepest = 200

// load returns what a repository has under a name.
func (r *Repo) load(sum Sum, most int64, depth int) (Kind, []byte, error) {
	p, offset := r.find(sum)
	if p == nil { // somebody may have written it meanwhile
		r.list()
		p, offset = r.find(sum)
	}
	if p == nil {
		return r.loose(sum, most)
	}
	return r.unpack(p, offset, most, depth)
}

// unpack returns the object of a pack.
func (r *Repo) unpack(p *pack, offset, most int64, depth int) (Kind, []byte, error) {
	if depth > deepest {
		return "", nil, errPack
	}
	if err := r.openPack(p); err != nil {
		return "", nil, err
	}
	s, err := p.head(offset)
	if err != nil {
		return "", nil, err
	}
	if s.number < len(kinds) && kinds[s.number] != "" {
		b, err := p.inflate(s, most)
		return kinds[s.number], b, err
	}
	if s.number != ofsDelta && s.number != refDelta {
		return "", nil, errPack
	}
	delta, err := p.inflate(s, most)
	if err != nil {
		return "", nil, err
	}
	var kind Kind
	var base []byte
	if s.number == ofsDelta {
		kind, base, err = r.unpack(p, s.offset, most, depth+1)
	} else {
		kind, base, err = r.load(s.base, most, depth+1)
	}
	if err != nil {
		return "", nil, err
	}
	b, err := patch(base, delta, most)
	return kind, b, err
}

// openPack opens the file of a pack, if it is not open.
func (r *Repo) openPack(p *pack) error {
	if p.file != nil {
		return nil
	}
	f, info, err := r.dir.File(filepath.Join("objects", "pack", p.name+".pack"))
	if err == nil {
		f.SetReadDeadline(time.Time{})
		p.file, p.bytes = f, info.Size()
	}
	return err
}

// loose returns an object that has a file of its own, as git writes them.
func (r *Repo) loose(sum Sum, most int64) (Kind, []byte, error) {
	name := sum.String()
	f, _, err := r.dir.File(filepath.Join("objects", name[:2], name[2:]))
	if err != nil {
		return "", nil, fmt.Errorf("%s %w", sum, ErrMissing)
	}
	defer f.Close()
	z, err := zlib.NewReader(f)
	if err != nil {
		return "", nil, err
	}
	head := make([]byte, 0, 32)
	for c := make([]byte, 1); len(head) < cap(head); {
		if n, err := z.Read(c); n == 0 && err != nil {
			return "", nil, err
		} else if n == 0 {
			continue
		}
		if c[0] == 0 {
			break
		}
		head = append(head, c[0])
	}
	var kind Kind
	var size int64
	if _, err := fmt.Sscanf(string(head), "%s %d", &kind, &size); err != nil || size < 0 || size > most {
		return "", nil, fmt.Errorf("%s can't be read", sum)
	}
	var b bytes.Buffer
	if n, err := b.ReadFrom(io.LimitReader(z, size+1)); err != nil || n != size {
		return "", nil, fmt.Errorf("%s is damaged in the repository of checkpoints", sum)
	}
	return kind, b.Bytes(), nil
}

// Tree returns the entries of a tree, of which submodules are none.
func (r *Repo) Tree(sum Sum) ([]Entry, error) {
	b, err := r.Read(Tree, sum, mostObject)
	if err != nil {
		return nil, err
	}
	return decodeTree(b, r.size)
}

// Commit returns a commit.
func (r *Repo) Commit(sum Sum) (CommitObject, error) {
	b, err := r.Read(Commit, sum, mostObject)
	if err != nil {
		return CommitObject{}, err
	}
	return decodeCommit(b)
}
