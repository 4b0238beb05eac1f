//go:build linux

package programtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Picture returns what is below a directory: a line for each name, with its mode, where
// it leads or what it holds.
func Picture(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		held := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			held, err = os.Readlink(path)
		case info.Mode().IsRegular():
			var content []byte
			content, err = os.ReadFile(path)
			held = fmt.Sprintf("%q", content)
		}
		fmt.Fprintln(&b, strings.TrimPrefix(path, dir), info.Mode(), held)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
