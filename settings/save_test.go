package settings

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gemline/settings/jsonc"
)

// to returns an edit that sets a key at the top.
func to(key string, v any) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return jsonc.Set(text, []string{key}, v) }
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// names returns what is in a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestSave(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "settings.json")
	if err := save(t.Context(), path, privateFile, to("x", 1)); err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, path); got != "{\n  \"x\": 1\n}\n" {
		t.Errorf("it holds %q", got)
	}
	if runtime.GOOS != "windows" && (modeOf(t, path) != 0o600 || modeOf(t, dir) != 0o700) {
		t.Errorf("the modes are %v, %v", modeOf(t, path), modeOf(t, dir))
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".gemline-settings.json-123"), nil, 0o600); err != nil { // of a program that was killed
		t.Fatal(err)
	}
	if err := save(t.Context(), path, privateFile, to("y", 2)); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && modeOf(t, path) != 0o640 {
		t.Errorf("the mode became %v", modeOf(t, path))
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := save(t.Context(), path, privateFile, to("y", 2)); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Error("a file that does not change was written")
	}
	if runtime.GOOS != "windows" && names(t, dir) != "settings.json" {
		t.Errorf("there is %s", names(t, dir))
	}
}

// A link stays one, and the file it leads to changes, there or not.
func TestSaveThroughLinks(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Mkdir(in("dots"), 0o700), os.WriteFile(in("dots/s.json"), []byte("{}"), 0o600),
		os.Symlink("two", in("one")), os.Symlink("dots/s.json", in("two")), os.Symlink("dots/new/s.json", in("three")), os.Symlink("circle", in("circle"))); err != nil {
		t.Skip("no links here:", err)
	}
	for _, name := range []string{"one", "three"} {
		if err := save(t.Context(), in(name), privateFile, to("x", 1)); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(in(name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", name)
		}
	}
	for _, name := range []string{"dots/s.json", "dots/new/s.json"} {
		if !strings.Contains(textOf(t, in(name)), `"x": 1`) {
			t.Errorf("%s holds %q", name, textOf(t, in(name)))
		}
	}
	if err := save(t.Context(), in("circle"), privateFile, to("x", 1)); err == nil || !strings.Contains(err.Error(), "circle") {
		t.Error(err)
	}
}

// What can't be saved says why, and stays what it was.
func TestSaveRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		edit func([]byte) ([]byte, error)
		want string
	}{
		"broken":  {"{\n  \"a\": 1\n  \"b\": 2\n}", to("x", 1), "broken:3:3: "},
		"a list":  {"[]", to("x", 1), "must hold an object"},
		"binary":  {"{\"a\": \"\xff\"}", to("x", 1), "is not UTF-8"},
		"object":  {"{}", func([]byte) ([]byte, error) { return []byte("[]"), nil }, "the change is not made"},
		"refused": {"{}", func([]byte) ([]byte, error) { return nil, errors.New("no such thing") }, "no such thing"},
		"large":   {"{}", to("x", strings.Repeat("x", jsonc.MaxFile)), "would be larger than 4 MiB"},
		"deep":    {"{}", to("x", deep(200)), "nested too deep"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := save(t.Context(), path, privateFile, c.edit); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", name, err, c.want)
		}
		if textOf(t, path) != c.text {
			t.Errorf("%s became %q", name, textOf(t, path))
		}
		var fe *jsonc.Error
		if err := save(t.Context(), path, privateFile, c.edit); errors.As(err, &fe) == (name == "refused") {
			t.Errorf("%s is no error of a file: %v", name, err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"": "no home directory", filepath.Join(dir, "folder"): "is a directory", filepath.Join(dir, "broken", "s.json"): "not a directory",
		os.DevNull: "not a regular file", filepath.Join(dir, "a\x00b"): "invalid argument",
	} {
		if err := save(t.Context(), path, privateFile, to("x", 1)); err == nil || runtime.GOOS != "windows" && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", path, err, want)
		}
	}
	if got := names(t, dir); strings.Contains(got, ".gemline") {
		t.Errorf("left behind: %s", got)
	}
}

func deep(n int) any {
	var v any = []any{}
	for range n {
		v = []any{v}
	}
	return v
}

func TestSaveReadOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean something else here")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "s.json")
	if err := os.WriteFile(path, []byte("{}"), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := save(t.Context(), path, privateFile, to("x", 1)); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a file: %v", err)
	}
	if err := errors.Join(os.Chmod(path, 0o600), os.Chmod(dir, 0o500)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if os.Geteuid() == 0 {
		t.Skip("nothing is read-only to root")
	}
	if err := save(t.Context(), path, privateFile, to("x", 1)); !errors.Is(err, fs.ErrPermission) || textOf(t, path) != "{}" {
		t.Errorf("a directory: %v", err)
	}
}

// While one program saves, another waits, and says so if it has to give up.
func TestSaveWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	inside, done, result := make(chan bool), make(chan bool), make(chan error)
	go func() {
		result <- save(context.Background(), path, privateFile, func(text []byte) ([]byte, error) {
			close(inside)
			<-done
			return to("x", 1)(text)
		})
	}()
	<-inside
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := save(ctx, path, privateFile, to("y", 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("not stopped: %v", err)
	}
	close(done)
	if err := errors.Join(<-result, save(t.Context(), path, privateFile, to("y", 1))); err != nil {
		t.Error(err)
	}
	if got := textOf(t, path); !strings.Contains(got, "x") || !strings.Contains(got, "y") {
		t.Errorf("it holds %s", got)
	}
}

// savesAs names the variable that makes the test binary a program that saves:
// "keys" sets twenty keys, "stop" stops half way.
const savesAs = "GEMLINE_TEST_SAVES"

// saver returns the command of such a program.
func saver(t *testing.T, as, path, prefix string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSaver$")
	c.Env = append(os.Environ(), savesAs+"="+as, "GEMLINE_TEST_PATH="+path, "GEMLINE_TEST_PREFIX="+prefix)
	return c
}

const keysEach = 20

// TestSaver is the program.
func TestSaver(t *testing.T) {
	path := os.Getenv("GEMLINE_TEST_PATH")
	switch os.Getenv(savesAs) {
	case "":
		t.Skip("this is for other tests to start")
	case "keys":
		for i := range keysEach {
			if err := save(t.Context(), path, privateFile, to(fmt.Sprint(os.Getenv("GEMLINE_TEST_PREFIX"), i), i)); err != nil {
				t.Fatal(err)
			}
		}
	case "stop":
		_ = save(t.Context(), path, privateFile, func([]byte) ([]byte, error) {
			fmt.Println("inside")
			select {}
		})
	}
}

func TestSaversSideBySide(t *testing.T) {
	const programs = 8
	path := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(path, []byte("{\n  // mine\n  \"before\": 1 // the first\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	killed := saver(t, "stop", path, "")
	out, err := killed.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "inside\n" {
		t.Fatal(line, err)
	}
	running := make([]*exec.Cmd, programs)
	said := make([]bytes.Buffer, programs)
	for i := range running {
		running[i] = saver(t, "keys", path, fmt.Sprintf("k%d-", i))
		running[i].Stdout, running[i].Stderr = &said[i], &said[i]
		if err := running[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	_ = killed.Process.Kill() // with the lock held
	_ = killed.Wait()
	for i, c := range running {
		if err := c.Wait(); err != nil {
			t.Errorf("%v: %s", err, said[i].String())
		}
	}
	doc, err := jsonc.Parse(path, []byte(textOf(t, path)))
	if err != nil || len(doc.Tree) != 1+programs*keysEach {
		t.Errorf("%d keys, %v", len(doc.Tree), err)
	}
	if !strings.Contains(textOf(t, path), "  // mine\n  \"before\": 1, // the first\n") {
		t.Errorf("the comments are gone from\n%s", textOf(t, path))
	}
	if runtime.GOOS != "windows" && names(t, filepath.Dir(path)) != "s.json" {
		t.Errorf("left behind: %s", names(t, filepath.Dir(path)))
	}
}
