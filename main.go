// Gemline is a coding agent for plain terminals. The program begins in package
// program.
package main

import (
	"os"
	"time"

	"gemline/commands/program"
	_ "gemline/commands/program/early" // begins before main
)

// What the build sets.
var (
	version = "dev"
	commit  string
	date    string // of the commit, RFC 3339
)

func main() { os.Exit(program.Main(version, commit, date, time.Now())) }
