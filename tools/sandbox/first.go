package sandbox

import (
	"os"

	"gemline/tools/sandbox/stage"
)

// First is the very first thing that a program that confines commands does: it
// may have been started to be the helper. Then First does that, and returns
// the code to exit with; otherwise it reports false at once. What goes wrong
// is said on stderr.
func First(args []string, stderr *os.File) (code int, ok bool) { return stage.Main(args, stderr) }
