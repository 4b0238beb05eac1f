//go:build !linux

package stage

import "os"

// Main runs a stage. It reports false if args are no stage's arguments.
func Main([]string, *os.File) (code int, ok bool) { return 0, false }
