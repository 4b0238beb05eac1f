//go:build unix

package attach_test

import (
	"context"
	"fmt"
	"os"

	"gemline/repl/attach"
)

// A session that other terminals can reach is live until it ends.
func Example() {
	dir, err := os.MkdirTemp("", "attach")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	hub := attach.NewHub(attach.Config{Dir: dir, Info: func() attach.Info { return attach.Info{ID: "1", Folder: "/project"} }})
	if err := hub.Reachable(); err != nil {
		fmt.Println(err)
	}
	hub.Open("> ", false)
	for _, s := range attach.Live(context.Background(), dir) {
		fmt.Println(s.Describe())
	}
	hub.Close()
	fmt.Println(len(attach.Live(context.Background(), dir)), "are live")
	// Output:
	// 1: waiting for a prompt, in /project, process 0
	// 0 are live
}
