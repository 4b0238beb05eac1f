package project

import (
	"context"
	"slices"

	"gemline/commands/cli"
	"gemline/engine/auth"
	"gemline/settings"
	"gemline/settings/extension"
	"gemline/settings/trust"
)

// InstalledExtensions returns the extensions, and the problems of unusable ones. Both are nil if the
// settings switch extensions off.
func (o *Options) InstalledExtensions() ([]extension.Extension, []string) {
	if !o.Settings.Extensions {
		return nil, nil
	}
	return extension.Installed(extensionConfig(o, o.Settings))
}

// ActiveExtensions returns the extensions that are switched on. The commands that list extensions
// print the problems of others.
func (o *Options) ActiveExtensions() []extension.Extension {
	list, _ := o.InstalledExtensions()
	return slices.DeleteFunc(list, func(x extension.Extension) bool { return !x.Active })
}

// extensionConfig returns the configuration of extensions by the given settings.
func extensionConfig(o *Options, by *settings.Settings) extension.Config {
	return extension.Config{Dir: o.Paths.User("extensions"), Cwd: o.Paths.Cwd,
		Only: o.Flags.Extensions, Disabled: by.DisabledExtensions}
}

// extensionValues returns the values of an extension's settings, by variable. Secret values
// are redacted from then on.
func extensionValues(o *Options, x extension.Extension) map[string]string {
	if len(x.Settings) == 0 {
		return nil
	}
	if known, ok := o.extensionValues.Load(x.Home); ok { // reading the keyring is slow
		return known.(map[string]string)
	}
	cwd := ""
	if o.Trust.State == trust.Trusted {
		cwd = o.Paths.Cwd
	}
	vault := auth.NewVault(o.Paths.User(), o.Env.Getenv)
	values := cli.ExtensionValues(context.Background(), &vault, x, cwd)
	for _, s := range x.Settings {
		if s.Sensitive && values[s.EnvVar] != "" {
			o.Secrets.Add(s.EnvVar, values[s.EnvVar])
		}
	}
	o.extensionValues.Store(x.Home, values)
	return values
}
