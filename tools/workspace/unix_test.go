//go:build unix

package workspace

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// limitFiles lets this process write no file longer than n bytes.
func limitFiles(t *testing.T, n uint64) {
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(rlimitFsize, &limit); err != nil {
		t.Fatal(err)
	}
	setSoft(&limit, n)
	if err := syscall.Setrlimit(rlimitFsize, &limit); err != nil {
		t.Fatal(err)
	}
}

const rlimitFsize = 1 // everywhere

func TestReadRefusesWhatIsNoFile(t *testing.T) {
	dir := tree(t, map[string]string{"d/": "", "short": "x"})
	in := func(n string) string { return filepath.Join(dir, n) }
	if err := syscall.Mkfifo(in("pipe"), 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	link(t, "/dev/zero", in("zero"))
	link(t, "pipe", in("topipe"))
	w := open(t, Config{Roots: []string{dir, "/dev"}})
	for name, want := range map[string]error{
		in("pipe"): ErrIrregular, in("topipe"): ErrIrregular, in("zero"): ErrIrregular, "/dev/zero": ErrIrregular, "/dev/tty": ErrIrregular,
		in("d"): ErrDirectory, in("none"): os.ErrNotExist, in("short/x"): os.ErrNotExist,
	} {
		if _, err := w.ReadText(name); !errors.Is(err, want) {
			t.Errorf("%s: got %v; want %v", name, err, want)
		}
		if want == os.ErrNotExist {
			continue
		}
		if err := w.Write(name, "x", Format{}); !errors.Is(err, want) {
			t.Errorf("written: %s: got %v; want %v", name, err, want)
		}
	}
	if found, err := w.Search(t.Context(), dir, query("x")); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestOddNames(t *testing.T) {
	for _, name := range []string{"a\nb", "\x1b[2J", "\xff\xfe", "-rf", " ", "*", "\\", "a\"b", strings.Repeat("x", 255)} {
		dir := tree(t, nil)
		path := filepath.Join(dir, name)
		w := open(t, Config{Roots: []string{dir}, RespectGit: true})
		if err := w.Write(path, "text", Format{}); errors.Is(err, syscall.EILSEQ) {
			continue // not a name here
		} else if err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if f, err := w.ReadText(path); err != nil || f.Text != "text" {
			t.Errorf("%q: %v, %v", name, f, err)
		}
		if got, err := w.Resolve(name); err != nil || got != path || w.Rel(path) != name {
			t.Errorf("%q resolved to %q, %v", name, got, err)
		}
		if got := w.Ignore.Names(path, false); got {
			t.Errorf("%q ignored", name)
		}
	}
}

func TestReadIsLimited(t *testing.T) {
	dir := tree(t, map[string]string{"f": ""})
	path := filepath.Join(dir, "f")
	if err := os.Truncate(path, MaxFile+1); err != nil {
		t.Fatal(err)
	}
	w := open(t, Config{Roots: []string{dir}})
	_, err := w.ReadText(path)
	if se := (*SizeError)(nil); !errors.As(err, &se) || se.Size != MaxFile+1 {
		t.Errorf("got %v", err)
	}
}

// A root is the directory that it was when it was added, wherever it goes.
func TestRootMoves(t *testing.T) {
	base := tree(t, map[string]string{"ws/sub/f": "inside", "out/sub/f": "canary"})
	ws, moved := filepath.Join(base, "ws"), filepath.Join(base, "moved")
	w := open(t, Config{Roots: []string{ws}})
	link(t, "sub", filepath.Join(ws, "link"))
	if err := errors.Join(os.Rename(ws, moved), os.Symlink("out", ws)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sub/f", "link/f"} {
		if f, err := w.ReadText(filepath.Join(ws, name)); err != nil || f.Text != "inside" {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	if err := w.Write(filepath.Join(ws, "link", "made"), "made", Format{}); err != nil || content(t, filepath.Join(moved, "sub", "made")) != "made" {
		t.Error(err)
	}
	if found, err := w.Search(t.Context(), ws, query("inside|canary")); err != nil || len(found) != 1 || found[0].Text != "inside" {
		t.Errorf("found %v, %v", found, err)
	}
	if err := os.RemoveAll(moved); err != nil {
		t.Fatal(err)
	}
	gone := (*GoneError)(nil)
	if _, err := w.ReadText(filepath.Join(ws, "sub", "f")); !errors.As(err, &gone) || gone.Root != ws {
		t.Errorf("got %v", err)
	}
	if err := w.Write(filepath.Join(ws, "f"), "x", Format{}); !errors.As(err, &gone) {
		t.Errorf("got %v", err)
	}
	if got := strings.Join(names(t, filepath.Join(base, "out", "sub")), " "); got != "f" {
		t.Errorf("left outside: %s", got)
	}
}

// The temporary directory may come and go, but not as a link to elsewhere.
func TestTemp(t *testing.T) {
	base := tree(t, map[string]string{"ws/": "", "out/f": "canary"})
	temp := filepath.Join(base, "tmp", "deep")
	w := open(t, Config{Roots: []string{filepath.Join(base, "ws")}, Temp: temp})
	path := filepath.Join(temp, "f")
	for range 2 {
		if _, err := w.ReadText(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
		if err := w.Write(path, "text", Format{}); err != nil {
			t.Fatal(err)
		}
		if f, err := w.ReadText(path); err != nil || f.Text != "text" {
			t.Errorf("%v, %v", f, err)
		}
		if err := os.RemoveAll(temp); err != nil {
			t.Fatal(err)
		}
	}
	link(t, "../out", temp)
	if f, err := w.ReadText(path); err == nil {
		t.Errorf("read %q", f.Text)
	}
	if err := w.Write(path, "x", Format{}); err == nil || content(t, filepath.Join(base, "out", "f")) != "canary" {
		t.Errorf("got %v", err)
	}
}
