package shadow

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gemline/engine/enginetest"
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

// A volatile disk forgets at a loss of power what it was not told to keep: contents of
// files that were not synced, and names of directories that were not.
type volatile struct {
	OS
	contents map[string]bool     // files
	names    map[string][]func() // what a loss undoes, by directory
}

// lose is the loss of power. Some of it the disk may have kept all the same; of names in one
// directory the older ones rather than the newer ones.
func (v volatile) lose(kept func() bool) {
	for path := range v.contents {
		if !kept() {
			os.Truncate(path, 0)
		}
	}
	for _, undos := range v.names {
		for len(undos) > 0 && !kept() {
			undos[len(undos)-1]()
			undos = undos[:len(undos)-1]
		}
	}
}

func (v volatile) Create(dir *os.Root, name string) (File, error) {
	file, err := v.OS.Create(dir, name)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir.Name(), name)
	v.contents[path] = true
	v.names[dir.Name()] = append(v.names[dir.Name()], func() { os.Remove(path) })
	return volatileFile{file, v, path}, nil
}

func (v volatile) Rename(dir *os.Root, from, to string) error {
	old, missing := dir.ReadFile(to)
	if err := v.OS.Rename(dir, from, to); err != nil {
		return err
	}
	at := filepath.Join(dir.Name(), to)
	was := filepath.Join(dir.Name(), from)
	if v.contents[was] {
		v.contents[at] = true
		delete(v.contents, was)
	}
	v.names[dir.Name()] = append(v.names[dir.Name()], func() {
		os.Remove(at)
		if missing == nil {
			os.WriteFile(at, old, 0o600)
		}
	})
	return nil
}

func (v volatile) Sync(dir *os.Root) error {
	delete(v.names, dir.Name())
	return v.OS.Sync(dir)
}

type volatileFile struct {
	File
	v    volatile
	path string
}

func (f volatileFile) Sync() error {
	delete(f.v.contents, f.path)
	return f.File.Sync()
}

// Whatever the disk forgets when the power fails: what was acknowledged is there, and a
// name leads to a whole state.
func TestPowerLoss(t *testing.T) {
	r := enginetest.Random(t, 8)
	for round := range enginetest.Rounds(20, 400) {
		dir := filepath.Join(t.TempDir(), "r")
		well := create(t, dir)
		sums := []Sum{add(t, well, "", "a")}
		if err := well.SetRef("s", sums[0]); err != nil {
			t.Fatal(err)
		}
		disk := volatile{contents: map[string]bool{}, names: map[string][]func(){}}
		repo, err := Create(dir, disk)
		if err != nil {
			t.Fatal(err)
		}
		for n := range r.IntN(4) + 1 {
			sums = append(sums, add(t, repo, sums[n], string(rune('b'+n))))
			if n%2 == 0 {
				if err := repo.SetRef("s", sums[n+1]); err != nil {
					t.Fatal(err)
				}
			}
		}
		named := sums[len(sums)-1-(len(sums)-2)%2]
		if round%2 == 0 { // amid something that was not acknowledged
			at, err := repo.sub("objects/pack")
			if err != nil {
				t.Fatal(err)
			}
			if err := repo.put(at, "pack-x.pack", []byte("PACK")); err != nil {
				t.Fatal(err)
			}
			at.Close()
		}
		repo.Close()
		disk.lose(func() bool { return r.IntN(8) == 0 })
		fresh := create(t, dir)
		if at, err := fresh.Ref("s"); err != nil || at != named {
			t.Fatalf("the name is %s, %v; want %s", at, err, named)
		}
		for _, sum := range sums {
			c, err := fresh.Commit(sum)
			if err == nil {
				_, err = fresh.Tree(c.Tree)
			}
			if err != nil {
				t.Fatalf("%s was acknowledged: %v", sum, err)
			}
		}
		fresh.Close()
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
