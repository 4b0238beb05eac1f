package sandbox

import (
	"os"

	"gemline/tools/sandbox/stage"
)

// Init is the very first thing that a program that confines commands does: it
// may have been started to be the helper. Then Init does that, and returns
// the code to exit with; otherwise it reports false at once. What goes wrong
// is said on stderr.
func Init(args []string, stderr *os.File) (code int, ok bool) { return stage.Main(args, stderr) }
