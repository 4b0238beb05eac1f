package extension_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"gemline/settings/extension"
)

// An extension is a folder with a manifest, and is on until somebody switches it off.
func Example() {
	dir, err := os.MkdirTemp("", "extensions")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	os.Mkdir(filepath.Join(dir, "sky"), 0o700)
	os.WriteFile(filepath.Join(dir, "sky", "gemini-extension.json"), []byte(`{"name": "sky", "version": "1.2.0"}`), 0o600)
	for _, here := range []string{"/project", "/project/sub", "/elsewhere"} {
		list, warnings := extension.Installed(extension.Config{Dir: dir, Cwd: here})
		fmt.Println(list[0].Name, list[0].Version, list[0].Active, warnings)
		if here == "/project" {
			fmt.Println(extension.SetEnabled(context.Background(), dir, "sky", here, false))
		}
	}
	// Output:
	// sky 1.2.0 true []
	// <nil>
	// sky 1.2.0 false []
	// sky 1.2.0 true []
}
