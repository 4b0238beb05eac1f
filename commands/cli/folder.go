package cli

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"gemline/engine/auth"
	"gemline/settings"
	"gemline/settings/flags"
	"gemline/settings/project"
	"gemline/settings/trust"
)

// A Folder is a working directory, with what is set for it.
type Folder struct {
	Paths  project.Paths
	Lookup func(string) (string, bool) // the environment, and below it the .env file
	DotEnv settings.DotEnv             // what Lookup has from .env files
	Flags  *flags.Set                  // what stood in front of the sub-command, or began the session

	// Today is the day by which prices change and models end.
	Today time.Time

	// Trusted reports whether the directory's own files are used.
	Trusted bool

	// Withheld reports whether it has files that are not, since it is not trusted.
	Withheld bool

	// Unused lists what is set up and not in use yet.
	Unused func() []settings.Unused
}

func (f *Folder) getenv(name string) string {
	v, _ := f.Lookup(name)
	return v
}

func (f *Folder) keys() *auth.Store { return auth.NewStore(f.Paths.User(), f.getenv) }

// choose returns how the next request would be paid for.
func (here *Folder) choose(out *Output) (auth.Choice, error) {
	s, err := here.settings()
	if err != nil {
		return auth.Choice{}, err
	}
	return here.Credential(s, out.Notify)
}

// Credential returns how the next request is paid for, by settings s.
func (f *Folder) Credential(s *settings.Settings, notify func(string)) (auth.Choice, error) {
	key, warning, err := auth.ReadKey(f.Flags.KeyFile)
	if err != nil {
		return auth.Choice{Method: auth.APIKey, From: "--key-file"}, err
	}
	if warning != "" {
		notify(warning)
	}
	at := ""
	for _, said := range s.Said("security.auth.selectedType") {
		at = fmt.Sprintf("security.auth.selectedType in %s:%d", said.File, said.Line)
	}
	return auth.Choose(auth.Config{Selected: s.AuthType, SelectedAt: at, Enforced: s.EnforcedAuth, External: s.ExternalAuth,
		Key: key, KeyFrom: "--key-file", KeyStored: func() bool { return f.keys().May(auth.Choice{}) }, Getenv: f.getenv, DotEnv: f.DotEnv.Values(), GOOS: runtime.GOOS, Request: s.VertexShare, Shared: s.VertexUrge})
}

// definedIn returns the strongest file that sets a key.
func (f *Folder) definedIn(key string) string {
	for _, layer := range slices.Backward(settings.Read(settings.Sources(f.Paths, f.Lookup, f.Trusted), f.Lookup)) {
		var v any = settings.Merge([]settings.Layer{layer})
		for name := range strings.SplitSeq(key, ".") {
			tree, _ := v.(map[string]any)
			v = tree[name]
		}
		if v != nil {
			return layer.Path
		}
	}
	return ""
}

func (f *Folder) userFile() settings.Source {
	return settings.Source{Scope: settings.User, Path: f.Paths.User("settings.json")}
}

// environment returns a variable of the environment alone. Files of settings
// are filled in from it before any .env file is read.
func (f *Folder) environment(name string) (string, bool) {
	if _, ok := f.DotEnv.Lookup(name); ok {
		return "", false
	}
	return f.Lookup(name)
}

// settings returns what the files say. What is odd in them config validate tells.
func (f *Folder) settings() (*settings.Settings, error) {
	s, _, err := settings.Load(settings.Sources(f.Paths, f.environment, f.Trusted), f.environment)
	return s, err
}

// trust finds out about a folder, by the settings of everything but it.
func (f *Folder) trust(folder string) (trust.Status, error) {
	paths := project.Paths{Home: f.Paths.Home, Cwd: folder}
	s, _, err := settings.Load(settings.Sources(paths, f.Lookup, false), f.Lookup)
	if err != nil {
		return trust.Status{}, err
	}
	t, err := trust.Decide(paths, s, f.Flags, f.Lookup)
	if err == nil && t.State == trust.Trusted {
		t.Brings = trust.Survey(paths, s)
	}
	return t, err
}
