package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/commands/custom"
	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/policy"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/extension"
	"gemline/tools/agent"
	"gemline/tools/skill"
	"gemline/tools/source"
)

type extensionsValidate struct {
	Path string `arg:"" complete:"dirs" help:"The extension's folder."`
}

var semver = text.Pattern(`^v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$`)

// Run checks an extension.
func (c *extensionsValidate) Run(set *extensionSet) error {
	path := set.here.Paths.Folder(c.Path)
	if err := refuseFile(path); err != nil {
		return err
	}
	x, err := extension.Read(path, set.here.Paths.Cwd)
	if err != nil {
		return err
	}
	problems, notes := checkExtension(x)
	if err := source.Check(path); err != nil {
		problems = append(problems, err.Error())
	}
	if !semver().MatchString(x.Version) {
		notes = append(notes, fmt.Sprintf("the version %q is not like 1.2.3", x.Version))
	}
	if filepath.Base(path) != x.Name {
		notes = append(notes, fmt.Sprintf("the folder is called %s, and the extension %s", filepath.Base(path), x.Name))
	}
	for _, n := range notes {
		set.out.Notify(text.PrintableLine(n))
	}
	if len(problems) > 0 {
		return errors.New(text.PrintableLine(strings.Join(problems, "; ")))
	}
	return set.out.show(map[string]any{"path": path, "name": x.Name, "valid": true,
		"warnings": notes}, fmt.Sprintf("Extension %s has been successfully validated.", path))
}

// checkExtension returns the errors and the warnings of an extension.
func checkExtension(x extension.Extension) (problems, notes []string) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	var said struct {
		ContextFileName any `json:"contextFileName"`
	}
	if b, err := disk.Read(x.Manifest(), 1<<20); err == nil {
		json.Unmarshal(b, &said) // a value of a wrong type was an error before
	}
	problems = append(problems, x.Misread.Notes...)
	for _, key := range x.Misread.Unknown {
		notes = append(notes, fmt.Sprintf("the manifest has a key %.60q, which means nothing", key))
	}
	named := []any{said.ContextFileName}
	if list, ok := said.ContextFileName.([]any); ok {
		named = list
	}
	for _, name := range named {
		if s, ok := name.(string); ok && !slices.ContainsFunc(x.Contents.ContextFiles,
			func(f string) bool { return f == filepath.Join(x.Dir, filepath.FromSlash(x.Fill(s))) }) {
			problem("the context file %s is not there", s)
		}
	}
	none := func(name string) (string, bool) { return "${" + name + "}", true }
	for _, s := range settings.ServersIn(x.Contents.Servers, none) {
		switch {
		case s.Err != nil:
			problem("the MCP server %s: %v", s.Name, s.Err)
		case s.Command == "" && s.URL == "" && s.HTTPURL == "":
			problem("the MCP server %s has neither a command nor an address", s.Name)
		}
	}
	problems = append(problems, contentsOf(x).wrong...)
	_, wrong, err := policy.Load([]policy.Source{{Path: filepath.Join(x.Dir, "policies"), Tier: policy.Extension}})
	if problems = append(problems, wrong...); err != nil {
		problems = append(problems, err.Error())
	}
	return problems, notes
}

// AgentsOf returns the source of an extension's agents.
func AgentsOf(x extension.Extension) agent.Source {
	return agent.Source{Name: x.Name, Dir: filepath.Join(x.Dir, "agents"), Within: true, Fill: x.Filled}
}

// CommandsOf returns the directory of an extension's commands.
func CommandsOf(x extension.Extension) custom.Dir {
	return custom.Dir{Path: filepath.Join(x.Dir, "commands"), Owner: x.Name, Extension: true, Within: true}
}

// extensionContents lists the definitions in the files of an extension, and the problems in them.
type extensionContents struct {
	skills   []skill.Skill
	agents   []agent.Definition
	commands []string // names, with the slash
	rules    []string // names of files
	wrong    []string
}

// contentsOf returns the contents of an extension.
func contentsOf(x extension.Extension) (b extensionContents) {
	b.skills, b.wrong = SkillsOf(x).Skills()
	var bad []error
	b.agents, bad = AgentsOf(x).Load()
	files := custom.Library{Dirs: func() []custom.Dir { return []custom.Dir{CommandsOf(x)} }}
	list := files.Commands(func(string) bool { return false })
	b.wrong = slices.Concat(b.wrong, lists.Map(bad, error.Error), files.Notes(""))
	b.commands = lists.Map(list, func(c custom.Command) string { return "/" + c.Name })
	b.rules, _ = fs.Glob(os.DirFS(filepath.Join(x.Dir, "policies")), "*.toml")
	return b
}

// agentNames returns the names of the agents.
func (b extensionContents) agentNames() []string {
	return lists.Map(b.agents, func(d agent.Definition) string { return d.Name })
}
