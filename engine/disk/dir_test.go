package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// ways opens dir once for each way in which names are reached here.
func ways(t *testing.T, dir string) map[string]*Dir {
	t.Helper()
	all := map[string]*Dir{}
	for _, way := range []string{"as ever", "slowly"} {
		d, err := OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if way == "slowly" {
			d.quick.close()
			d.quick = quick{}
		}
		t.Cleanup(func() { d.Close() })
		all[way] = d
	}
	return all
}

// tree makes files in a new directory. A name that ends in a slash is a
// directory, and a text that begins with "->" what a link leads to.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if to, link := strings.CutPrefix(text, "->"); link {
			err = errors.Join(err, os.Symlink(to, path))
		} else if strings.HasSuffix(name, "/") {
			err = errors.Join(err, os.MkdirAll(path, 0o700))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(text), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReach(t *testing.T) {
	dir := tree(t, map[string]string{
		"in/a/b/file": "text", "in/empty/": "", "out/secret": "secret",
		"in/inside": "->a/b/file", "in/dir": "->a", "in/a/up": "->../..", "in/leads": "->../out", "in/loop": "->loop", "in/none": "->missing",
	})
	for way, d := range ways(t, filepath.Join(dir, "in")) {
		for name, want := range map[string]error{
			"a/b/file": nil, "inside": ErrLink, "dir/b/file": ErrLink, "a/up/out/secret": ErrLink, "leads/secret": ErrLink, "loop": ErrLink,
			"none": ErrLink, "missing": fs.ErrNotExist, "a/missing/x": fs.ErrNotExist, "a/b/file/x": syscall.ENOTDIR, ".": ErrDirectory, "a": ErrDirectory,
		} {
			name = filepath.FromSlash(name)
			f, _, err := d.File(name)
			if !errors.Is(err, want) {
				t.Errorf("%s: %s opened: %v; want %v", way, name, err, want)
			}
			if pe := (*fs.PathError)(nil); err != nil && (!errors.As(err, &pe) || pe.Path != filepath.Join(dir, "in", name)) {
				t.Errorf("%s: %v does not name %s", way, err, name)
			}
			raw, size, rerr := d.RawFile(name)
			if !errors.Is(rerr, want) {
				t.Errorf("%s: %s opened raw: %v; want %v", way, name, rerr, want)
			}
			if err != nil || rerr != nil {
				continue
			}
			b, _ := io.ReadAll(f)
			r, _ := io.ReadAll(raw)
			if string(b) != "text" || string(r) != "text" || size != 4 {
				t.Errorf("%s: read %q and %q of %d bytes", way, b, r, size)
			}
			f.Close()
			raw.Close()
		}
		for name, want := range map[string]fs.FileMode{".": fs.ModeDir, "a": fs.ModeDir, "a/b/file": 0, "inside": fs.ModeSymlink, "leads": fs.ModeSymlink} {
			if info, err := d.Lstat(filepath.FromSlash(name)); err != nil || info.Mode().Type() != want {
				t.Errorf("%s: %s is %v, %v", way, name, info, err)
			}
		}
		for _, name := range []string{".", "a", "leads", filepath.Join("a", "b", "file")} {
			want, err := os.Lstat(filepath.Join(dir, "in", name))
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Lstat(name)
			if err != nil || got.Mode() != want.Mode() || got.Size() != want.Size() || !got.ModTime().Equal(want.ModTime()) || got.IsDir() != want.IsDir() || name != "." && got.Name() != want.Name() {
				t.Errorf("%s: %s is %v, %v; want %v", way, name, got, err, want)
			}
		}
		if _, err := d.Lstat(filepath.Join("leads", "secret")); !errors.Is(err, ErrLink) {
			t.Errorf("%s: looked behind a link: %v", way, err)
		}
		if to, err := d.Readlink(filepath.Join("a", "up")); err != nil || filepath.ToSlash(to) != "../.." {
			t.Errorf("%s: %q, %v", way, to, err)
		}
		if entries, err := d.List("a"); err != nil || len(entries) != 2 {
			t.Errorf("%s: %v, %v", way, entries, err)
		}
		for name, want := range map[string]error{"leads": ErrLink, "dir": ErrLink, filepath.Join("a", "b", "file"): syscall.ENOTDIR, "missing": fs.ErrNotExist} {
			if _, err := d.List(name); !errors.Is(err, want) {
				t.Errorf("%s: listed %s: %v; want %v", way, name, err, want)
			}
			if at, err := d.Sub(name); !errors.Is(err, want) {
				t.Errorf("%s: %v, %v; want %v", way, at, err, want)
			}
		}
	}
}

// A directory is the one that was opened, wherever it is and whatever is where
// it was.
func TestDirStays(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open directory can't be moved here")
	}
	dir := tree(t, map[string]string{"ws/file": "text", "out/file": "secret"})
	all := ways(t, filepath.Join(dir, "ws"))
	if err := errors.Join(os.Rename(filepath.Join(dir, "ws"), filepath.Join(dir, "moved")), os.Symlink("out", filepath.Join(dir, "ws"))); err != nil {
		t.Fatal(err)
	}
	for way, d := range all {
		f, _, err := d.File("file")
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := io.ReadAll(f); string(b) != "text" || d.Gone() {
			t.Errorf("%s: read %q", way, b)
		}
		f.Close()
	}
	if err := os.RemoveAll(filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	for way, d := range all {
		if !d.Gone() {
			t.Errorf("%s: it is there", way)
		}
	}
}

func TestMake(t *testing.T) {
	dir := tree(t, map[string]string{"in/a/file": "x", "in/leads": "->../out", "out/": ""})
	d := ways(t, filepath.Join(dir, "in"))["as ever"]
	names := func(of string) string {
		var all []string
		entries, _ := os.ReadDir(filepath.Join(dir, of))
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return strings.Join(slices.Sorted(slices.Values(all)), " ")
	}
	at, end, err := d.Make(filepath.Join("a", "b", "c"))
	if err != nil {
		t.Fatal(err)
	}
	if err := at.WriteFile("f", nil, 0o600); err != nil || names("in/a/b/c") != "f" {
		t.Errorf("%v, %s", err, names("in/a/b/c"))
	}
	end(true)
	if names("in/a/b/c") != "f" {
		t.Error("what somebody uses was removed")
	}
	_, end, err = d.Make(filepath.Join("a", "new", "deep"))
	if err != nil {
		t.Fatal(err)
	}
	end(true)
	if names("in/a") != "b file" {
		t.Errorf("left: %s", names("in/a"))
	}
	for name, want := range map[string]error{"leads/x": ErrLink, "a/file/x": syscall.ENOTDIR, "made/" + strings.Repeat("n", 300): syscall.ENAMETOOLONG} {
		if _, _, err := d.Make(filepath.FromSlash(name)); !errors.Is(err, want) {
			t.Errorf("%s: %v; want %v", name, err, want)
		}
	}
	if names("out")+"|"+names("in") != "|a leads" {
		t.Errorf("left: %s|%s", names("out"), names("in"))
	}
}
