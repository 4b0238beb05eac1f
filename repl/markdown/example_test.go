package markdown_test

import (
	"fmt"

	"gemline/repl/markdown"
)

// An answer is shown while it comes. What a piece means is known before it is
// shown: the link waits for its end.
func Example() {
	r := markdown.New(nil)
	for _, piece := range []string{"## Steps\n\n1. Read [the ", "manual](https://x.exa", "mple).\n2. Run `make`", "."} {
		for _, span := range r.Write(piece) {
			fmt.Print(span.Text)
		}
	}
	for _, span := range r.Close() {
		fmt.Print(span.Text)
	}
	// Output:
	// heading 2: Steps
	//
	// 1. Read the manual (https://x.example).
	// 2. Run make.
}
