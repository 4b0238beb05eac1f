package worktree_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gemline/tools/launch"
	"gemline/tools/shell"
	"gemline/tools/worktree"
)

// A tree that holds work is removed by force only, and what the work is was told.
func Example() {
	dir, err := os.MkdirTemp("", "repository")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for _, args := range []string{"init -q", "commit -q --no-gpg-sign --allow-empty -m first"} {
		git := exec.Command("git", strings.Fields("-c user.name=ann -c user.email=ann@example.com "+args)...)
		git.Dir = dir
		if out, err := git.CombinedOutput(); err != nil {
			panic(string(out))
		}
	}

	ctx := context.Background()
	l := &launch.Launcher{Config: launch.Config{Shell: shell.Settings{Environ: os.Environ()}}}
	r, err := worktree.Open(dir, l)
	if err != nil {
		panic(err)
	}
	tree, err := r.Add(ctx, "parser")
	fmt.Println(tree.Name, "on", tree.Branch, err)

	os.WriteFile(filepath.Join(tree.Path, "parse.go"), []byte("package parse\n"), 0o644)
	work, err := r.Work(ctx, tree)
	fmt.Println(work, err)
	if e, ok := errors.AsType[*worktree.Error](r.Remove(ctx, tree, false)); ok {
		fmt.Printf("%v\nhint: %s\n", e, e.Hint())
	}
	fmt.Println(r.Remove(ctx, tree, true))
	// Output:
	// parser on worktree-parser <nil>
	// 1 file not committed <nil>
	// the worktree parser stays: 1 file not committed
	// hint: commit and push it, or lose it with gemline worktree remove --force parser
	// <nil>
}
