package program

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"gemline/engine/policy"
	"gemline/repl/output"
	"gemline/settings"
	"gemline/settings/extension"
)

// installed returns the extensions, and what is wrong with those that can't be
// used.
func (s *session) installed() ([]extension.Extension, []string) { return s.installedBy(s.settings) }

// installedBy is installed by some of the settings.
func (s *session) installedBy(by *settings.Settings) ([]extension.Extension, []string) {
	if !by.Extensions {
		return nil, nil
	}
	return extension.Installed(extension.Config{Dir: s.paths.User("extensions"), Cwd: s.paths.Cwd,
		Only: s.flags.Extensions, Disabled: by.DisabledExtensions})
}

// extensionRules returns where the rules of extensions are. They can only
// narrow, so a project that switches an extension off keeps its rules.
func (s *session) extensionRules() (list []policy.Source) {
	all, _ := s.installedBy(s.own) // what is wrong with one is told where it is used
	for _, x := range all {
		if x.Active {
			list = append(list, policy.Source{Path: filepath.Join(x.Dir, "policies"), Tier: policy.Extension})
		}
	}
	return list
}

// listExtensions prints which extensions there are.
func (s *session) listExtensions(w io.Writer, asJSON bool) error {
	list, warnings := s.installed()
	for _, w := range warnings {
		if !s.flags.Quiet {
			fmt.Fprintln(s.os.Stderr, "warning: "+output.EscapeLine(w))
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
