package source_test

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"

	"gemline/tools/source"
)

// A package comes in as a whole, or nothing of it does.
func ExampleUnpack() {
	dir, err := os.MkdirTemp("", "packages")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"pack-1.0/intro.md", "../.profile"} {
		archive, to := filepath.Join(dir, "package.zip"), filepath.Join(dir, "package")
		f, _ := os.Create(archive)
		z := zip.NewWriter(f)
		z.Create("pack-1.0/skill.md")
		z.Create(name)
		z.Close()
		f.Close()
		err := source.Unpack(archive, to)
		files, _ := filepath.Glob(filepath.Join(to, "*"))
		fmt.Println(len(files), "files:", err)
		os.RemoveAll(to)
	}
	// Output:
	// 2 files: <nil>
	// 0 files: the archive package.zip can't be used: it has a file named "../.profile", which leads out of it
}
