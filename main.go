// Gemline is a coding agent for plain terminals.
//
// This file is the process: its arguments, streams, environment and exit. What
// the program does with them begins in package program. No other file touches
// the process.
package main

import (
	"os"

	"gemline/commands/program"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

// What the build sets.
var (
	version = "dev"
	commit  string
	date    string // of the commit, RFC 3339
)

// What the program itself writes to. It is not what os.Stdout and os.Stderr
// are, once stray has been called.
var stdout, stderr = kept(os.Stdout), kept(os.Stderr)

func kept(f *os.File) *os.File { file := *f; return &file }

// stray sends to f what libraries write to standard output and standard error,
// whenever they took hold of these. A crash is still seen: the runtime does
// not write to files.
func stray(f *os.File) { *os.Stdout, *os.Stderr = *f, *f }

func main() {
	code, ok := sandbox.Init(os.Args, os.Stderr)
	if !ok {
		code, ok = shell.First(os.Args[1:], [3]*os.File{os.Stdin, os.Stdout, os.Stderr})
	}
	if !ok {
		code = program.Run(program.Process{
			Args:  os.Args[1:],
			Stdin: os.Stdin, Stdout: stdout, Stderr: stderr,
			Environ: os.Environ, Lookup: os.LookupEnv,
			Exit: os.Exit, Stray: stray,
			Version: version, Commit: commit, Date: date,
		})
	}
	os.Exit(code)
}
