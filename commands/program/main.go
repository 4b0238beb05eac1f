package program

import (
	"os"
	"time"

	_ "gemline/commands/program/garbage" // delays the first garbage collection
	"gemline/commands/program/project"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

// stdout and stderr are the streams that the program itself writes to. After a call of
// redirectOutput they differ from os.Stdout and os.Stderr.
var stdout, stderr = kept(os.Stdout), kept(os.Stderr)

func kept(f *os.File) *os.File { file := *f; return &file }

// redirectOutput sends the output of libraries to f, even if they copied os.Stdout or os.Stderr
// earlier. A crash is still printed: the runtime does not write through an os.File.
func redirectOutput(f *os.File) { *os.Stdout, *os.Stderr = *f, *f }

// Main runs the program with the process's own arguments, streams and environment, and returns the
// exit code. The version, the commit and its date (RFC 3339) are those of the build; today is the
// day by which prices change and models end. No other file uses the process itself, so a test
// binary that calls Main behaves like the program.
func Main(version, commit, date string, today time.Time) int {
	if code, ok := sandbox.Init(os.Args, os.Stderr); ok {
		return code
	}
	if code, ok := shell.RunAsInit(os.Args[1:], [3]*os.File{os.Stdin, os.Stdout, os.Stderr}); ok {
		return code
	}
	return Run(project.Process{
		Args:  os.Args[1:],
		Stdin: os.Stdin, Stdout: stdout, Stderr: stderr,
		Environ: os.Environ, Lookup: os.LookupEnv,
		Exit: os.Exit, RedirectOutput: redirectOutput,
		Version: version, Commit: commit, Date: date, Today: today,
	})
}
