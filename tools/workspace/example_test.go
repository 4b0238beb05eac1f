package workspace_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gemline/tools/workspace"
)

// A file is written as it was read, here to an overlay; what is outside, or has a name
// of secrets, is not touched.
func Example() {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("\xef\xbb\xbfone\r\ntwo\r\n"), 0o644)

	over := &workspace.Overlay{}
	ws, err := workspace.New(workspace.Config{Roots: []string{dir}, Overlay: over})
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"notes.txt", "../notes.txt", ".git/config"} {
		path, err := ws.Resolve(name)
		if outside, ok := errors.AsType[*workspace.OutsideError](err); ok {
			fmt.Println(strings.ReplaceAll(outside.Summary(), ws.Roots()[0], "project"))
			continue
		}
		place, err := ws.Locate(path)
		if err != nil {
			panic(err)
		}
		file, err := place.ReadText()
		if err != nil {
			panic(err)
		}
		fmt.Println(ws.Rel(path), place.Write(strings.Replace(file.Text, "two", "2", 1), file.Format))
	}
	for _, c := range over.Changes() {
		fmt.Printf("%q became %q\n", c.Old, c.New)
	}
	// Output:
	// notes.txt <nil>
	// it is outside of the folders that this session works in
	// the tools do not see it, nor .git and node_modules
	// "\ufeffone\r\ntwo\r\n" became "\ufeffone\r\n2\r\n"
}
