package project

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/genai"

	"gemline/commands/cli"
	"gemline/engine/lists"
	"gemline/engine/model"
	"gemline/engine/text"
	"gemline/repl/question"
	"gemline/settings"
	"gemline/settings/consent"
	"gemline/tools/agent"
)

// An AgentSet holds the agents of a directory, and the switches for them.
type AgentSet struct {
	opts    *Options
	library agent.Library

	mu       sync.Mutex
	switched sync.Map // whether it is on, by name, of agents switched in this run

	Ask    consentFunc  // asks the user of a session; nil if no user can be asked
	Notify func(string) // prints why an answer could not be stored
}

// newAgentSet returns the agents. It reads no file yet.
func newAgentSet(o *Options) *AgentSet {
	a := &AgentSet{opts: o}
	a.library.Sources = a.sources
	return a
}

// Agents returns the agents of the directory. In a session, they are those of the session.
func (o *Options) Agents() *AgentSet {
	if o.found.agents == nil {
		o.found.agents = newAgentSet(o)
	}
	return o.found.agents
}

// sources returns the sources of agents, the strongest first.
func (a *AgentSet) sources() (list []agent.Source) {
	if dir := a.opts.Paths.Workspace("agents"); a.opts.projectFileCounts(dir) {
		list = append(list, agent.Source{Name: AgentOfProject, Dir: dir, Within: true})
	}
	list = append(list, agent.Source{Name: AgentOfUser, Dir: a.opts.Paths.User("agents")})
	return append(list, lists.Map(a.opts.ActiveExtensions(), cli.AgentsOf)...)
}

// The sources of agents, beside extensions.
const (
	AgentOfProject = "project" // from the working directory
	AgentOfUser    = "user"    // from the user's folder of agents
)

// List returns the agents with the overrides of the settings, and the problems of unusable agents.
func (a *AgentSet) List() (list []agent.Definition, wrong []error) {
	if !a.opts.Settings.Agents {
		return nil, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	list, wrong = a.library.Find(agent.BuiltIn()...)
	if err := a.opts.consents.readStored(); err != nil {
		wrong = append(wrong, err)
	}
	over, own := overrides(a.opts.Settings), overrides(a.opts.userSettings)
	var names []string
	for i := range list {
		d := &list[i]
		names = append(names, d.Name)
		on, err := applyOverrides(d, over[d.Name])
		if err == nil {
			err = addGivenServers(d, own[d.Name], over[d.Name])
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("agents.overrides.%s in the settings: %w", d.Name, err))
		}
		wrong = append(wrong, cli.ServerProblems(d.File, d.Access.Servers)...)
		wrong = append(wrong, cli.ServerProblems("agents.overrides."+d.Name+" in the settings", d.Access.UserServers)...)
		if now, ok := a.switched.Load(d.Name); ok {
			on = now.(bool)
		}
		switch {
		case d.DisabledReason != "":
		case !on:
			d.DisabledReason = "the settings switch it off (agents.overrides." + d.Name + ".enabled)"
		case d.Source == AgentOfProject:
			d.DisabledReason = a.refusal(*d)
		}
	}
	said := slices.Sorted(maps.Keys(over))
	for _, name := range said {
		if near := text.Misspelled(name, said, names); near != "" {
			wrong = append(wrong, fmt.Errorf("agents.overrides in the settings: no agent is called %q; did you mean %s?", name, near))
		}
	}
	return list, wrong
}

// overrides returns the overrides of agents in settings, by name.
func overrides(s *settings.Settings) map[string]any {
	return settings.In[map[string]any](s.Merged, "agents", "overrides")
}

// addGivenServers adds MCP servers from the user's settings to an agent. A project's settings add
// none, since gemline would start them.
func addGivenServers(d *agent.Definition, own, all any) error {
	read := func(said any) any {
		m, _ := said.(map[string]any)
		return m["mcpServers"]
	}
	given, said := read(own), read(all)
	if servers, ok := given.(map[string]any); ok {
		d.Access.UserServers = servers
	} else if given != nil {
		return errors.New("mcpServers is no object")
	}
	if !reflect.DeepEqual(given, said) {
		return errors.New("mcpServers: a project can't set it")
	}
	return nil
}

// applyOverrides applies the settings to d, and reports whether they switch it on.
func applyOverrides(d *agent.Definition, said any) (on bool, err error) {
	if said == nil {
		return true, nil
	}
	var over struct {
		Enabled   *bool
		Tools     []string
		RunConfig struct {
			MaxTurns       int
			MaxTimeMinutes float64
		}
		ModelConfig struct {
			Model                 string
			GenerateContentConfig *genai.GenerateContentConfig
		}
	}
	b, err := json.Marshal(said)
	if err == nil {
		err = json.Unmarshal(b, &over)
	}
	if err != nil {
		return true, errors.New(text.OneLine(err.Error(), MaxNoticeLength))
	}
	if n := over.RunConfig.MaxTurns; n > 0 {
		d.Limits.Requests = n
	}
	if m := over.RunConfig.MaxTimeMinutes; m > 0 {
		d.Limits.Time = time.Duration(min(m, 1e6) * float64(time.Minute))
	}
	if m := over.ModelConfig.Model; m != "" {
		if d.Model.Name = m; m == "inherit" {
			d.Model.Name = ""
		}
	}
	if over.Tools != nil {
		d.Access.Tools = over.Tools
	}
	if c := over.ModelConfig.GenerateContentConfig; c != nil {
		d.Model.Config = model.Merge(d.Model.Config, c)
	}
	return over.Enabled == nil || *over.Enabled, nil
}

// item returns an agent with its servers, as an item for consent. The servers and commands are
// shown beside the file, which may be too long to be shown.
func (a *AgentSet) item(d agent.Definition) item {
	said := []string{d.Description}
	for _, m := range settings.ServersIn(d.Access.Servers, nil) {
		start, with := settings.DescribeServer(m.Raw)
		said = append(said, text.PrintableLine("MCP server "+m.Name+with+": "+start))
	}
	for _, command := range d.Remote.Commands() {
		said = append(said, text.PrintableLine("command for its credentials: "+command))
	}
	return item{name: d.Name, ofProject: d.Source == AgentOfProject,
		consent: question.ConsentItem{Title: "agent " + d.Name, Command: strings.Join(said, "\n"), Files: []string{d.File},
			Agent: true, Idle: len(d.Access.Servers) == 0},
		findStarted: func() (all consent.Started, print string) {
			for _, m := range settings.ServersIn(d.Access.Servers, nil) {
				all.Add(startedBy(a.opts, m))
			}
			return all, all.Fingerprint("agent", d.Name, d.Fingerprint)
		}}
}

// refusal says why an agent of the project can't be called, "" if it can.
func (a *AgentSet) refusal(d agent.Definition) string {
	i := a.item(d)
	switch said := a.opts.consents.granted(i); {
	case said == "" && !agreedByFlag(a.opts, i):
		return notAgreed + howAgreed(a.opts)
	case said == consent.None:
		return "you do not want this project's agent; gemline trust remove takes that back"
	}
	return ""
}

const notAgreed = "nobody has agreed to this project's agent as it is now"

// items returns the project's agents that need the user's consent.
func (a *AgentSet) items() []item {
	all, _ := a.List()
	return lists.Map(lists.Filter(all, isNotAgreed), a.item)
}

// isNotAgreed reports whether an agent of the project lacks consent.
func isNotAgreed(d agent.Definition) bool { return strings.HasPrefix(d.DisabledReason, notAgreed) }

// ServerRights returns the rights of an agent's own MCP servers, "" if the user has not decided
// about them.
func (a *AgentSet) ServerRights(d agent.Definition) consent.Rights {
	return a.opts.consents.rights(a.item(d))
}

// OwnedByUser reports whether an agent lies in the user's own folder. The source is not enough: an
// extension may have any name.
func (a *AgentSet) OwnedByUser(d agent.Definition) bool {
	return d.Source == AgentOfUser && filepath.Dir(d.File) == a.opts.Paths.User("agents")
}

// Problems returns a line for each configured agent that can't be called.
func (a *AgentSet) Problems() (lines []string) {
	_, wrong := a.List()
	lines = lists.Map(wrong, func(err error) string { return "agents: " + text.OneLine(err.Error(), MaxNoticeLength) })
	a.printNotAgreed(func(line string) { lines = append(lines, line) })
	return lines
}

// printNotAgreed prints which agents can't be called because nobody has agreed to them.
func (a *AgentSet) printNotAgreed(notify func(string)) {
	printNotAgreed(a.opts, "agents of this project can't be called", a.items(), notify)
}

// Reload implements [cli.Agents].
func (a *AgentSet) Reload(ctx context.Context) error {
	a.library.Forget()
	if a.Ask == nil {
		return nil
	}
	return a.opts.consents.ask(ctx, a.Ask, a.opts.consents.undecided(a.items()...), a.Notify)
}

// Turn implements [cli.Agents].
func (a *AgentSet) Turn(name string, on bool) { a.switched.Store(name, on) }
