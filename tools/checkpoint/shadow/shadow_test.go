package shadow

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func create(t testing.TB, dir string) *Repo {
	t.Helper()
	r, err := Create(dir, OS{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// add adds a commit of files, each with its name as content, and returns it.
func add(t testing.TB, r *Repo, parent Sum, names ...string) Sum {
	t.Helper()
	b := r.Begin()
	var entries []Entry
	for _, name := range names {
		sum, err := b.Add(Blob, []byte(name))
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, Entry{name, 0o600, sum})
	}
	inner, err := b.Add(Tree, EncodeTree(entries))
	if err != nil {
		t.Fatal(err)
	}
	empty, _ := b.Add(Tree, nil)
	link, _ := b.Add(Blob, []byte("to"))
	tree, _ := b.Add(Tree, EncodeTree([]Entry{{"dir", fs.ModeDir | 0o700, inner}, {"dir.x", fs.ModeSetuid | 0o755, link}, {"empty", fs.ModeDir | 0o755, empty}, {"link", fs.ModeSymlink | 0o777, link}}))
	sum, err := b.Add(Commit, EncodeCommit(CommitObject{Tree: tree, Parent: parent, Time: time.Unix(1e9, 0), Message: "a state\n"}))
	if err == nil {
		err = b.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// git finds nothing wrong with what is written, and reads the same.
func TestGitReads(t *testing.T) {
	r := create(t, filepath.Join(t.TempDir(), "r"))
	one := add(t, r, "", "a", "b")
	two := add(t, r, one, "a", "c")
	if err := r.SetRef("s-1", two); err != nil {
		t.Fatal(err)
	}
	out := git(t, r.path, "fsck", "--full")
	if s := strings.ReplaceAll(out, "badFilemode", ""); strings.Contains(s, "error") || strings.Contains(s, "dangling") {
		t.Error(out)
	}
	if got := git(t, r.path, "ls-tree", "-r", "--name-only", "refs/sessions/s-1"); got != "dir.x\ndir/a\ndir/c\nlink\n" {
		t.Errorf("git lists %q", got)
	}
	if got := git(t, r.path, "log", "--format=%s", "refs/sessions/s-1"); got != "a state\na state\n" {
		t.Errorf("git logs %q", got)
	}
	git(t, r.path, "gc", "-q", "--prune=now") // with differences, perhaps
	again := create(t, r.path)
	c, err := again.Commit(two)
	if err != nil || c.Parent != one {
		t.Fatal(c, err)
	}
	if entries, err := again.Tree(c.Tree); err != nil || len(entries) != 4 || entries[0].Name != "dir.x" && entries[0].Name != "dir" || entries[1].Mode&fs.ModeSetuid == 0 && entries[0].Mode&fs.ModeSetuid == 0 {
		t.Errorf("%v %v", entries, err)
	}
}

// What git has written is read: single objects, and packs with differences.
func TestReadsGit(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		dir := t.TempDir()
		git(t, dir, "init", "-q", "--object-format="+format)
		want := map[string][]byte{}
		rnd := rand.New(rand.NewPCG(1, 2))
		for i := range 20 {
			lines := bytes.Repeat(fmt.Appendf(nil, "a line of number %d\n", i/5), 300)
			lines[rnd.IntN(len(lines))] = 'X'
			name := fmt.Sprintf("f%d", i)
			want[name] = lines
			if err := os.WriteFile(filepath.Join(dir, name), lines, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-qm", "x")
		head, err := ParseSum(strings.TrimSpace(git(t, dir, "rev-parse", "HEAD")))
		if err != nil {
			t.Fatal(err)
		}
		for _, how := range []string{"loose", "packed"} {
			if how == "packed" {
				git(t, dir, "-c", "pack.depth=50", "gc", "-q", "--prune=now")
			}
			r, err := Open(filepath.Join(dir, ".git"), len(head))
			if err != nil {
				t.Fatal(err)
			}
			c, err := r.Commit(head)
			if err != nil {
				t.Fatalf("%s %s: %v", format, how, err)
			}
			entries, err := r.Tree(c.Tree)
			if err != nil || len(entries) != 20 {
				t.Fatal(len(entries), err)
			}
			for _, e := range entries {
				if b, err := r.Read(Blob, e.Sum, 1<<20); err != nil || !bytes.Equal(b, want[e.Name]) {
					t.Errorf("%s %s %s: %v", format, how, e.Name, err)
				}
			}
			if _, err := r.Read(Blob, entries[0].Sum, 100); err == nil {
				t.Error("more was read than may be")
			}
			r.Close()
		}
	}
}

// What no name keeps goes, and nothing else.
func TestCollect(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	r := create(t, dir)
	other := create(t, dir) // of another process
	kept := add(t, r, add(t, r, "", "a"), "b")
	gone := add(t, other, "", "c")
	for name, sum := range map[string]Sum{"kept": kept, "gone": gone} {
		if err := r.SetRef(name, sum); err != nil {
			t.Fatal(err)
		}
	}
	done, _, err := other.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done()
	if err := r.DropRef("gone"); err != nil {
		t.Fatal(err)
	}
	if err := r.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if done, collected, err := other.Use(t.Context()); err != nil || !collected {
		t.Errorf("%v %v", collected, err)
	} else {
		done()
	}
	for _, r := range []*Repo{r, other} {
		if c, err := r.Commit(kept); err != nil {
			t.Error(err)
		} else if _, err := r.Commit(c.Parent); err != nil {
			t.Error(err)
		}
		if _, err := r.Commit(gone); !errors.Is(err, ErrMissing) {
			t.Errorf("what nothing keeps: %v", err)
		}
	}
	packs, _ := filepath.Glob(filepath.Join(dir, "objects/pack/*.pack"))
	if len(packs) != 1 {
		t.Errorf("%d packs are left", len(packs))
	}
	git(t, dir, "fsck", "--full")
}

// Of many small packs one is made, a large one stays as it is if all in it is kept, and
// what git has packed is read. What fails on the way leaves no pack behind.
func TestCollectPacks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	r := create(t, dir)
	packs := func() []string {
		t.Helper()
		list, err := filepath.Glob(filepath.Join(dir, "objects/pack/*.pack"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	rnd := rand.NewChaCha8([32]byte{1})
	state := func(parent Sum, n int) Sum {
		t.Helper()
		content := make([]byte, n)
		rnd.Read(content)
		b := r.Begin()
		blob, err := b.Add(Blob, content)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := b.Add(Tree, EncodeTree([]Entry{{"file", 0o644, blob}}))
		if err != nil {
			t.Fatal(err)
		}
		sum, err := b.Add(Commit, EncodeCommit(CommitObject{Tree: tree, Parent: parent}))
		if err == nil {
			err = b.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	name := func(ref string, sum Sum) {
		t.Helper()
		if err := r.SetRef(ref, sum); err != nil {
			t.Fatal(err)
		}
	}
	large := state("", 2*small)
	tip := large
	for range 10 {
		tip = state(tip, 100)
	}
	name("kept", tip)
	name("gone", state(state("", 2*small), 40<<20)) // which is written in pieces
	big := packs()
	if err := r.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(packs()); n >= len(big) || n > 4 {
		t.Errorf("%d packs became %d", len(big), n)
	}
	if err := r.DropRef("gone"); err != nil {
		t.Fatal(err)
	}
	for n := range 12 { // whatever fails, all that is kept is there, and no more than was
		left := n
		bad, err := Create(dir, faulty{n: &left})
		if err != nil {
			t.Fatal(err)
		}
		before := len(packs())
		err = bad.Collect(t.Context())
		bad.Close()
		if after := len(packs()); after > before {
			t.Errorf("%d: %d packs became %d after %v", n, before, after, err)
		}
		for sum := tip; sum != ""; {
			c, err := r.Commit(sum)
			if err != nil {
				t.Fatalf("%d: %v", n, err)
			}
			entries, err := r.Tree(c.Tree)
			if err != nil {
				t.Fatalf("%d: %v", n, err)
			}
			if _, err := r.Read(Blob, entries[0].Sum, 1<<30); err != nil {
				t.Fatalf("%d: %v", n, err)
			}
			sum = c.Parent
		}
	}
	git(t, dir, "repack", "-q", "-a", "-d", "-f")
	name("more", state(tip, 100))
	if err := r.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out := git(t, dir, "fsck", "--full", "--connectivity-only"); strings.Contains(out, "missing") {
		t.Error(out)
	}
	if size := diskUse(t, dir); size > 3*small {
		t.Errorf("%d bytes are left", size)
	}
}

// diskUse returns how many bytes the files below a directory have.
func diskUse(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			info, ierr := e.Info()
			if ierr != nil {
				return ierr
			}
			n += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
