package project

import (
	"os"
	"time"
)

// A Process is what the program has of the process that it runs in.
type Process struct {
	Args                  []string // of the command line, without the program's name
	Stdin, Stdout, Stderr *os.File
	Environ               func() []string
	Lookup                func(name string) (value string, ok bool) // a variable of the environment
	Exit                  func(code int)                            // ends the process at once
	Stray                 func(*os.File)                            // sends somewhere else what libraries write to standard output and error
	Version, Commit, Date string                                    // of the build; Date is that of the commit, RFC 3339
	Today                 time.Time                                 // by which prices change and models end; zero is before all that
}

func (p Process) Getenv(name string) string {
	v, _ := p.Lookup(name)
	return v
}
