package program

import (
	"context"
	"slices"

	"gemline/commands/cli"
	"gemline/engine/auth"
	"gemline/settings"
	"gemline/settings/extension"
	"gemline/settings/trust"
)

// installed returns the extensions, and what is wrong with those that can't be
// used.
func (o *Options) installed() ([]extension.Extension, []string) {
	if !o.settings.Extensions {
		return nil, nil
	}
	return extension.Installed(o.extensions(o.settings))
}

// active returns the extensions that are switched on. What is wrong with others is told
// where they are listed.
func (o *Options) active() []extension.Extension {
	list, _ := o.installed()
	return slices.DeleteFunc(list, func(x extension.Extension) bool { return !x.Active })
}

// extensions says which extensions are wanted by some of the settings.
func (o *Options) extensions(by *settings.Settings) extension.Config {
	return extension.Config{Dir: o.paths.User("extensions"), Cwd: o.paths.Cwd,
		Only: o.flags.Extensions, Disabled: by.DisabledExtensions}
}

// values returns the values of an extension's settings, by variable. What is secret of them
// is known as such from then on.
func (o *Options) values(x extension.Extension) map[string]string {
	if len(x.Settings) == 0 {
		return nil
	}
	if known, ok := o.kept.Load(x.Home); ok { // to ask the keyring takes its time
		return known.(map[string]string)
	}
	cwd := ""
	if o.trust.State == trust.Trusted {
		cwd = o.paths.Cwd
	}
	vault := auth.NewVault(o.paths.User(), o.getenv)
	values := cli.ExtensionValues(context.Background(), &vault, x, cwd)
	for _, s := range x.Settings {
		if s.Sensitive && values[s.EnvVar] != "" {
			o.secrets.Know(s.EnvVar, values[s.EnvVar])
		}
	}
	o.kept.Store(x.Home, values)
	return values
}

// excluded are the tools that the extensions keep from running.
func (o *Options) excluded(add func(from string, tools []string)) {
	for _, x := range o.active() {
		if len(x.ExcludeTools) > 0 {
			add(x.Manifest(), x.ExcludeTools)
		}
	}
}
