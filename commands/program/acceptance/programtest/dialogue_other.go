//go:build !unix

package programtest

import "github.com/rogpeppe/go-internal/testscript"

// dialogueCmds are none: no pseudo-terminals are here.
var dialogueCmds map[string]func(ts *testscript.TestScript, neg bool, args []string)

type (
	dialogue struct{}
	talking  struct{}
)
