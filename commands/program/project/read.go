package project

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/project"
	"gemline/settings/trust"
	"gemline/tools/shell"
)

// ReadHere reads the options for the working directory.
func (o *Options) ReadHere(subcommand bool) error {
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("the working directory can't be used: %w; go to another one", err)
	}
	return o.Read(here, subcommand)
}

// In returns the options for another directory, with the same command line and environment. It asks
// no user whether the directory is trusted.
func (o *Options) In(dir string) (*Options, error) {
	in := o.Copy(false)
	return in, in.Move(dir)
}

// Read reads the options for a directory. The environment overrides the settings files, and the
// command line the environment. A sub-command needs no trust, and may repair broken files.
func (o *Options) Read(dir string, subcommand bool) error {
	home, _ := os.UserHomeDir() // without a home, nothing is stored
	o.Paths = project.New(home, o.Env.Process.Getenv("GEMINI_CLI_HOME"), dir)
	o.extensionValues, o.consents = &sync.Map{}, newConsents(o)
	err := o.load(false)
	if err != nil && !subcommand || o.Flags.ListSessions || o.Flags.ListExtensions {
		return err
	}
	o.LoadError = err
	o.Trust, err = trust.Decide(o.Paths, o.Settings, o.Flags, o.Env.Lookup)
	switch {
	case subcommand:
		if err == nil && o.Trust.State == trust.Trusted {
			o.LoadError = o.load(true) // the sub-command prints the problems of a file
		}
		return nil
	case err != nil:
		return err
	case o.Trust.State == trust.Trusted:
		err = o.load(true)
		if o.Flags.Trust {
			if err := trust.Folders(o.Paths, o.Env.Lookup).Keep(context.Background(), o.Trust.Folder); err != nil {
				o.Warnings = append(o.Warnings, notSaved(err))
			}
		}
		return err
	case o.User.AsksForTrust():
		return nil // a question follows
	case o.Flags.ACP:
		return nil // the folder's configuration is not used
	}
	return o.Trust.Refuse()
}

// load reads the settings files; those of the project only if it is trusted.
func (o *Options) load(project bool) (err error) {
	o.Settings, o.Warnings, err = settings.Load(settings.Sources(o.Paths, o.Env.Process.Lookup, project), o.Env.Process.Lookup)
	vars, warnings := o.Settings.DotEnv(o.Paths, project, o.Env.Process.Lookup)
	o.Env.dotenv = vars
	// Secrets that commands do not get must not be stored, printed or sent either. Credentials for
	// requests are registered where they are found.
	for name, value := range shell.Secrets(append(o.Env.Environ(), o.Env.projectEnviron()...), shellSettings(o)) {
		o.Secrets.Add(name, value)
	}
	o.Warnings = append(o.Warnings, warnings...)
	if !project {
		o.userSettings = o.Settings
		learnSettings(o)
	}
	for _, name := range []string{"DEBUG", "DEBUG_MODE"} { // the Gemini CLI reads both
		o.Flags.Debug = o.Flags.Debug || slices.Contains([]string{"true", "1"}, o.Env.Getenv(name))
	}
	if project {
		for _, path := range projectPlaces(o) {
			if why := settings.LinksOutside(path, o.Paths.Cwd); why != "" {
				o.Warnings = append(o.Warnings, text.PrintableLine(path+" is passed over: "+why))
			}
		}
	}
	return cmp.Or(err, o.Settings.Override(o.Flags, o.Env.Lookup), o.Settings.StrictError())
}

// projectPlaces returns the paths in a project that are read beside its settings and .env.
func projectPlaces(o *Options) (list []string) {
	for _, name := range []string{"skills", "agents", "commands", "policies", "system.md"} {
		list = append(list, o.Paths.Workspace(name))
	}
	return append(list, filepath.Join(o.Paths.Cwd, ".agents", "skills"), filepath.Join(o.Paths.Cwd, ".mcp.json"))
}

// Copy returns a copy of the options, for a session at a terminal or without one. Its agents have
// separate switches.
func (o *Options) Copy(interactive bool) *Options {
	in := *o
	in.User.Interactive, in.found.agents = interactive, nil
	return &in
}

// Move changes to another directory.
func (o *Options) Move(dir string) error {
	o.Warnings, o.Env.dotenv, o.found.hooks, o.found.discovery, o.found.servers = nil, settings.DotEnv{}, nil, nil, nil
	return o.Read(dir, false)
}
