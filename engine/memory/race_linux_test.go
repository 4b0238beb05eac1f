package memory

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// While a directory is exchanged with a link that leads out, to something that
// looks like a project of its own, no file of that is read.
func TestNothingOutsideIsReadMeanwhile(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"ws/sub/GEMINI.md": "inside @./more.md", "ws/sub/more.md": "inside", "ws/sub/.git/HEAD": "", "ws/sub/f": "",
		"out/GEMINI.md": "canary @./more.md", "out/more.md": "canary", "out/.git/HEAD": "", "out/f": "",
	} {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ws, out := filepath.Join(base, "ws"), filepath.Join(base, "out")
	if err := os.Symlink(out, filepath.Join(ws, "link")); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Open(ws, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(at)
	if err := unix.Renameat2(at, "sub", at, "link", unix.RENAME_EXCHANGE); err != nil {
		t.Skip("files can't be exchanged here:", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for ctx.Err() == nil {
			unix.Renameat2(at, "sub", at, "link", unix.RENAME_EXCHANGE)
			runtime.Gosched()
		}
	})
	m := New(Config{Roots: func() []string { return []string{ws} }})
	found := 0
	for range 2000 {
		m.Reload()
		text, _ := m.Discover(filepath.Join(ws, "sub", "f"))
		if strings.Contains(text, "canary") {
			t.Errorf("read %q", text)
			break
		}
		if strings.Contains(text, "inside") {
			found++
		}
	}
	stop()
	swapper.Wait()
	t.Logf("%d times something was found", found)
}
