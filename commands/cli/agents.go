package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/tools/agent"
)

// Agents are the agents of the working directory.
type Agents interface {
	// List returns all agents, also agents that can't be called, and errors about files and
	// settings of agents.
	List() ([]agent.Definition, []error)

	// Reload reads the files of agents again in the running session. It asks the user about agents
	// of the project that are new or have changed.
	Reload(ctx context.Context) error

	// Turn switches an agent on or off in the running session.
	Turn(name string, on bool)
}

// agentsCommand is gemline agents.
type agentsCommand struct {
	List     agentsList     `cmd:"" default:"withargs" help:"List the agents, and who brings them." slash:"list"`
	Show     agentsShow     `cmd:"" help:"Say what an agent is." slash:"show" rest:""`
	Validate agentsValidate `cmd:"" help:"Check the files of agents."`
	Reload   agentsReload   `cmd:"" help:"Read their files again." slash:"reload,refresh"`
	Enable   agentsTurn     `cmd:"" help:"Switch an agent on again." slash:"enable" rest:""`
	Disable  agentsTurn     `cmd:"" help:"Switch an agent off." slash:"disable" rest:""`
	Config   agentsConfig   `cmd:"" help:"Show and change an agent's settings." slash:"config"`
}

type (
	agentsList   struct{}
	agentsReload struct{}

	agentName struct {
		Name string `arg:"" complete:"agent" help:"The agent's name."`
	}
	agentsShow struct{ agentName }
	agentsTurn struct{ agentName }

	agentsConfig struct {
		agentName
		Key   string `arg:"" optional:"" help:"What of it, such as runConfig.maxTurns."`
		Value string `arg:"" optional:"" help:"What it is to be."`
	}

	agentsValidate struct {
		Files []string `arg:"" optional:"" complete:"files" type:"path" help:"Files, instead of the files in use."`
	}
)

// An agentRecord is an agent in gemline agents --json.
type agentRecord struct {
	Name        string   `json:"name"`
	Label       string   `json:"display_name,omitempty"`
	Description string   `json:"description"`
	Source      string   `json:"source"` // built-in, project, user, or the name of an extension
	File        string   `json:"file,omitempty"`
	Callable    bool     `json:"callable"`
	Why         string   `json:"why,omitempty"` // why it can't be called
	Model       string   `json:"model"`         // inherit: the model of the calling conversation
	Tools       []string `json:"tools"`         // null is all tools
	Servers     []string `json:"mcp_servers,omitempty"`
	MaxTurns    int      `json:"max_turns"`
	MaxMinutes  float64  `json:"timeout_mins"`
	Prompt      string   `json:"prompt,omitempty"`
	Kind        string   `json:"kind"`             // a remote agent has no model, tools, requests and prompt
	Server      string   `json:"server,omitempty"` // where a remote agent runs
	Card        string   `json:"agent_card_url,omitempty"`
}

func recordOf(d agent.Definition) agentRecord {
	a := agentRecord{Name: d.Name, Label: d.Label, Description: d.Description, Source: d.Source,
		File: d.File, Callable: d.DisabledReason == "", Why: d.DisabledReason,
		Model: cmp.Or(d.Model.Name, "inherit"), Tools: d.Access.Tools, MaxTurns: d.Turns(), MaxMinutes: d.Limit().Minutes(), Kind: "local"}
	if r := d.Remote; r != nil {
		a.Kind, a.Server, a.Card, a.Model, a.Tools, a.MaxTurns = "remote", r.Host(), r.CardURL, "", []string{}, 0
		a.Description = cmp.Or(a.Description, "An agent on "+a.Server+".")
		return a
	}
	a.Servers = slices.Sorted(maps.Keys(d.Access.Servers))
	a.Servers = append(a.Servers, lists.Filter(slices.Sorted(maps.Keys(d.Access.UserServers)),
		func(name string) bool { return d.Access.Servers[name] == nil })...)
	return a
}

// lines returns an agent's line of the list.
func (a agentRecord) lines() []string {
	line := fmt.Sprintf("%s (%s): %s", a.title(), a.Source, text.OneLine(a.Description, 200))
	if a.Why != "" {
		line += fmt.Sprintf(" [not callable: %s]", a.Why)
	}
	return []string{line}
}

// Run lists the agents.
func (*agentsList) Run(out *Output, here *Folder, agents Agents) error {
	list, wrong := agents.List()
	here.leftOut(out, "agents", here.Paths.Workspace("agents", "*.md"))
	return out.list(listingOf("agents", lists.Map(list, recordOf)).add("problems", "not used as it is: ", lists.Map(wrong, error.Error)...),
		"there are no agents: experimental.enableAgents in the settings is false")
}

// title returns the name of an agent, and its label if that says more.
func (a agentRecord) title() string {
	if a.Label == "" || strings.EqualFold(strings.ReplaceAll(a.Label, " ", "_"), a.Name) {
		return a.Name
	}
	return a.Name + ", " + text.OneLine(a.Label, 60)
}

// leftOut notifies the user if files of a kind are left out for lack of trust. Patterns name the
// folder's files.
func (here *Folder) leftOut(out *Output, kind string, patterns ...string) {
	some := func(pattern string) bool { files, _ := filepath.Glob(pattern); return len(files) > 0 }
	if !here.Trusted && !here.Paths.AtHome() && slices.ContainsFunc(patterns, some) {
		out.Notify("this folder is not trusted, and its " + kind + " are left out; gemline trust add trusts it")
	}
}

// ProvideAgent returns the agent of that name.
func (a agentName) ProvideAgent(agents Agents) (agent.Definition, error) {
	_, wrong := agents.List()
	for _, err := range wrong {
		if fe := (*agent.FileError)(nil); errors.As(err, &fe) &&
			strings.TrimSuffix(filepath.Base(fe.File), ".md") == a.Name {
			return agent.Definition{}, fmt.Errorf("no agent is called %.100q, since its file is none: %w", a.Name, err)
		}
	}
	return agentFamily(agents).find(a.Name)
}

// Run prints the properties of an agent.
func (*agentsShow) Run(out *Output, d agent.Definition) error {
	a := recordOf(d)
	a.Prompt = d.Prompt.Text
	may := "all that the conversation has"
	if d.Access.Tools != nil {
		may = cmp.Or(strings.Join(d.Access.Tools, ", "), "none")
	}
	limits := fmt.Sprintf("%g minutes", a.MaxMinutes)
	if d.Remote != nil {
		may = ""
	} else {
		limits = fmt.Sprintf("%d requests, ", a.MaxTurns) + limits
	}
	lines := []string{a.title() + ": " + text.OneLine(a.Description, 2000)}
	lines = append(lines, fields("from", a.Source, "file", a.File, "not callable", a.Why, "server", a.Server, "card", a.Card,
		"model", a.Model, "tools", may, "limits", limits, "MCP servers", strings.Join(a.Servers, ", "))...)
	for l := range strings.Lines(d.Prompt.Text) {
		lines = append(lines, "  "+strings.TrimSuffix(l, "\n"))
	}
	return out.show(a, lines...)
}

// ServerProblems returns the problems of an agent's MCP servers. Place names their file or setting
// in the messages.
func ServerProblems(place string, servers map[string]any) (wrong []error) {
	for _, s := range settings.ServersIn(servers, nil) {
		if s.Err != nil {
			s.Unset = append(s.Unset, s.Err.Error())
		}
		for _, said := range s.Unset {
			wrong = append(wrong, fmt.Errorf("%s: MCP server %s: %s", place, s.Name, said))
		}
	}
	return wrong
}

// Run prints the problems of files. The error is about the first broken file.
func (c *agentsValidate) Run(out *Output, here *Folder, agents Agents) error {
	var list []agent.Definition
	var wrong []error
	if len(c.Files) == 0 {
		list, wrong = agents.List()
		here.leftOut(out, "agents", here.Paths.Workspace("agents", "*.md"))
	}
	for _, file := range c.Files {
		info, err := os.Stat(file)
		if err != nil {
			wrong = append(wrong, &agent.FileError{File: file, Line: 1,
				Message: fmt.Sprintf("it can't be looked at: %v", errors.Unwrap(err))})
			continue
		}
		found, errs := agent.LoadFile(file)
		if info.IsDir() {
			found, errs = agent.Source{Dir: file}.Load()
		}
		list, wrong = append(list, found...), append(wrong, errs...)
		for _, d := range found {
			wrong = append(wrong, ServerProblems(d.File, d.Access.Servers)...)
		}
	}
	var bad, notes []*agent.FileError // notes are about agents that work nevertheless
	var lines []string
	none := 0
	for _, err := range wrong {
		fe := (*agent.FileError)(nil)
		if errors.As(err, &fe) {
			none++
		} else {
			fe = &agent.FileError{Message: err.Error()}
		}
		bad, lines = append(bad, fe), append(lines, err.Error())
	}
	for _, d := range list {
		for _, n := range d.Notes {
			notes, lines = append(notes, n), append(lines, n.Error())
		}
	}
	if lines = append(lines, fmt.Sprintf("agents that can be read: %d", len(list))); len(wrong) == 0 {
		lines = append(lines, "nothing is wrong with them")
	}
	err := out.show(map[string]any{"ok": len(wrong) == 0, "agents": len(list), "problems": bad, "notes": notes}, lines...)
	switch {
	case err != nil || len(wrong) == 0:
		return err
	case none == 0:
		return fmt.Errorf("agents that are not used as they are: %d", len(wrong))
	}
	return fmt.Errorf("files that are no agents: %d", none)
}

// Run reads the files again.
func (*agentsReload) Run(ctx context.Context, out *Output, here *Folder, agents Agents) error {
	if err := agents.Reload(ctx); err != nil {
		return err
	}
	return (*agentsList)(nil).Run(out, here, agents)
}

// Run switches an agent on or off.
func (*agentsTurn) Run(ctx context.Context, out *Output, here *Folder, agents Agents, d agent.Definition, on toggle) error {
	done, err := here.userFile().SetKey(ctx, settings.JoinKey([]string{"agents", "overrides", d.Name, "enabled"}), bool(on))
	if err != nil {
		return err
	}
	agents.Turn(d.Name, bool(on))
	return out.show(map[string]any{"agent": d.Name, "enabled": on, "file": done.Path},
		fmt.Sprintf("%s is %s, in %s", d.Name, on, done.Path))
}

// Run shows or changes the settings of an agent.
func (c *agentsConfig) Run(ctx context.Context, out *Output, here *Folder, ask *Asker, d agent.Definition) error {
	key := settings.JoinKey([]string{"agents", "overrides", d.Name})
	if in, known := agentKeys[c.Key]; known {
		c.Key = in
	}
	switch {
	case c.Value != "":
		return (&configSet{Key: key + "." + c.Key, Value: []string{c.Value}}).Run(ctx, out, here, ask, here.userFile())
	case c.Key != "":
		explain, err := here.explain(out)
		if err != nil {
			return err
		}
		return (&configGet{Key: key + "." + c.Key}).Run(out, explain)
	}
	if !out.JSON {
		if err := out.line("keys: enabled, tools, mcpServers, %s",
			strings.Join(slices.Sorted(maps.Values(agentKeys)), ", ")); err != nil {
			return err
		}
		s, err := here.settings()
		if err != nil {
			return err
		}
		path := []string{"agents", "overrides", d.Name}
		if set := settings.In[map[string]any](s.Merged, path...); set != nil {
			b, _ := text.JSON(settings.MaskWritten(path, set), "") // it was parsed from JSON, so it can't fail
			if err := out.lines([]string{"set in the settings: " + string(b)}); err != nil {
				return err
			}
		}
	}
	return (&agentsShow{}).Run(out, d)
}

// agentKeys maps the keys of an agent's file to those of the settings.
var agentKeys = map[string]string{"max_turns": "runConfig.maxTurns",
	"timeout_mins": "runConfig.maxTimeMinutes", "model": "modelConfig.model",
	"temperature": "modelConfig.generateContentConfig.temperature"}
