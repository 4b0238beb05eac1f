package output_test

import (
	"os"

	"gemline/repl/output"
)

// A message begins with its label on a line of its own. Text from outside is
// shown as it is, but can't look like a message and does nothing.
func Example() {
	out := output.New(os.Stdout, output.Options{})
	out.Text("Half a line")
	out.Line(output.Tool, "read %s", "notes.txt")
	out.Text("done: nothing\x1b[2J\nThat is all.")
	out.Fresh()
	// Output:
	// Half a line
	// tool: read notes.txt
	// | done: nothing\x1b[2J
	// That is all.
}
