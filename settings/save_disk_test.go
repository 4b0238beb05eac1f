//go:build linux || darwin

package settings

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A disk without room is made of the limit for the size of a file, in a
// process of its own.
func TestSaveOnAFullDisk(t *testing.T) {
	if os.Getenv(savesAs) == "full" {
		const fsize = 1 // everywhere
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(fsize, &syscall.Rlimit{Cur: 4096, Max: 4096}); err != nil {
			t.Fatal(err)
		}
		if err := save(t.Context(), os.Getenv("GEMLINE_TEST_PATH"), privateFile, to("x", strings.Repeat("x", 8192))); err == nil || !strings.Contains(err.Error(), "too large") {
			t.Errorf("on a full disk: %v", err)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "s.json")
	const before = "{ /* mine */ }"
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	c := saver(t, "full", path, "")
	c.Args[1] = "-test.run=^TestSaveOnAFullDisk$"
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if textOf(t, path) != before || names(t, filepath.Dir(path)) != "s.json" {
		t.Errorf("it holds %q beside %s", textOf(t, path), names(t, filepath.Dir(path)))
	}
}
