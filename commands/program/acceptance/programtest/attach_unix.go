//go:build unix

package programtest

import (
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// Attaches returns the command that attaches to the first live session of c's home.
func Attaches(c teletype.Command) teletype.Command {
	c.Args = []string{"attach", "1"}
	return c
}

// Removes is an answer that runs a command that is asked about.
func Removes(id string) et.Reply {
	return et.Says("", et.Call(id, "run_shell_command", "command", "rm notes.txt"))
}
