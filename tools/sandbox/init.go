package sandbox

import (
	"os"

	"gemline/tools/sandbox/stage"
)

// Init must be the first call of a program that confines commands. If the process was
// started as the helper, Init runs the helper and returns the exit code; otherwise it
// reports false at once. Errors go to stderr.
func Init(args []string, stderr *os.File) (code int, ok bool) { return stage.Main(args, stderr) }
