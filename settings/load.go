package settings

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/settings/project"
)

// A Scope says to whom a value applies, and so its strength.
type Scope string

// The scopes, the weakest first.
const (
	BuiltIn        Scope = "default"
	SystemDefaults Scope = "system-defaults"
	User           Scope = "user"
	Workspace      Scope = "workspace"
	System         Scope = "system"
	Environment    Scope = "environment"
	CommandLine    Scope = "flag"
)

// A Source is a file of settings. It need not exist.
type Source struct {
	Scope Scope
	Path  string

	// Guarded files apply to every user of the machine. They count only if nobody but the
	// administrator can have written them.
	Guarded bool

	// Own, if not nil, looks up variables in the file's MCP servers that the environment does not
	// set.
	Own func(string) (string, bool)
}

// Sources returns the settings files, the weakest first: the machine's defaults, the user's file,
// the project's file if workspace is set, and the machine's overrides.
func Sources(p project.Paths, lookup func(string) (string, bool), workspace bool) []Source {
	named := func(variable, otherwise string) string {
		if path, _ := lookup(variable); path != "" {
			return disk.Absolute(path, p.Cwd, p.Home)
		}
		return otherwise
	}
	system := named("GEMINI_CLI_SYSTEM_SETTINGS_PATH", systemSettings(lookup))
	defaults := named("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", filepath.Join(filepath.Dir(system), "system-defaults.json"))
	list := []Source{{Scope: SystemDefaults, Path: defaults, Guarded: true},
		{Scope: User, Path: p.User("settings.json"), Own: ownVariables(p)}}
	if workspace && !p.AtHome() {
		list = append(list, Source{Scope: Workspace, Path: p.Workspace("settings.json")})
	}
	return append(list, Source{Scope: System, Path: system, Guarded: true})
}

// LinksOutside returns a message that names the target of links in path, if the target is outside
// of dir, otherwise "". The user who trusted the directory has not seen the target.
func LinksOutside(path, dir string) string {
	real := disk.ResolveLinks(path)
	if disk.Inside(disk.ResolveLinks(dir), real) {
		return ""
	}
	return "it leads out of the folder, to " + real
}

// SystemPolicies returns the directory of rules that apply to every user of the machine. They count
// only if nobody but the administrator can have written them; see [disk.WorldWritable].
func SystemPolicies(lookup func(string) (string, bool)) string {
	return filepath.Join(filepath.Dir(systemSettings(lookup)), "policies")
}

func systemSettings(lookup func(string) (string, bool)) string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/GeminiCli/settings.json"
	case "windows":
		data, _ := lookup("ProgramData")
		data = cmp.Or(data, `C:\ProgramData`)
		return filepath.Join(data, "gemini-cli", "settings.json")
	}
	return "/etc/gemini-cli/settings.json"
}

// Load reads the files, the weakest first; [Settings.Layers] has the content of each file,
// and [Settings.Explain] the origins of each value. A problem of a key is a warning, and the key
// counts as not set. A file that can't be read or parsed is a [jsonc.Error]; the Settings then come
// from the other files.
//
// Lookup supplies the variables in values. The files are never written.
func Load(sources []Source, lookup func(string) (string, bool)) (s *Settings, warnings []string, err error) {
	layers := readLayers(sources, lookup)
	for _, l := range layers {
		if l.Err != nil && err == nil {
			err = l.Err
		}
		warnings = append(warnings, l.warnings()...)
	}
	s = Default()
	s.take(mergeAll(layers))
	s.layers = layers
	s.Retention = s.Retention && s.Misread("general.sessionRetention") == ""
	return s, append(warnings, s.Mistakes()...), err
}

// maxWarnings is how many warnings one file may give.
const maxWarnings = 5

// warnings returns the problems of a file that is used nevertheless.
func (l *Layer) warnings() []string {
	var out []string
	path := text.PrintableLine(l.Path)
	if l.PassedOver != "" {
		out = append(out, fmt.Sprintf("%s is passed over: %s", path, text.PrintableLine(l.PassedOver)))
	}
	told := slices.DeleteFunc(slices.Clone(l.Problems), func(p Problem) bool { // by the reader of servers or hooks
		return p.unset && slices.Contains(p.path, "mcpServers") || p.fatal
	})
	for i, p := range told {
		if i == maxWarnings {
			return append(out, fmt.Sprintf("%s: and %d more like this", path, len(told)-i))
		}
		at := path
		if line := l.Line(p); line > 0 {
			at += ":" + strconv.Itoa(line)
		}
		out = append(out, at+": "+p.Advised())
	}
	return out
}

// take sets the fields from a merged tree.
func (s *Settings) take(merged map[string]any) {
	s.Merged = merged
	for _, k := range table {
		if k.field == nil {
			continue
		}
		if v, ok := at(merged, strings.Split(k.Name, ".")); ok {
			k.set(s, k.combine(k.fallback, v))
		}
	}
}
