package project

import (
	"maps"
	"os"
	"slices"
	"time"

	"gemline/engine/lists"
	"gemline/settings"
)

// A Process holds the program's arguments, streams, environment and exit.
type Process struct {
	Args                  []string // of the command line, without the program's name
	Stdin, Stdout, Stderr *os.File
	Environ               func() []string
	Lookup                func(name string) (value string, ok bool) // a variable of the environment
	Exit                  func(code int)                            // ends the process at once
	RedirectOutput        func(*os.File)                            // sends the output of libraries to the file, in place of standard output and error
	Version, Commit, Date string                                    // of the build; Date is the commit's, RFC 3339
	Today                 time.Time                                 // decides prices and which models have ended; zero is before all dates
}

// Getenv returns the value of a variable, "" if it is not set.
func (p Process) Getenv(name string) string {
	v, _ := p.Lookup(name)
	return v
}

// An Env is the environment of the process together with the .env files.
type Env struct {
	Process Process
	dotenv  settings.DotEnv
}

// Lookup returns a variable of the environment, or else of the .env files, for gemline's own use.
func (e *Env) Lookup(name string) (string, bool) {
	if v, ok := e.Process.Lookup(name); ok {
		return v, true
	}
	v, ok := e.dotenv.Lookup(name)
	return v.Value, ok
}

// Environ returns the user's environment: the process's variables, which override those of
// the user's own .env files.
func (e *Env) Environ() []string { return append(envList(e.dotenv.User), e.Process.Environ()...) }

// projectEnviron returns the variables of the project's own .env file, for programs of the project
// that the user has agreed to.
func (e *Env) projectEnviron() []string { return envList(e.dotenv.Project) }

// Getenv returns the value of a variable, "" if it is not set.
func (e *Env) Getenv(name string) string {
	v, _ := e.Lookup(name)
	return v
}

// projectVars returns the variables of the project's own .env file.
func (e *Env) projectVars() map[string]string {
	vars := map[string]string{}
	for name, v := range e.dotenv.Project {
		vars[name] = v.Value
	}
	return vars
}

// envList returns variables in the form NAME=value.
func envList(vars map[string]settings.EnvValue) []string {
	return lists.Map(slices.Sorted(maps.Keys(vars)), func(name string) string { return name + "=" + vars[name].Value })
}

// merged returns the union of a and b. For common names, b wins.
func merged(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b)
	return out
}
