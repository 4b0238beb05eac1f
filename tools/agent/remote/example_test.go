package remote_test

import (
	"context"
	"fmt"

	"gemline/tools/agent/remote"
	"gemline/tools/agent/remote/remotelab"
)

func Example() {
	var end func()
	lab := remotelab.New(func(f func()) { end = f }, remotelab.Config{Streaming: true})
	defer end()
	c := client(remote.Config{Server: remote.Server{CardURL: lab.Card()}})
	a, err := c.Ask(context.Background(), "ask me", func(words string) { fmt.Print("meanwhile: ", words) })
	fmt.Println(a.Open, err)
	a, err = c.Ask(context.Background(), "the first", func(string) {})
	fmt.Println(a.Text, err)
	// Output:
	// meanwhile: I am at it.
	// meanwhile: Which one?
	// true <nil>
	// It is the first, then. <nil>
}
