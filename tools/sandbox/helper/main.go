// Helper is the program that stands between gemline and a confined command.
// The build embeds it, so that each command starts a small program instead of the whole
// gemline. Package stage does the work.
package main

import (
	"os"

	"gemline/tools/sandbox/stage"
)

func main() {
	code, ok := stage.Main(os.Args, os.Stderr)
	if !ok {
		os.Stderr.WriteString("gemline starts this program itself, to confine commands.\n")
		code = 2
	}
	os.Exit(code)
}
