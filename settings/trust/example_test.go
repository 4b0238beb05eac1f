package trust_test

import (
	"fmt"
	"os"
	"path/filepath"

	"gemline/settings"
	"gemline/settings/project"
	"gemline/settings/trust"
)

func ExampleScan() {
	dir, err := os.MkdirTemp("", "folder")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.WriteFile(filepath.Join(dir, "GEMINI.md"), []byte("Be brief."), 0o600)
	for _, item := range trust.Scan(project.New("", "", dir), settings.Default()) {
		fmt.Println(item)
	}
	// Output: context file GEMINI.md: 9 bytes
}
