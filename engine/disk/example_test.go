//go:build unix

package disk_test

import (
	"fmt"
	"os"
	"path/filepath"

	"gemline/engine/disk"
)

// What is judged by its name is reached from an open directory, and never through a
// link that was put there meanwhile.
func Example() {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	fmt.Println(disk.Replace(filepath.Join(dir, "notes.txt"), []byte("read me\n"), 0o644))
	fmt.Println(os.Symlink("/etc", filepath.Join(dir, "docs")))

	d, err := disk.OpenDir(dir)
	if err != nil {
		panic(err)
	}
	defer d.Close()
	for _, name := range []string{"notes.txt", "docs/passwd", "none"} {
		f, _, err := d.File(name)
		if err != nil {
			fmt.Println(name, disk.Cause(err))
			continue
		}
		text, err := disk.ReadOpen(f, 1<<20)
		fmt.Printf("%s %q %v\n", name, text, err)
		f.Close()
	}
	// Output:
	// <nil>
	// <nil>
	// notes.txt "read me\n" <nil>
	// docs/passwd is a link, or lies behind one
	// none no such file or directory
}
