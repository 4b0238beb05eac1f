package front

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"gemline/commands/cli"
	"gemline/commands/program/project"
	"gemline/engine/journal"
	"gemline/engine/lists"
	"gemline/repl/output"
	"gemline/settings/extension"
	"gemline/settings/flags"
)

// WantsInfo reports whether the command line asks only for output of PrintInfo.
func WantsInfo(f *flags.Set) bool {
	return f.Version || f.Help || f.ListSessions || f.ListExtensions
}

// PrintInfo prints output that needs no run: the version, the help, the sessions or the extensions.
func PrintInfo(o *project.Options) error {
	switch {
	case o.Flags.Version:
		return cli.ReadBuild(o.Env.Process.Version, o.Env.Process.Commit, o.Env.Process.Date).Print(o.Env.Process.Stdout, o.Flags.Format() == "json")
	case o.Flags.Help:
		return flags.Help(o.Env.Process.Stdout, cli.Commands())
	}
	asJSON := o.Settings.Format == "json" || o.Settings.Format == "stream-json"
	var list bytes.Buffer
	var err error
	if o.Flags.ListExtensions {
		err = listExtensions(o, &list, asJSON)
	} else {
		err = listSessions(o, &list, asJSON)
	}
	if err != nil {
		return err
	}
	_, err = o.Env.Process.Stdout.Write(output.JSON(list.Bytes())) // it includes texts from the extensions' files
	return err
}

// warn prints warnings, unless the user switched them off.
func warn(o *project.Options, warnings []string) {
	for _, w := range warnings {
		if !o.Flags.Quiet {
			fmt.Fprintln(o.Env.Process.Stderr, "warning: "+output.EscapeLine(w))
		}
	}
}

// listSessions prints the sessions.
func listSessions(o *project.Options, w io.Writer, asJSON bool) error {
	store, _ := o.Paths.Register(context.Background())
	warn(o, journal.Damaged(store.Chats()))
	list, err := journal.List(store.Chats())
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(w, cli.Entries(list))
	}
	lines, now := "No previous sessions found for this project.", time.Now()
	if len(list) > 0 {
		lines = fmt.Sprintf("\nAvailable sessions for this project (%d):\n", len(list))
	}
	for i, s := range list {
		lines += "  " + s.Line(i+1, "", now) + "\n"
	}
	_, err = io.WriteString(w, lines)
	return err
}

// printJSON writes one indented document.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// listExtensions prints the extensions.
func listExtensions(o *project.Options, w io.Writer, asJSON bool) error {
	list, warnings := o.InstalledExtensions()
	warn(o, warnings)
	if asJSON {
		type shown struct {
			Name    string `json:"name"`
			Version string `json:"version"`
			Path    string `json:"path"`
			Active  bool   `json:"active"`
		}
		all := lists.Map(list, func(x extension.Extension) shown { return shown{x.Name, x.Version, x.Dir, x.Active} })
		return printJSON(w, struct {
			SchemaVersion int     `json:"schema_version"`
			Extensions    []shown `json:"extensions"`
		}{cli.SchemaVersion, all})
	}
	text := "No extensions installed.\n"
	if len(list) > 0 {
		text = "Installed extensions:\n"
	}
	for _, x := range list {
		text += "- " + x.Name + map[bool]string{true: "", false: " (switched off)"}[x.Active] +
			"\n" // a name consists of letters, digits and hyphens
	}
	_, err := io.WriteString(w, text)
	return err
}
