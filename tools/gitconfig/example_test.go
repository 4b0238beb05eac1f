package gitconfig_test

import (
	"fmt"

	"gemline/tools/gitconfig"
)

// A setting may be harmless by itself, or once git is told QuietArgs as well, or not at all.
func Example() {
	text := "[remote \"origin\"]\n\turl = https://git.example/x\n" +
		"[core]\n\tfsmonitor = ./watch.sh\n\tworktree = /srv\n"
	list, err := gitconfig.Parse(text)
	if err != nil {
		panic(err)
	}
	for _, e := range list {
		fmt.Println(e, e.Harmless(), e.Idle())
	}
	fmt.Println("the configuration", gitconfig.FirstUnsafe(text, gitconfig.Entry.Idle))
	// Output:
	// remote.origin.url true true
	// core.fsmonitor false true
	// core.worktree false false
	// the configuration sets core.worktree
}
