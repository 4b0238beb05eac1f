package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/auth"
	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings/extension"
)

// vault returns the store of secrets.
func (set *extensionSet) vault() *auth.Vault {
	v := auth.NewVault(set.here.Paths.User(), set.here.getenv)
	return &v
}

type extensionsConfig struct {
	Scope   string `placeholder:"WHERE" enum:"user,workspace" default:"user" help:"user: everywhere; workspace: in this folder."`
	Name    string `arg:"" optional:"" complete:"extension" help:"The extension's name; all if none is named."`
	Setting string `arg:"" optional:"" help:"The setting's name, or its variable."`
}

// Run asks for values.
func (c *extensionsConfig) Run(ctx context.Context, set *extensionSet) error {
	list, err := set.named(c.Name)
	if err != nil {
		return err
	}
	if c.Scope == "workspace" && !set.here.Trusted {
		return errors.New("this folder is not trusted, so its settings of extensions are not used; gemline trust add trusts it")
	}
	var said []string
	for _, x := range list {
		if len(x.Settings) == 0 {
			said = append(said, fmt.Sprintf("Extension %q has no settings to configure.", x.Name))
		}
		found := false
		for _, s := range x.Settings {
			if c.Setting != "" && !strings.EqualFold(s.Name, c.Setting) && s.EnvVar != c.Setting {
				continue
			}
			found = true
			done, err := set.askSetting(ctx, x, s, c.Scope)
			if err != nil {
				return err
			}
			if done {
				said = append(said, fmt.Sprintf("Setting %q updated.", s.Name))
			}
		}
		if c.Setting != "" && !found {
			return misused("Setting %.60q not found in extension %q.", c.Setting, x.Name)
		}
	}
	return set.out.show(map[string]any{"done": said}, said...)
}

// askSettings asks for the missing settings of an extension, until the user stops answering. It
// deletes values that only the old version had.
func (set *extensionSet) askSettings(ctx context.Context, x extension.Extension, old *extension.Extension) error {
	missing := set.unset(ctx, x)
	for _, s := range x.Settings {
		if slices.Contains(missing, s.Name) {
			if _, err := set.askSetting(ctx, x, s, "user"); errors.Is(err, errNoAnswer) {
				break // the end lists the missing values
			} else if err != nil {
				return err
			}
		}
	}
	if old == nil {
		return nil
	}
	for _, s := range old.Settings {
		if !slices.ContainsFunc(x.Settings, func(o extension.Setting) bool { return o.EnvVar == s.EnvVar && o.Sensitive == s.Sensitive }) {
			if err := set.keep(ctx, x, s, "user", ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// askSetting asks for a value. Without a user or an answer, the value stays.
func (set *extensionSet) askSetting(ctx context.Context, x extension.Extension, s extension.Setting,
	scope string) (bool, error) {
	about := text.PrintableLine(s.Name)
	if s.Description != "" {
		about += ": " + text.OneLine(s.Description, 300)
	}
	if !slices.Contains(set.unset(ctx, x), s.Name) {
		about += " (Enter keeps the value)"
	}
	var value string
	var err error
	switch {
	case s.Sensitive && set.ask.Secret != nil:
		value, err = set.ask.Secret(ctx, "Enter "+about+", a password that is not shown: ") // Emacs recognizes a password prompt by these words
	case set.ask.Line != nil:
		value, err = set.ask.Line(ctx, about+": ")
	case set.ask.In != nil && set.ask.Err != nil:
		if value, err = set.ask.ask(about + ": "); errors.Is(err, io.EOF) {
			fmt.Fprintln(set.ask.Err)
			return false, errNoAnswer
		}
	}
	value = strings.TrimSpace(value)
	if errors.Is(err, io.EOF) || err == nil && value == "" {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, set.keep(ctx, x, s, scope, value)
}

// errNoAnswer says that the input ended before an answer.
var errNoAnswer = errors.New("nobody has answered; the other settings stay as they were")

// keep stores the value of a setting, or deletes it if the value is "".
func (set *extensionSet) keep(ctx context.Context, x extension.Extension, s extension.Setting, scope, value string) error {
	file, cwd := x.EnvFile(), ""
	if scope == "workspace" {
		file, cwd = filepath.Join(set.here.Paths.Cwd, ".env"), set.here.Paths.Cwd
	}
	if !s.Sensitive {
		if cwd == "" { // the file may be from the package
			disk.Restrict(file)
		}
		return extension.SetValue(file, s.EnvVar, value)
	}
	if value == "" {
		_, err := set.vault().Delete(ctx, x.Service(cwd), s.EnvVar)
		return err
	}
	if note := x.Install; cwd != "" && !slices.Contains(note.Folders, cwd) { // the note is needed to find the value again
		note.Folders = append(slices.Clone(note.Folders), cwd)
		if err := extension.WriteInstall(x.Home, note); err != nil {
			return err
		}
	}
	_, err := set.vault().Set(ctx, x.Service(cwd), s.EnvVar, value, false)
	return err
}

// carrySecrets moves the secrets of an extension to its new identity, after its address has
// changed.
func (set *extensionSet) carrySecrets(ctx context.Context, from, to extension.Extension) error {
	if from.Service("") == to.Service("") {
		return nil
	}
	vault, folders := set.vault(), append([]string{""}, from.Install.Folders...)
	for _, folder := range folders {
		for _, s := range to.Settings {
			value, _, err := vault.Get(ctx, from.Service(folder), s.EnvVar, func(v string) bool { return v != "" })
			if err == nil && s.Sensitive && value != "" {
				_, err = vault.Set(ctx, to.Service(folder), s.EnvVar, value, false)
			}
			if err != nil {
				return err
			}
		}
	}
	return set.forgetSecrets(ctx, from, folders)
}

// forgetSecrets deletes the secrets of an extension: for all folders (""), and for single folders.
// If a keyring does not answer, it warns that secrets may remain there.
func (set *extensionSet) forgetSecrets(ctx context.Context, x extension.Extension, folders []string) error {
	vault, all := set.vault(), true
	for _, folder := range folders {
		answered, err := vault.Clear(ctx, x.Service(folder))
		if err != nil {
			return err
		}
		all = all && answered
	}
	if !all {
		set.out.Notify(fmt.Sprintf("the keyring does not answer, so that secrets of %s may still be in it, as %q",
			x.Name, x.Service("")))
	}
	return nil
}

// unset returns the names of settings without a value.
func (set *extensionSet) unset(ctx context.Context, x extension.Extension) (names []string) {
	if len(x.Settings) == 0 {
		return nil
	}
	cwd := ""
	if set.here.Trusted {
		cwd = set.here.Paths.Cwd
	}
	values := ExtensionValues(ctx, set.vault(), x, cwd)
	missing := lists.Filter(x.Settings, func(s extension.Setting) bool { return values[s.EnvVar] == "" })
	return lists.Map(missing, func(s extension.Setting) string { return s.Name })
}

// ExtensionValues returns the values of an extension's settings, by variable. A value for the
// directory, if one is given, overrides the value for all directories.
func ExtensionValues(ctx context.Context, vault *auth.Vault, x extension.Extension, cwd string) map[string]string {
	values, _ := extension.Values(x.EnvFile())
	here := map[string]string{}
	if cwd != "" {
		here, _ = extension.Values(filepath.Join(cwd, ".env"))
	}
	found := map[string]string{}
	for _, s := range x.Settings {
		value := cmp.Or(here[s.EnvVar], values[s.EnvVar])
		if s.Sensitive {
			value = ""
			for _, dir := range slices.Compact([]string{cwd, ""}) {
				if value == "" {
					value, _, _ = vault.Get(ctx, x.Service(dir), s.EnvVar, func(v string) bool { return v != "" })
				}
			}
		}
		if value != "" {
			found[s.EnvVar] = value
		}
	}
	return found
}
