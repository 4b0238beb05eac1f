package program

import (
	"encoding/json"
	"fmt"
	"io"

	"gemline/repl/output"
	"gemline/settings"
	"gemline/settings/extension"
)

// installed returns the extensions, and what is wrong with those that can't be
// used.
func (o *Options) installed() ([]extension.Extension, []string) {
	if !o.settings.Extensions {
		return nil, nil
	}
	return extension.Installed(o.extensions(o.settings))
}

// extensions says which extensions are wanted by some of the settings.
func (o *Options) extensions(by *settings.Settings) extension.Config {
	return extension.Config{Dir: o.paths.User("extensions"), Cwd: o.paths.Cwd, Only: o.flags.Extensions, Disabled: by.DisabledExtensions}
}

// listExtensions prints which extensions there are.
func (r *run) listExtensions(w io.Writer, asJSON bool) error {
	list, warnings := r.installed()
	for _, w := range warnings {
		if !r.flags.Quiet {
			fmt.Fprintln(r.os.Stderr, "warning: "+output.EscapeLine(w))
		}
	}
	if asJSON {
		type shown struct {
			Name    string `json:"name"`
			Version string `json:"version"`
			Path    string `json:"path"`
			Active  bool   `json:"active"`
		}
		all := make([]shown, len(list))
		for i, x := range list {
			all[i] = shown{x.Name, x.Version, x.Dir, x.Active}
		}
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			SchemaVersion int     `json:"schema_version"`
			Extensions    []shown `json:"extensions"`
		}{1, all})
	}
	text := "No extensions installed.\n"
	if len(list) > 0 {
		text = "Installed extensions:\n"
	}
	for _, x := range list {
		text += "- " + x.Name + map[bool]string{true: "", false: " (switched off)"}[x.Active] + "\n" // a name has letters, digits and hyphens
	}
	_, err := io.WriteString(w, text)
	return err
}
