// Package projecttest opens projects for tests, each in a separate home. A test calls [Process] for
// the arguments of a command line, and [Open] for a project of its options.
package projecttest

import (
	"os"
	"path/filepath"
	"testing"

	"gemline/commands/program/project"
	"gemline/settings/flags"
)

// Process returns a process with a command line and a separate home. It reads and writes nothing.
func Process(t *testing.T, args ...string) project.Process {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	env := map[string]string{"GEMINI_CLI_HOME": t.TempDir(), "GEMINI_API_KEY": "k", "GEMINI_MODEL": "gemini-2.5-pro"}
	return project.Process{Args: args, Stdin: null, Stdout: null, Stderr: null,
		Environ: func() []string { return []string{"PATH=" + os.Getenv("PATH")} },
		Lookup:  func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
}

// Options returns the options of a command line for one prompt.
func Options(t *testing.T, args ...string) *project.Options {
	t.Helper()
	p := Process(t, args...)
	line, err := flags.Parse(p.Args)
	if err != nil {
		t.Fatal(err)
	}
	return project.New(p, line, nil)
}

// Open returns the project of a directory. Warn gets the warnings.
func Open(t *testing.T, o *project.Options, dir string, warn func(string)) *project.Project {
	t.Helper()
	o, err := o.In(dir)
	if err != nil {
		t.Fatal(err)
	}
	store, err := o.Paths.Register(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	status := project.NewStatus()
	status.PrintWarning = warn
	p, err := project.Open(o, status, store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Write writes a file, and makes the directories above it.
func Write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
