package ide_test

import (
	"context"
	"fmt"

	"gemline/tools/ide"
)

// A terminal of no editor costs nothing and says so.
func Example() {
	c := ide.New(ide.Config{Environment: ide.Environment{Cwd: "/work", Lookup: func(string) (string, bool) { return "", false }}})
	defer c.Close()
	fmt.Println(c.Connect(context.Background()))
	// Output: this terminal belongs to no editor with a companion
}
