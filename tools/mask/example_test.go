//go:build unix

package mask_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gemline/tools/mask"
)

// Of a program with a file of its own, that file is masked. One that is a name of
// busybox can still be run by another name, and that is said.
func Example() {
	dir, err := os.MkdirTemp("", "bin")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		panic(err)
	}
	for _, name := range []string{"dialer.openbsd", "busybox"} {
		os.WriteFile(filepath.Join(dir, name), nil, 0o755)
	}
	os.Symlink("dialer.openbsd", filepath.Join(dir, "dialer"))
	os.Symlink("busybox", filepath.Join(dir, "unzipper"))

	f := mask.Finder{Path: dir}
	for _, m := range f.Find([]string{"dialer", "unzipper"}) {
		fmt.Println(strings.ReplaceAll(fmt.Sprintf("%s: %s %q", m.Program, m.Files, m.WhyRunnable), dir, "bin"))
	}
	// Output:
	// dialer: [bin/dialer.openbsd] ""
	// unzipper: [bin/unzipper] "it leads to bin/busybox, which is other programs as well"
}
