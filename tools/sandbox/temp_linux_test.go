package sandbox

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestTemporaryPlaces makes the directory where it can be made.
func TestTemporaryPlaces(t *testing.T) {
	base := t.TempDir()
	none, here, cache := filepath.Join(base, "none"), filepath.Join(base, "here"), filepath.Join(base, "a/cache")
	file := filepath.Join(base, "file")
	if err := errors.Join(os.Mkdir(here, 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		temp  []string
		cache string
		in    string
	}{
		{[]string{here}, cache, here},
		{[]string{none, here}, cache, here},
		{[]string{file, here}, cache, here},
		{[]string{none, file}, cache, cache},
		{[]string{none, file}, "", ""},
		{[]string{none, file}, file, ""},
	} {
		k := New(Options{Temp: c.temp, Cache: c.cache})
		path, err := k.temporary()
		switch {
		case c.in == "" && err == nil:
			t.Errorf("%+v: in %s", c, path)
		case c.in == "":
			if !strings.Contains(err.Error(), c.temp[0]) {
				t.Errorf("%+v: %v", c, err)
			}
		case err != nil || !strings.HasPrefix(path, c.in+"/gemline-"):
			t.Errorf("%+v: %q, %v", c, path, err)
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if c.in != "" {
			if left, err := os.ReadDir(c.in); len(left) > 0 || err != nil {
				t.Errorf("%+v: left %v, %v", c, left, err)
			}
		}
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a directory was made where none was")
	}
}

// TestNoTemporaryDirectory runs a command where TMPDIR leads nowhere.
func TestNoTemporaryDirectory(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	k := kernel(t, Options{})
	if out, err := bash(t, k, Profile{Root: t.TempDir()}, `f=$(mktemp) && echo kept > "$f" && cat "$f"`); err != nil || out != "kept\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// temporaryFiles is the program of TestSwept: it has temporary files and is
// killed.
func temporaryFiles() error {
	path, err := New(Options{}).temporary()
	if err != nil {
		return err
	}
	deep := filepath.Join(path, "a/b")
	if err := errors.Join(os.MkdirAll(deep, 0o700), os.WriteFile(deep+"/file", nil, 0o400)); err != nil {
		return err
	}
	os.Stdout.WriteString(path + "\n")
	_, err = os.Stdin.Read(make([]byte, 1))
	return err
}

// killed has a process make temporary files in base, and die of SIGKILL once
// meanwhile was called.
func killed(t *testing.T, base string, meanwhile func(path string)) (path string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), probeVariable+"=temp", "TMPDIR="+base)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Error(err)
	}
	path = strings.TrimSuffix(line, "\n")
	if meanwhile != nil {
		meanwhile(path)
	}
	cmd.Process.Kill()
	cmd.Wait()
	return path
}

// swept has a Kernel that begins remove what is left in base, and returns what
// is there when it has ended.
func swept(t *testing.T, base string) (names []string) {
	t.Helper()
	k := New(Options{Temp: []string{base}})
	if _, err := k.temporary(); err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestSwept has a process killed that could remove nothing. What it left is
// removed by the next one that needs such a directory, and not before it is
// dead.
func TestSwept(t *testing.T) {
	base := t.TempDir()
	killed(t, base, func(path string) {
		if left := swept(t, base); !slices.Equal(left, []string{filepath.Base(path)}) {
			t.Errorf("of one that lives there is %v", left)
		}
		if err := os.Chmod(path+"/a/b", 0o500); err != nil {
			t.Error(err)
		}
	})
	if left := swept(t, base); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestNotSwept has what is nearly such a directory, and is not touched.
func TestNotSwept(t *testing.T) {
	elsewhere := killed(t, t.TempDir(), nil)
	for name, change := range map[string]func(dir string) error{
		"another name":       func(dir string) error { return os.Rename(dir, dir+"x") },
		"a name without one": func(dir string) error { return os.Rename(dir, filepath.Dir(dir)+"/"+tempName) },
		"open to others":     func(dir string) error { return os.Chmod(dir, 0o755) },
		"of another's": func(dir string) error {
			if os.Geteuid() != 0 {
				return errors.ErrUnsupported
			}
			return os.Lchown(dir, 12345, 12345)
		},
		"a link": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+"-moved"), os.Symlink(dir+"-moved", dir))
		},
		"a link to elsewhere": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+"-moved"), os.Symlink(elsewhere, dir))
		},
		"a file": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+"-moved"), os.WriteFile(dir, nil, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			dir := killed(t, base, nil)
			if err := change(dir); errors.Is(err, errors.ErrUnsupported) {
				t.Skip("only root can do this")
			} else if err != nil {
				t.Fatal(err)
			}
			before := tree(t, base)
			swept(t, base)
			if after := tree(t, base); after != before {
				t.Errorf("before: %s\nafter: %s", before, after)
			}
			if _, err := os.Stat(elsewhere + "/a/b/file"); err != nil {
				t.Error(err)
			}
		})
	}
}

// tree lists what is below dir.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, i os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(strings.TrimPrefix(path, dir) + " " + i.Mode().String() + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSweptLink has a command leave a link: the link goes, and what it leads to stays.
func TestSweptLink(t *testing.T) {
	base, other := t.TempDir(), t.TempDir()
	path := killed(t, base, nil)
	kept := filepath.Join(other, "kept")
	err := errors.Join(os.WriteFile(kept, nil, 0o600), os.Symlink(other, path+"/link"))
	if err != nil {
		t.Fatal(err)
	}
	if left := swept(t, base); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}

// TestSweptTogether has many begin and end at once: none loses its directory
// while it needs it, and nothing is left.
func TestSweptTogether(t *testing.T) {
	base := t.TempDir()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 25 {
				k := New(Options{Temp: []string{base}})
				path, err := k.temporary()
				if err == nil {
					err = os.WriteFile(path+"/file", nil, 0o600)
				}
				if err = errors.Join(err, k.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(base); len(left) > 0 || err != nil {
		t.Errorf("left: %v, %v", left, err)
	}
}
