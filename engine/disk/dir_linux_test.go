package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	et "gemline/engine/enginetest"
)

// What is not a regular file is not opened, and what the kernel makes up is not
// read, however it is reached.
func TestIrregular(t *testing.T) {
	dir := tree(t, nil)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Skip("no socket here:", err)
	}
	defer l.Close()
	for _, name := range []string{"pipe", "socket"} {
		if _, err := Read(filepath.Join(dir, name), 1); !errors.Is(err, ErrIrregular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for way, d := range ways(t, dir) {
		for _, name := range []string{"pipe", "socket"} {
			if _, _, err := d.File(name); !errors.Is(err, ErrIrregular) {
				t.Errorf("%s: %s: %v", way, name, err)
			}
			if _, _, err := d.RawFile(name); err == nil {
				t.Errorf("%s: %s was opened raw", way, name)
			}
		}
	}
	for _, dir := range []string{"/proc/self", "/sys"} {
		if _, err := os.Stat(filepath.Join(dir, ".")); err != nil {
			continue
		}
		for way, d := range ways(t, dir) {
			if _, err := d.List("."); !errors.Is(err, ErrKernel) {
				t.Errorf("%s: %s was listed: %v", way, dir, err)
			}
		}
	}
	for way, d := range ways(t, "/proc/self") {
		if _, _, err := d.File("environ"); !errors.Is(err, ErrKernel) {
			t.Errorf("%s: the environment was opened: %v", way, err)
		}
		if _, _, err := d.RawFile("environ"); !errors.Is(err, ErrKernel) {
			t.Errorf("%s: the environment was opened raw: %v", way, err)
		}
	}
	for way, d := range ways(t, "/") { // where /proc is mounted below
		if _, _, err := d.File("proc/version"); !errors.Is(err, ErrKernel) && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", way, err)
		}
	}
	for way, d := range ways(t, "/dev") {
		if _, _, err := d.File("null"); !errors.Is(err, ErrIrregular) {
			t.Errorf("%s: a device was opened: %v", way, err)
		}
	}
}

// However names are reached: while somebody exchanges a directory with links
// that lead out and elsewhere inside, nothing there is opened, listed or made.
func TestRace(t *testing.T) {
	dir := tree(t, map[string]string{"in/a/b/file": "inside", "in/link": "->../out", "in/inner": "->hidden",
		"in/hidden/b/file": "canary", "in/hidden/b/canary": "canary", "out/b/file": "canary", "out/b/canary": "canary"})
	in, err := unix.Open(filepath.Join(dir, "in"), unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(in)
	if err := unix.Renameat2(in, "a", in, "link", unix.RENAME_EXCHANGE); err != nil {
		t.Skip("files can't be exchanged here:", err)
	}
	n := et.Rounds(3000, 500_000)
	ctx, stop := context.WithCancel(t.Context())
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			unix.Renameat2(in, "a", in, []string{"link", "inner"}[i/2%2], unix.RENAME_EXCHANGE)
			runtime.Gosched()
		}
	})
	for way, d := range ways(t, filepath.Join(dir, "in")) {
		well := 0
		for i := 0; i < n || well == 0; i++ {
			runtime.Gosched()
			if f, _, err := d.File("a/b/file"); err == nil {
				if b, _ := io.ReadAll(f); string(b) != "inside" {
					t.Fatalf("%s: read %q", way, b)
				}
				f.Close()
				well++
			}
			if entries, err := d.List("a/b"); err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == "canary" }) {
				t.Fatalf("%s: listed %v", way, entries)
			}
			if _, end, err := d.Make(fmt.Sprintf("a/made-%d", i)); err == nil {
				end(true)
			}
			if info, err := d.Lstat("a/b/canary"); err == nil {
				t.Fatalf("%s: saw %v", way, info)
			}
		}
	}
	stop()
	swapper.Wait()
	for _, dir := range []string{filepath.Join(dir, "out"), filepath.Join(dir, "in", "hidden")} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("in %s there is %v, %v", dir, entries, err)
		}
	}
}
