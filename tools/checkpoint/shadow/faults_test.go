package shadow

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// faulty are files that go wrong from the n-th time on that something is done to them.
type faulty struct {
	OS
	n   *int
	how string
}

func (f faulty) hit() bool { *f.n--; return *f.n < 0 }

func (f faulty) Create(dir *os.Root, name string) (File, error) {
	if f.hit() {
		return nil, syscall.ENOSPC
	}
	file, err := f.OS.Create(dir, name)
	return faultyFile{file, f}, err
}

func (f faulty) Rename(dir *os.Root, from, to string) error {
	if f.hit() {
		return syscall.EIO
	}
	return f.OS.Rename(dir, from, to)
}

func (f faulty) Sync(dir *os.Root) error {
	if f.hit() {
		return syscall.EIO
	}
	return f.OS.Sync(dir)
}

type faultyFile struct {
	File
	f faulty
}

func (f faultyFile) Write(b []byte) (int, error) {
	if !f.f.hit() {
		return f.File.Write(b)
	}
	n, _ := f.File.Write(b[:len(b)/2])
	if f.f.how == "short" {
		return n, io.ErrShortWrite
	}
	return n, syscall.ENOSPC
}

func (f faultyFile) Sync() error {
	if f.f.hit() {
		return syscall.EIO
	}
	return f.File.Sync()
}

// Whatever fails, and wherever: what was acknowledged is there, whole, and a name leads
// to a whole state. When the disk is well again, work goes on.
func TestFaults(t *testing.T) {
	for _, how := range []string{"full", "short"} {
		for n := range 40 {
			dir := filepath.Join(t.TempDir(), "r")
			well := create(t, dir)
			one := add(t, well, "", "a")
			if err := well.SetRef("s", one); err != nil {
				t.Fatal(err)
			}
			left := n
			r, err := Create(dir, faulty{n: &left, how: how})
			if err != nil {
				t.Fatal(err)
			}
			b := r.Begin()
			blob, _ := b.Add(Blob, []byte("b"))
			tree, _ := b.Add(Tree, EncodeTree([]Entry{{"b", 0o644, blob}}))
			two, _ := b.Add(Commit, EncodeCommit(CommitObject{Tree: tree, Parent: one}))
			err = b.Commit()
			kept := err == nil
			if kept {
				err = r.SetRef("s", two)
			}
			r.Close()
			fresh := create(t, dir) // as another process sees it
			at, rerr := fresh.Ref("s")
			if rerr != nil || at != one && at != two || err == nil && at != two {
				t.Fatalf("%s %d: after %v the name is %s, %v", how, n, err, at, rerr)
			}
			for _, sum := range []Sum{one, at} {
				c, cerr := fresh.Commit(sum)
				if cerr == nil {
					_, cerr = fresh.Tree(c.Tree)
				}
				if cerr != nil {
					t.Fatalf("%s %d: after %v: %v", how, n, err, cerr)
				}
			}
			if kept {
				if _, err := fresh.Read(Blob, blob, 10); err != nil {
					t.Fatalf("%s %d: %v", how, n, err)
				}
			}
			if err := fresh.SetRef("s", add(t, fresh, at, "c")); err != nil {
				t.Fatal(err)
			}
			if err := fresh.Collect(t.Context()); err != nil {
				t.Fatalf("%s %d: %v", how, n, err)
			}
		}
	}
}

// FuzzRepo reads a repository that anybody may have made: nothing but an error comes of
// it, and no name that leads elsewhere.
func FuzzRepo(f *testing.F) {
	dir := filepath.Join(f.TempDir(), "r")
	r := create(f, dir)
	sum := add(f, r, "", "a")
	packs, _ := filepath.Glob(filepath.Join(dir, "objects/pack/*.pack"))
	indexes, _ := filepath.Glob(filepath.Join(dir, "objects/pack/*.idx"))
	pack, _ := os.ReadFile(packs[0])
	index, _ := os.ReadFile(indexes[0])
	f.Add(pack, index, []byte("100644 ..\x00"+string(sum)), []byte("\x01\x01\x90"))
	f.Add([]byte{}, []byte{}, []byte("100644 .git\x00"+string(sum)), []byte{})
	f.Add(pack[:40], index, []byte("40000 a/b\x00"+string(sum)), []byte("\x05\x05\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, pack, index, tree, delta []byte) {
		entries, _ := decodeTree(tree, 32)
		for _, e := range entries {
			if CheckName(e.Name) != nil {
				t.Errorf("%q is an entry", e.Name)
			}
		}
		patch([]byte("a base"), delta, 1<<20)
		decodeCommit(tree)
		dir := t.TempDir()
		at := filepath.Join(dir, "objects", "pack")
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if len(index) > 32 { // so that more than its end is read
			h := newHash(32)
			h.Write(index[:len(index)-32])
			index = h.Sum(index[: len(index)-32 : len(index)-32])
		}
		os.WriteFile(filepath.Join(at, "p.pack"), pack, 0o600)
		os.WriteFile(filepath.Join(at, "p.idx"), index, 0o600)
		r, err := Open(dir, 32)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if c, err := r.Commit(sum); err == nil {
			r.Tree(c.Tree)
		}
		for _, p := range r.packs {
			for i := range min(p.count, 20) {
				r.Read(Blob, p.sum(i), 1<<20)
			}
		}
	})
}
