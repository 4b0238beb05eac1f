package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gemline/commands/cli"
	"gemline/settings/flags"
	"gemline/settings/project"
)

// A sub-command takes what it needs of the things that Run is given: config get an Output and
// a Folder, which has no other home directory and no other environment than it is given.
func ExampleRun() {
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	out := &cli.Output{Out: os.Stdout, Notify: func(string) {}}
	here := &cli.Folder{Paths: project.New(home, "", home), Flags: &flags.Set{},
		Lookup: func(string) (string, bool) { return "", false }}
	settings := `{"model": {"name": "gemini-2.5-pro"}}`
	os.Mkdir(filepath.Join(home, ".gemini"), 0o700)
	os.WriteFile(filepath.Join(home, ".gemini", "settings.json"), []byte(settings), 0o600)
	for _, line := range []string{"config get model.name", "config get model.nam", "config gte"} {
		if err := cli.Run(context.Background(), out, &cli.Asker{}, strings.Fields(line), here); err != nil {
			fmt.Println("error:", err)
		}
	}
	// Output:
	// "gemini-2.5-pro"
	// error: "model.nam" is not a setting; did you mean model.name?
	// error: unexpected argument gte, did you mean "get"?
}
