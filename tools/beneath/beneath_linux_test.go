package beneath

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What is no regular file is not opened, and what the kernel makes up is not
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
	for way, d := range ways(t, dir) {
		for _, name := range []string{"pipe", "socket"} {
			if _, _, err := d.File(name); !errors.Is(err, ErrIrregular) {
				t.Errorf("%s: %s: %v", way, name, err)
			}
			if _, _, err := d.Raw(name); err == nil {
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
		if _, _, err := d.Raw("environ"); !errors.Is(err, ErrKernel) {
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
