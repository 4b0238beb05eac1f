package custom_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"gemline/commands/custom"
)

func Example() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	os.MkdirAll(filepath.Join(dir, "git"), 0o700)
	os.WriteFile(filepath.Join(dir, "git", "commit.toml"), []byte(`prompt = "Say what !{git status} means. {{args}}"`), 0o600)
	files := custom.Library{Dirs: func() []custom.Dir { return []custom.Dir{{Path: dir, Owner: "user"}} }}
	commands := files.Commands(func(string) bool { return false })
	world := custom.Sources{Run: func(context.Context, string) (string, error) { return "clean", nil },
		Insert: func(line string, _ *regexp.Regexp, _ func(string) string) (string, error) { return line, nil }}
	call := custom.Invocation{Line: "/git:commit in short", Args: "in short"}
	parts, err := commands[0].Expand(context.Background(), call, world)
	fmt.Printf("/%s: %s %v\n", commands[0].Name, parts[0].Text, err)
	// Output: /git:commit: Say what clean means. in short <nil>
}
