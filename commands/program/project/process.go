package project

import (
	"os"
	"time"

	"gemline/settings"
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

// An Env is the environment: that of the process, and the .env files.
type Env struct {
	Process Process
	dotenv  settings.DotEnv
}

// Lookup returns a variable of the environment or else of the .env files, as it counts
// for gemline itself.
func (e *Env) Lookup(name string) (string, bool) {
	if v, ok := e.Process.Lookup(name); ok {
		return v, true
	}
	v, ok := e.dotenv.Lookup(name)
	return v.Value, ok
}

// Environ returns the user's environment: that of the process, and below it what the user's
// own .env files set.
func (e *Env) Environ() []string { return append(envList(e.dotenv.User), e.Process.Environ()...) }

// projectEnviron returns what the project's own .env file sets, for what the project
// brings and the user has agreed to.
func (e *Env) projectEnviron() []string { return envList(e.dotenv.Project) }

func (e *Env) Getenv(name string) string {
	v, _ := e.Lookup(name)
	return v
}

// projectVars returns what the project's own .env file sets.
func (e *Env) projectVars() map[string]string {
	vars := map[string]string{}
	for name, v := range e.dotenv.Project {
		vars[name] = v.Value
	}
	return vars
}
