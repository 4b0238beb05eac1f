package command

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/files"
)

const runShellCommandSchema = `{"type":"object","properties":{
"command":{"type":"string"},
"description":{"type":"string","description":"What it is for, in a few words"},
"dir_path":{"type":"string","description":"Where to run it; the working directory if absent"},
"is_background":{"type":"boolean"},
"delay_ms":{"type":"integer","minimum":0,"description":"How long to watch a background command start; 200 if absent"}%s},
"required":["command"]}`

// confinedDoc tells the model about the confinement of commands. moreSchema is the schema of
// requests for more rights.
const (
	confinedDoc = "Commands are confined: they can write to the workspace and to temporary files, and reach no network. If one needs more, ask for just that with additional_permissions; the user decides."

	moreSchema = `,
"additional_permissions":{"type":"object","description":"Rights that this command can't do without; the user is asked","properties":{
"network":{"type":"boolean"},
"fileSystem":{"type":"object","properties":{
"read":{"type":"array","items":{"type":"string"}},
"write":{"type":"array","items":{"type":"string"}},
"protected":{"type":"boolean","description":"Write to .git and .gemini in the workspace, too"}}}}}`
)

type runShellCommandArgs struct {
	Command     string `json:"command"`
	Description string `json:"description"`
	Dir         string `json:"dir_path"`
	Background  bool   `json:"is_background"`
	Delay       *int64 `json:"delay_ms"`
	More        more   `json:"additional_permissions"`
	ReadOnly    bool   `json:"read_only"` // set by the user only: the schema omits it
}

// dir returns the working directory of the command.
func (a runShellCommandArgs) dir(env Tools) (string, error) {
	if a.Dir == "" {
		return env.Workspace.Roots()[0], nil
	}
	return files.SearchDir(env.Workspace, a.Dir)
}

// more are the rights that a call requests, in the model's arguments.
type more struct {
	Network bool `json:"network"`
	Files   struct {
		Read  []string `json:"read"`
		Write []string `json:"write"`

		Protected bool `json:"protected"` // protected files in the workspace
	} `json:"fileSystem"`
}

// args returns m as a value of the arguments, nil if m is empty.
func (m more) args() map[string]any {
	args, files := map[string]any{}, map[string]any{}
	if m.Network {
		args["network"] = true
	}
	for name, list := range map[string][]string{"read": m.Files.Read, "write": m.Files.Write} {
		if len(list) > 0 {
			paths := make([]any, len(list))
			for i, p := range list {
				paths[i] = p
			}
			files[name] = paths
		}
	}
	if m.Files.Protected {
		files["protected"] = true
	}
	if len(files) > 0 {
		args["fileSystem"] = files
	}
	if len(args) == 0 {
		return nil
	}
	return args
}

// with returns m extended by the rights in r.
func (m more) with(r engine.Rights) more {
	m.Network = m.Network || r.Network
	m.Files.Read = append(slices.Clone(m.Files.Read), r.Read...)
	m.Files.Write = append(slices.Clone(m.Files.Write), r.Write...)
	m.Files.Protected = m.Files.Protected || r.Protected
	return m
}

// rights returns m as rights.
func (m more) rights() engine.Rights {
	return engine.Rights{Network: m.Network, Read: m.Files.Read, Write: m.Files.Write, Protected: m.Files.Protected}
}

// args returns the arguments as a map.
func (a runShellCommandArgs) args() map[string]any {
	args := map[string]any{"command": a.Command}
	if a.Description != "" {
		args["description"] = a.Description
	}
	if a.Dir != "" {
		args["dir_path"] = a.Dir
	}
	if a.Background {
		args["is_background"] = true
	}
	if a.Delay != nil {
		args["delay_ms"] = float64(*a.Delay)
	}
	if a.ReadOnly {
		args["read_only"] = true
	}
	if m := a.More.args(); m != nil {
		args["additional_permissions"] = m
	}
	return args
}

// changed returns the arguments of a call that runs text instead.
func (a runShellCommandArgs) changed(text string) map[string]any {
	args := a.args()
	delete(args, "description") // it described the old text
	args["command"], args["modified_by_user"] = strings.TrimRight(text, "\r\n"), true
	return args
}

// commandTitle returns the first line of a command, with the number of lines if there are
// several. Joined by blanks, the lines would read as another command.
func commandTitle(command string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(command), "\n")
	blank := func(r rune) bool { return r == ' ' || r == '\t' }
	title, more := text.First(strings.Join(strings.FieldsFunc(first, blank), " "), 120) // two lines
	if more {
		title += "..."
	}
	if rest != "" {
		title += fmt.Sprintf(" ... (%d lines)", strings.Count(rest, "\n")+2)
	}
	return title
}

// delay returns the duration of a wait for which the model requests ms milliseconds.
func delay(ms int64) time.Duration {
	const longest = 10 * time.Minute
	return time.Duration(min(max(ms, 0), longest.Milliseconds())) * time.Millisecond
}
