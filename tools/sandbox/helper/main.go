// Helper is the program that stands between gemline and a confined command.
// The build embeds it, so that a command costs the start of a small program
// and not of the whole one. What it does is package stage.
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
