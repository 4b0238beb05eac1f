//go:build unix

package launch_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"time"

	"gemline/tools/launch"
	"gemline/tools/shell"
)

// A hook reads what happened and answers; a server stays and is talked with.
func Example() {
	l := &launch.Launcher{Config: launch.Config{Shell: shell.Settings{Environ: os.Environ()}}}

	o := l.Run(context.Background(), launch.Command{Text: `read -r event; echo "saw $event"; echo "no" >&2; exit 2`,
		Unconfined: true, Vars: launch.Usual, Input: "a call\n", SplitStderr: true, Limit: launch.Limit{Timeout: time.Minute}})
	fmt.Println(o.Code, o.Output, o.Stderr)

	server, err := l.Open(launch.Command{Argv: []string{"sh", "-c", `while read -r line; do echo "<$line>"; done`}, Unconfined: true, Vars: launch.Usual})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Fprintln(server.Stdin, "hello")
	answer, _ := bufio.NewReader(server.Stdout).ReadString('\n')
	fmt.Print(answer)
	fmt.Println(server.Close().OK())
	// Output:
	// 2 saw a call no
	// <hello>
	// true
}
