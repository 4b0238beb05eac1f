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

	"gemline/engine/text"
	"gemline/settings"
	"gemline/tools/agent"
)

// Agents are those of the working directory.
type Agents interface {
	// List returns all, also those that can't be called, and what is wrong with others.
	List() ([]agent.Definition, []error)

	// Reload has their files read again in the session that is held. The user is asked about
	// those of the project that are new or have changed.
	Reload(ctx context.Context) error

	// Turn switches one on or off in that session.
	Turn(name string, on bool)
}

// agentsCommand is gemline agents.
type agentsCommand struct {
	List     agentsList     `cmd:"" default:"withargs" help:"List the agents, and who brings them." slash:"list"`
	Show     agentsShow     `cmd:"" help:"Say what an agent is." slash:"show" rest:""`
	Validate agentsValidate `cmd:"" help:"Say what is wrong with the files of agents."`
	Reload   agentsReload   `cmd:"" help:"Read their files again." slash:"reload,refresh"`
	Enable   agentsTurn     `cmd:"" help:"Switch an agent on again." slash:"enable" rest:""`
	Disable  agentsTurn     `cmd:"" help:"Switch an agent off." slash:"disable" rest:""`
	Config   agentsConfig   `cmd:"" help:"Show and change what the settings say of an agent." slash:"config"`
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
		Files []string `arg:"" optional:"" complete:"files" type:"path" help:"Files, if they are not those that are used."`
	}
)

// A listedAgent is one as gemline agents --json lists it.
type listedAgent struct {
	Name        string   `json:"name"`
	Label       string   `json:"display_name,omitempty"`
	Description string   `json:"description"`
	Source      string   `json:"source"` // built-in, project, user, or the name of an extension
	File        string   `json:"file,omitempty"`
	Callable    bool     `json:"callable"`
	Why         string   `json:"why,omitempty"` // it can't be called
	Model       string   `json:"model"`         // inherit is that of the conversation that calls it
	Tools       []string `json:"tools"`         // null is all
	Servers     []string `json:"mcp_servers,omitempty"`
	MaxTurns    int      `json:"max_turns"`
	MaxMinutes  float64  `json:"timeout_mins"`
	Prompt      string   `json:"prompt,omitempty"`
	Kind        string   `json:"kind"` // remote has no model, tools, requests and prompt
	Server      string   `json:"server,omitempty"`
	Card        string   `json:"agent_card_url,omitempty"`
}

func listed(d agent.Definition) listedAgent {
	a := listedAgent{Name: d.Name, Label: d.Label, Description: d.Description, Source: d.Source,
		File: d.File, Callable: d.Off == "", Why: d.Off,
		Model: cmp.Or(d.Model.Name, "inherit"), Tools: d.Access.Tools, MaxTurns: d.Turns(), MaxMinutes: d.Limit().Minutes(), Kind: "local"}
	if r := d.Remote; r != nil {
		a.Kind, a.Server, a.Card, a.Model, a.Tools, a.MaxTurns = "remote", r.Host(), r.CardURL, "", []string{}, 0
		a.Description = cmp.Or(a.Description, "An agent on "+a.Server+".")
	}
	a.Servers = slices.Sorted(maps.Keys(d.Access.Servers))
	for _, name := range slices.Sorted(maps.Keys(d.Access.Given)) {
		if d.Access.Servers[name] == nil {
			a.Servers = append(a.Servers, name)
		}
	}
	return a
}

// Run lists the agents.
func (*agentsList) Run(out *Output, here *Folder, agents Agents) error {
	list, wrong := agents.List()
	var all []listedAgent
	var problems, lines []string
	for _, d := range list {
		all = append(all, listed(d))
		line := fmt.Sprintf("%s (%s): %s", called(d), d.Source, text.OneLine(listed(d).Description, 200))
		if d.Off != "" {
			line += fmt.Sprintf(" [not callable: %s]", d.Off)
		}
		lines = append(lines, line)
	}
	for _, err := range wrong {
		problems = append(problems, err.Error())
		lines = append(lines, "not used: "+err.Error())
	}
	agentsLeftOut(out, here)
	return out.listing(map[string]any{"agents": all, "problems": problems}, lines,
		"there are no agents: experimental.enableAgents in the settings is false")
}

// called is the name of an agent, and what it is called for people.
func called(d agent.Definition) string {
	if d.Label == "" || strings.EqualFold(strings.ReplaceAll(d.Label, " ", "_"), d.Name) {
		return d.Name
	}
	return d.Name + ", " + text.OneLine(d.Label, 60)
}

// agentsLeftOut notifies the user if the project's agents are left out for lack of trust.
func agentsLeftOut(out *Output, here *Folder) {
	if here.Trusted {
		return
	}
	if files, _ := filepath.Glob(filepath.Join(here.Paths.Workspace("agents"), "*.md")); len(files) > 0 {
		out.Notify("this folder is not trusted, and its agents are left out; gemline trust add trusts it")
	}
}

// find returns the agent of that name.
func (a agentName) find(agents Agents) (agent.Definition, error) {
	list, wrong := agents.List()
	for _, err := range wrong {
		if fe := (*agent.FileError)(nil); errors.As(err, &fe) &&
			strings.TrimSuffix(filepath.Base(fe.File), ".md") == a.Name {
			return agent.Definition{}, fmt.Errorf("no agent is called %.100q, since its file is none: %w", a.Name, err)
		}
	}
	return member("agent", "gemline agents", a.Name, list, func(d agent.Definition) string { return d.Name })
}

// Run says what an agent is.
func (c *agentsShow) Run(out *Output, agents Agents) error {
	d, err := c.find(agents)
	if err != nil {
		return err
	}
	a := listed(d)
	a.Prompt = d.Prompt.Text
	may := "all that the conversation has"
	if d.Access.Tools != nil {
		may = cmp.Or(strings.Join(d.Access.Tools, ", "), "none")
	}
	lines := []string{called(d) + ": " + text.OneLine(a.Description, 2000), "from: " + d.Source}
	if d.File != "" {
		lines = append(lines, "file: "+d.File)
	}
	if d.Off != "" {
		lines = append(lines, "not callable: "+d.Off)
	}
	if d.Remote != nil {
		lines = append(lines, "server: "+a.Server)
		if a.Card != "" {
			lines = append(lines, "card: "+a.Card)
		}
		return out.show(a, append(lines, fmt.Sprintf("limits: %g minutes", a.MaxMinutes))...)
	}
	lines = append(lines, "model: "+a.Model, "tools: "+may,
		fmt.Sprintf("limits: %d requests, %g minutes", a.MaxTurns, a.MaxMinutes))
	if len(a.Servers) > 0 {
		lines = append(lines, "MCP servers: "+strings.Join(a.Servers, ", "))
	}
	for l := range strings.Lines(d.Prompt.Text) {
		lines = append(lines, "  "+strings.TrimSuffix(l, "\n"))
	}
	return out.show(a, lines...)
}

// A badAgent is a file that is no agent.
type badAgent struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

// Run says what is wrong with files. The error is about the first one.
func (c *agentsValidate) Run(out *Output, here *Folder, agents Agents) error {
	list, wrong := agents.List()
	if len(c.Files) > 0 {
		list, wrong = nil, nil
	}
	if len(c.Files) == 0 {
		agentsLeftOut(out, here)
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
	}
	bad, notes, lines, none := []badAgent{}, []badAgent{}, []string{}, 0
	for _, err := range wrong {
		b := badAgent{Message: err.Error()}
		if fe := (*agent.FileError)(nil); errors.As(err, &fe) {
			b = badAgent{fe.File, fe.Line, fe.Message}
			none++
		}
		bad, lines = append(bad, b), append(lines, err.Error())
	}
	for _, d := range list {
		for _, n := range d.Notes {
			notes, lines = append(notes, badAgent{n.File, n.Line, n.Message}), append(lines, n.Error())
		}
	}
	if lines = append(lines, fmt.Sprintf("agents that can be read: %d", len(list))); len(wrong) == 0 {
		lines = append(lines, "nothing is wrong with them")
	}
	err := out.show(map[string]any{"ok": len(wrong) == 0, "agents": len(list), "problems": bad,
		"notes": notes}, lines...) // notes are about agents that work all the same
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
func (a *agentsTurn) Run(ctx context.Context, out *Output, here *Folder, agents Agents, on toggle) error {
	d, err := a.find(agents)
	if err != nil {
		return err
	}
	src, err := where{settings.User}.source(here)
	if err != nil {
		return err
	}
	done, err := src.SetKey(ctx, settings.JoinKey([]string{"agents", "overrides", d.Name, "enabled"}), bool(on))
	if err != nil {
		return err
	}
	agents.Turn(d.Name, bool(on))
	return out.show(map[string]any{"agent": d.Name, "enabled": on, "file": done.Path},
		fmt.Sprintf("%s is %s, in %s", d.Name, on, done.Path))
}

// Run shows or changes the settings of an agent.
func (c *agentsConfig) Run(ctx context.Context, out *Output, here *Folder, ask *Asker, agents Agents) error {
	d, err := c.find(agents)
	if err != nil {
		return err
	}
	key := settings.JoinKey([]string{"agents", "overrides", d.Name})
	if in, known := agentKeys[c.Key]; known {
		c.Key = in
	}
	switch {
	case c.Value != "":
		return (&configSet{Key: key + "." + c.Key, Value: []string{c.Value}, where: where{settings.User}}).Run(ctx, out, here, ask)
	case c.Key != "":
		return (&configGet{Key: key + "." + c.Key}).Run(out, here)
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
		if set, ok := valueAt(s.Merged, path...).(map[string]any); ok {
			b, err := text.JSON(settings.MaskWritten(path, set), "")
			if err != nil {
				return err
			}
			if err := out.lines([]string{"set in the settings: " + string(b)}); err != nil {
				return err
			}
		}
	}
	return (&agentsShow{c.agentName}).Run(out, agents)
}

// agentKeys are the keys of an agent's file, as the settings have them.
var agentKeys = map[string]string{"max_turns": "runConfig.maxTurns",
	"timeout_mins": "runConfig.maxTimeMinutes", "model": "modelConfig.model",
	"temperature": "modelConfig.generateContentConfig.temperature"}
