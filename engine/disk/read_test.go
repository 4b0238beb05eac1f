package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestRead(t *testing.T) {
	dir := tree(t, map[string]string{"file": "content", "empty": "", "dir/": "", "link": "->file", "hanging": "->none"})
	for _, c := range []struct {
		name string
		most int64
		text string
		err  error
	}{
		{"file", 7, "content", nil},
		{"file", 6, "", TooLargeError(6)},
		{"empty", 0, "", nil},
		{"link", 7, "content", nil},
		{"link", 6, "", TooLargeError(6)},
		{"hanging", 7, "", fs.ErrNotExist},
		{"none", 7, "", fs.ErrNotExist},
		{"dir", 7, "", ErrDirectory},
		{os.DevNull, 7, "", ErrIrregular},
		{"/dev/zero", 7, "", ErrIrregular},
	} {
		t.Run(fmt.Sprint(c.name, c.most), func(t *testing.T) {
			path := c.name
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			} else if runtime.GOOS == "windows" {
				t.Skip("no such device")
			}
			b, err := Read(path, c.most)
			if string(b) != c.text || !errors.Is(err, c.err) || err == nil && b == nil {
				t.Errorf("%q, %v", b, err)
			}
			if pe := (*fs.PathError)(nil); err != nil && (!errors.As(err, &pe) || pe.Path != path || pe.Err != Cause(err)) {
				t.Errorf("the error names another file: %v", err)
			}
		})
	}
}

// What says that it is empty, or grows, is measured by what is read.
func TestContent(t *testing.T) {
	if _, err := os.Stat("/proc/self/maps"); err != nil {
		t.Skip("no file here lies about its size")
	}
	if b, err := Read("/proc/self/maps", 1<<20); err != nil || len(b) == 0 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if b, err := Read("/proc/self/maps", 10); b != nil || !errors.Is(err, TooLargeError(10)) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

func TestLargeError(t *testing.T) {
	for e, want := range map[TooLargeError]string{4 << 20: "is larger than 4 MiB", 1000: "is larger than 1000 bytes"} {
		if e.Error() != want {
			t.Errorf("%v, want %s", e, want)
		}
	}
}
