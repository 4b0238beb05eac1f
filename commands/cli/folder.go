package cli

import (
	"fmt"
	"runtime"
	"time"

	"gemline/engine/auth"
	"gemline/settings"
	"gemline/settings/flags"
	"gemline/settings/project"
	"gemline/settings/trust"
)

// A Folder is a working directory with its settings.
type Folder struct {
	Paths  project.Paths
	Lookup func(string) (string, bool) // the environment, then the .env files
	DotEnv settings.DotEnv             // the part of Lookup from .env files
	Flags  *flags.Set                  // the flags before the sub-command, or of the session

	// Today is the day by which prices change and models end.
	Today time.Time

	// Trusted reports whether the directory's own files are used.
	Trusted bool

	// Withheld reports whether the folder may have MCP servers that are unused for lack of trust.
	Withheld bool

	// Unused lists settings without an effect yet.
	Unused func() []settings.Unused
}

func (here *Folder) getenv(name string) string {
	v, _ := here.Lookup(name)
	return v
}

func (here *Folder) keys() *auth.Store { return auth.NewStore(here.Paths.User(), here.getenv) }

// choose returns the credential for the next request.
func (here *Folder) choose(out *Output) (auth.Credentials, error) {
	s, err := here.settings()
	if err != nil {
		return auth.Credentials{}, err
	}
	return here.Credential(s, out.Notify)
}

// Credential returns the credential for the next request by the settings s.
func (here *Folder) Credential(s *settings.Settings, notify func(string)) (auth.Credentials, error) {
	key, warning, err := auth.ReadKey(here.Flags.KeyFile)
	if err != nil {
		return auth.Credentials{Method: auth.APIKey, From: "--key-file"}, err
	}
	if warning != "" {
		notify(warning)
	}
	at := ""
	for _, said := range s.Values("security.auth.selectedType") {
		at = fmt.Sprintf("security.auth.selectedType in %s:%d", said.File, said.Line)
	}
	return auth.Choose(auth.Config{Selected: s.AuthType, SelectedAt: at, Enforced: s.EnforcedAuth, External: s.ExternalAuth,
		Key: auth.Setting{Value: key, From: "--key-file"}, KeyStored: func() bool { return here.keys().MayHaveKey(auth.Credentials{}) }, Getenv: here.getenv, DotEnv: here.DotEnv.Values(), GOOS: runtime.GOOS, Request: s.VertexShare, Shared: s.VertexUrge})
}

func (here *Folder) userFile() settings.Source {
	return settings.Source{Scope: settings.User, Path: here.Paths.User("settings.json")}
}

// environment returns a variable of the process alone. Settings files expand variables from it,
// before any .env file is read.
func (here *Folder) environment(name string) (string, bool) {
	if _, ok := here.DotEnv.Lookup(name); ok {
		return "", false
	}
	return here.Lookup(name)
}

// settings returns the settings. config validate reports their warnings.
func (here *Folder) settings() (*settings.Settings, error) {
	s, _, err := settings.Load(settings.Sources(here.Paths, here.environment, here.Trusted), here.environment)
	return s, err
}

// trust returns the trust status of a folder. It ignores the folder's own settings.
func (here *Folder) trust(folder string) (trust.Status, error) {
	paths := project.Paths{Home: here.Paths.Home, Cwd: folder}
	s, _, err := settings.Load(settings.Sources(paths, here.Lookup, false), here.Lookup)
	if err != nil {
		return trust.Status{}, err
	}
	t, err := trust.Decide(paths, s, here.Flags, here.Lookup)
	if err == nil && t.State == trust.Trusted {
		t.Contents = trust.Scan(paths, s)
	}
	return t, err
}
