package checkpoint

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gemline/engine/enginetest"
)

// faulty are files that go wrong from the n-th time on that something is done to them.
type faulty struct {
	n   *int
	how string
}

func (f faulty) hit() bool { *f.n--; return *f.n < 0 }

func (f faulty) create(at *os.Root) (file, error) {
	if f.hit() {
		return nil, syscall.ENOSPC
	}
	file, err := createFile(at)
	return faultyFile{file, f}, err
}

type faultyFile struct {
	file
	f faulty
}

func (f faultyFile) Write(b []byte) (int, error) {
	if !f.f.hit() {
		return f.file.Write(b)
	}
	n, _ := f.file.Write(b[:len(b)/2])
	if f.f.how == "short" {
		return n, io.ErrShortWrite
	}
	return n, syscall.ENOSPC
}

// Commit fails before the file has its name, or afterwards.
func (f faultyFile) Commit(name string) error {
	if f.f.hit() {
		return syscall.EIO
	}
	if err := f.file.Commit(name); err != nil || !f.f.hit() {
		return err
	}
	return syscall.EIO
}

// keep keeps a state with a content.
func keep(r *store, parent, text string) (id string, err error) {
	done, _, err := r.use(context.Background())
	if err != nil {
		return "", err
	}
	defer done()
	sum, err := r.add([]byte(text))
	if err != nil {
		return "", err
	}
	return r.commit(&heading{Parent: parent},
		[]Change{{Path: "/" + text, After: Version{0o644, sum}}})
}

// open opens a store as another process sees it.
func open(t *testing.T, dir string) *store {
	t.Helper()
	r, err := create(dir, createFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

// holds has a state and those before it be whole.
func holds(t *testing.T, r *store, id string) (n int) {
	t.Helper()
	for ; id != ""; n++ {
		s, err := r.heading(id)
		if err != nil {
			t.Fatal(err)
		}
		list, err := r.changes(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			if b, err := r.content(c.After.Sum, 100); err != nil || "/"+string(b) != c.Path {
				t.Fatalf("%s: %q, %v", c.Path, b, err)
			}
		}
		id = s.Parent
	}
	return n
}

// Whatever fails, and wherever: what was acknowledged is there, whole, and a session leads
// to a whole state. When the disk is well again, work goes on.
func TestStoreFaults(t *testing.T) {
	for _, how := range []string{"full", "short"} {
		for n := range 20 {
			dir := filepath.Join(t.TempDir(), "r")
			well := open(t, dir)
			one, err := keep(well, "", "a")
			if err == nil {
				err = well.setRef("s", one)
			}
			if err != nil {
				t.Fatal(err)
			}
			left := n
			r, err := create(dir, faulty{n: &left, how: how}.create)
			if err != nil {
				t.Fatal(err)
			}
			two, err := keep(r, one, "b")
			if err == nil {
				err = r.setRef("s", two)
			}
			r.close()
			fresh := open(t, dir)
			at, rerr := fresh.ref("s")
			if rerr != nil || at != one && at != two || err == nil && at != two {
				t.Fatalf("%s %d: after %v the state is %s, %v", how, n, err, at, rerr)
			}
			holds(t, fresh, at)
			three, err := keep(fresh, at, "c")
			if err == nil {
				err = fresh.setRef("s", three)
			}
			if err == nil {
				err = fresh.collect(t.Context())
			}
			if err != nil {
				t.Fatalf("%s %d: %v", how, n, err)
			}
			holds(t, fresh, three)
			if left, _ := filepath.Glob(filepath.Join(dir, "*/.gemline-*")); len(left) > 0 {
				t.Errorf("%s %d: left: %q", how, n, left)
			}
		}
	}
}

// A volatile disk loses with its power the files that have not got their last names yet. That
// Commit syncs before it renames is seen in the system calls of [TestRestoreIsKept].
type volatile map[string]bool

// lose is the loss of power. Some of it the disk may have kept all the same.
func (v volatile) lose(kept func() bool) {
	for path := range v {
		switch {
		case kept():
		case kept():
			os.Truncate(path, 0)
		default:
			os.Remove(path)
		}
	}
}

func (v volatile) create(at *os.Root) (file, error) {
	before, _ := filepath.Glob(filepath.Join(at.Name(), ".gemline-*"))
	f, err := createFile(at)
	after, _ := filepath.Glob(filepath.Join(at.Name(), ".gemline-*"))
	for _, path := range after {
		if !slices.Contains(before, path) {
			v[path] = true
		}
	}
	return f, err
}

// Whatever is left of unfinished files when the power has failed: what was acknowledged is there,
// and a session leads to a whole state.
func TestStoreUnfinished(t *testing.T) {
	r := enginetest.Random(t, 8)
	for range enginetest.Rounds(20, 400) {
		dir := filepath.Join(t.TempDir(), "r")
		open(t, dir)
		disk := volatile{}
		store, err := create(dir, disk.create)
		if err != nil {
			t.Fatal(err)
		}
		last, named, states := "", "", 0
		for n := range r.IntN(4) + 1 {
			if last, err = keep(store, last, string(rune('a'+n))); err != nil {
				t.Fatal(err)
			}
			if n%2 == 0 {
				if err := store.setRef("s", last); err != nil {
					t.Fatal(err)
				}
				named, states = last, n+1
			}
		}
		if d, err := store.create(store.at[statesDir]); err == nil { // amid something that was not acknowledged
			d.Write([]byte("PK"))
		}
		store.close()
		disk.lose(func() bool { return r.IntN(8) == 0 })
		fresh := open(t, dir)
		if at, err := fresh.ref("s"); err != nil || at != named {
			t.Fatalf("the state is %s, %v; want %s", at, err, named)
		}
		if n := holds(t, fresh, named); n != states {
			t.Fatalf("%d states of %d", n, states)
		}
		holds(t, fresh, last)
	}
}

// A content that one session needs stays when the session that has kept it is gone.
func TestCollect(t *testing.T) {
	p := newPlace(t)
	p.write("big", strings.Repeat("x", 1000))
	p.turn("first", func() { p.write("a", "1") })
	p.again("session-2")
	p.turn("second", func() { os.Remove(filepath.Join(p.dir, "big")); p.write("b", "2") })
	p.Keeper.Close()
	store := Store(p.kept)
	if err := errors.Join(store.Drop("session-1"), store.Collect()); err != nil {
		t.Fatal(err)
	}
	p.again("session-2")
	p.undo(1, false)
	if b, err := os.ReadFile(filepath.Join(p.dir, "big")); err != nil || len(b) != 1000 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// What an older release kept, as a git repository, is not taken back, and that is said. A
// store of a newer release is left alone.
func TestOtherForms(t *testing.T) {
	p := newPlace(t)
	former := filepath.Join(p.kept, "refs/sessions/session-1")
	if err := errors.Join(os.MkdirAll(filepath.Dir(former), 0o700), os.WriteFile(former, []byte(strings.Repeat("0", 64)), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Turns(t.Context()); err != ErrFormer {
		t.Error(err)
	}
	p.write("a", "1")
	p.turn("new", func() { p.write("a", "2") })
	p.Keeper.Close()
	for format, newer := range map[string]bool{"0": false, "1": false, "null": false, "2": true, `"99"`: true, "1.5": true, "-1": true,
		"99999999999999999999": true, "true": true, "{}": true, `2,"record":"of another kind"`: true} {
		text := `{"formatVersion":` + format + "}"
		path := filepath.Join(p.kept, formFile)
		os.WriteFile(path, []byte(text), 0o600)
		p.again("session-1")
		if _, err := p.Turns(t.Context()); errors.Is(err, errNewer) != newer || err != nil && !newer {
			t.Errorf("%s: %v", text, err)
		}
		if b, err := os.ReadFile(path); string(b) != text {
			t.Errorf("%s is now %s: %v", text, b, err)
		}
		p.Keeper.Close()
	}
}

// Where nothing says which form a store has, that is said with the file's name and what to do,
// nothing of it changes, and doing so brings all of it back.
func TestDamagedForm(t *testing.T) {
	p := newPlace(t)
	p.write("a", "1")
	p.turn("first", func() { p.write("a", "2") })
	path := filepath.Join(p.kept, formFile)
	for _, text := range []string{"", " ", "null", "[]", "{", `"x"`, "PK"} {
		p.Keeper.Close()
		os.WriteFile(path, []byte(text), 0o600)
		p.again("session-1")
		_, err := p.Turns(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), path+" is damaged (") || !errors.As(Store(p.kept).Drop("session-1"), new(*damagedError)) {
			t.Errorf("%q: %v", text, err)
		}
		if b, err := os.ReadFile(path); string(b) != text {
			t.Errorf("%q is now %q: %v", text, b, err)
		}
	}
	p.Keeper.Close()
	os.Remove(path)
	p.again("session-1")
	p.turn("second", func() { p.write("a", "3") })
	if turns, err := p.Turns(t.Context()); err != nil || len(turns) != 2 {
		t.Errorf("%+v, %v", turns, err)
	}
}

// FuzzStore reads a state that anybody may have made: nothing but an error comes of it.
func FuzzStore(f *testing.F) {
	dir := filepath.Join(f.TempDir(), "r")
	r, err := create(dir, createFile)
	if err != nil {
		f.Fatal(err)
	}
	id, err := keep(r, "", "a")
	if err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, statesDir, id+".zip"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)-3])
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, statesDir, "x.zip"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := create(dir, createFile)
		if err != nil {
			t.Fatal(err)
		}
		defer r.close()
		r.setRef("x", "x")
		states(r, "x", true)
		r.changes("x")
		for _, sum := range []Sum{sumOf(nil), sumOf([]byte("a")), sumOf([]byte("b"))} {
			if b, err := r.content(sum, 100); err == nil && sumOf(b) != sum {
				t.Errorf("%q", b)
			}
		}
	})
}
