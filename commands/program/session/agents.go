package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/auth"
	"gemline/engine/auth/google"
	"gemline/engine/journal"
	"gemline/engine/model/catalog"
	"gemline/engine/text"
	"gemline/settings/consent"
	"gemline/tools/agent"
	"gemline/tools/agent/remote"
	"gemline/tools/launch"
	"gemline/tools/mcp"
)

// Limits of the list of agents in the prompt.
const (
	longestAbout = 500 // characters of a description
	mostAgents   = 100 // agents that are listed
)

// agents are the agents that one conversation may call. Agents on other servers remember their part
// of the conversation.
type agents struct {
	project  *project.Project
	record   func(map[string]journal.RemoteTask) error // stores the places; nil without a record
	describe func(*remote.Client) string               // reads an agent card
	stop     context.CancelFunc                        // ends describe
	reading  sync.WaitGroup                            // for running reads of cards

	mu      sync.Mutex
	clients map[string]*remoteAgent       // by name and contents of the definition
	places  map[string]journal.RemoteTask // likewise: the task on the server
	moved   bool                          // places changed since they were recorded
}

// A remoteAgent is an agent on another server.
type remoteAgent struct {
	client   *remote.Client
	about    string // the description in its card
	cardRead bool   // reading the card has started
}

// newAgents returns the agents of the conversation in a session file.
func newAgents(p *project.Project, c *Journal) *agents {
	r := &agents{project: p, clients: map[string]*remoteAgent{}, places: map[string]journal.RemoteTask{}}
	if c.continues() {
		maps.Copy(r.places, c.Resumed.RemoteTasks)
	}
	if c.Recorded() {
		r.record = c.File.SetRemoteTasks
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop, r.describe = stop, func(c *remote.Client) string {
		about, _ := c.Describe(ctx) // a call reports the error
		return about
	}
	return r
}

// Close stops the reading of cards.
func (r *agents) Close() {
	r.stop()
	r.reading.Wait()
}

// callable returns the agents that the prompt lists. The problems of agents that can't be called
// are printed with the next event, once.
func (r *agents) callable() []agent.Definition {
	list, _ := r.project.Options.Agents().List()
	list = slices.DeleteFunc(list, func(d agent.Definition) bool { return d.DisabledReason != "" })
	n := len(list)
	list = list[:min(n, mostAgents)]
	r.project.Once.AgentProblems.Do(func() {
		for _, line := range r.project.Options.Agents().Problems() {
			r.project.Status.Queue.Add(engine.Notice{Text: line})
		}
		if n > len(list) {
			r.project.Status.Queue.Add(engine.Notice{Text: fmt.Sprintf("agents: there are %d, and the model is told of the first %d alone; of others by @NAME", n, len(list))})
		}
	})
	for i, d := range list {
		if d.Remote != nil && d.Description == "" {
			list[i].Description = r.description(d)
		}
	}
	return list
}

// servers returns the MCP servers of the agent, nil if it has none.
func (r *agents) servers(d agent.Definition, notify func(string)) *mcp.Set {
	if len(d.Access.Servers)+len(d.Access.UserServers) == 0 {
		return nil
	}
	return r.project.MCP.AgentServers(d, notify)
}

// model returns the first model of an agent: the agent's own, unless it belongs to another vendor
// and is no alias of the user's.
func (r *agents) model(t *agent.Task) string {
	own := t.Agent.Model.Name
	if provider, _ := catalog.Provider(own); provider != "" {
		if t.Agent.Source == project.AgentOfUser {
			return own
		}
		r.project.Status.Queue.Add(engine.Notice{Text: fmt.Sprintf("the agent %s asks for %s, a model of another provider, which only your own agents can: "+
			"the model of the conversation answers", t.Agent.Name, text.OneLine(own, project.MaxNameLength))})
		own = ""
	}
	if agent.OtherVendor(own) && agent.OtherVendor(r.project.Model.Presets.Purpose(own).Model) {
		r.project.Once.OtherVendorModel.Do(func() {
			r.project.Status.Queue.Add(engine.Notice{Text: fmt.Sprintf("the agent %s asks for the model %s, which is another vendor's: "+
				"agents that do so have the model of the conversation", t.Agent.Name, text.OneLine(own, project.MaxNameLength))})
		})
		own = ""
	}
	return cmp.Or(own, r.project.Model.Presets.FamilyModel(t.Agent.Model.Class, t.Model))
}

// asker is an [agent.Config.Remote].
func (r *agents) asker(d agent.Definition) agent.Asker {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.remoteAgent(d).client
}

// description returns the description of a remote agent whose definition has none. It comes from
// the agent's card, which is read in the background.
func (r *agents) description(d agent.Definition) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.remoteAgent(d)
	if !a.cardRead {
		a.cardRead = true
		r.reading.Go(func() {
			about := r.describe(a.client)
			r.mu.Lock()
			defer r.mu.Unlock()
			a.about = about
		})
	}
	if a.about == "" {
		return "An agent on " + d.Remote.Host() + "."
	}
	return text.OneLine(a.about, longestAbout)
}

// remoteAgent returns the client of an agent on another server. The caller holds mu.
func (r *agents) remoteAgent(d agent.Definition) *remoteAgent {
	key := d.Name + " " + d.Fingerprint
	if a := r.clients[key]; a != nil {
		return a
	}
	o := r.project.Options
	a := &remoteAgent{client: remote.New(remote.Config{
		Server: *d.Remote, Limit: d.Limits.Time, UserDefined: o.Agents().OwnedByUser(d), Private: o.Settings.PrivateAgents,
		From: remote.TaskRef(r.places[key]), Moved: func(to remote.TaskRef) { r.setPlace(key, to) },
		Direct: o.Network().Transport(), Web: project.WebConfig(o), Google: googleTokens(o),
		Value:     func(ctx context.Context, said string) (string, error) { return agentValue(ctx, r.project, d, said) },
		AddSecret: func(secret string) { o.Secrets.Add("credentials of an agent", secret) }})}
	r.clients[key] = a
	return a
}

// setPlace notes the task of the conversation with an agent.
func (r *agents) setPlace(key string, to remote.TaskRef) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.places[key] != journal.RemoteTask(to) {
		r.places[key], r.moved = journal.RemoteTask(to), true
	}
}

// recordPlaces records changed tasks when a call is finished.
func (r *agents) recordPlaces(ev engine.Event) error {
	if _, over := ev.(engine.CallFinished); !over {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.moved || r.record == nil {
		return nil
	}
	r.moved = false
	return r.record(r.places)
}

// agentValue returns the value of $NAME or !COMMAND in the definition of an agent. A definition of
// the project sees no secrets and runs no unconfined command, unless the user has allowed it.
func agentValue(ctx context.Context, p *project.Project, d agent.Definition, said string) (string, error) {
	rights, own, rest := p.Options.Agents().ServerRights(d), p.Options.Agents().OwnedByUser(d), said[1:]
	if said[0] != '$' {
		return agentOutput(ctx, p, rest, own || d.Source == project.AgentOfProject && rights == consent.All)
	}
	look := p.Options.Env.Lookup
	if !own {
		look = p.MCP.VariablesFor(rights)
	}
	if v, ok := look(rest); ok && v != "" {
		return v, nil
	}
	return "", fmt.Errorf("%s is not set, or may not be seen by the agent", text.OneLine(rest, 100))
}

// agentOutput returns the output of a command in an agent's definition.
func agentOutput(ctx context.Context, p *project.Project, command string, free bool) (string, error) {
	const patience = time.Minute
	o := p.Launcher.Run(ctx, launch.Command{Text: command, Dir: p.Options.Paths.Cwd, SplitStderr: true, KillLeftovers: true, Limit: launch.Limit{Timeout: patience}, Unconfined: free})
	switch v := strings.TrimSpace(o.Output); {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case !o.OK():
		why := strings.TrimSuffix(o.Status(), ".")
		if words := text.OneLine(strings.TrimSpace(o.Stderr), 200); words != "" {
			why += ": " + words
		}
		return "", fmt.Errorf("the command that says them has failed: %s", why)
	case v == "":
		return "", errors.New("the command that says them has written nothing")
	default:
		return v, nil
	}
}

// googleTokens returns tokens of the user's Google account for agents on Google's servers.
func googleTokens(o *project.Options) func(ctx context.Context, at *url.URL, scopes []string) (string, error) {
	return func(ctx context.Context, at *url.URL, scopes []string) (string, error) {
		account := auth.NewAccount(o.Env.Getenv, runtime.GOOS)
		src := google.Source{Scopes: scopes, Host: account.Host, Network: o.Network(), AddSecret: o.Secrets.Add,
			Client: &http.Client{Transport: o.Network().Transport()}}
		if len(scopes) == 0 {
			src.Scopes = []string{google.Platform}
		}
		host := strings.ToLower(at.Hostname())
		switch {
		case at.Scheme == "https" && strings.HasSuffix(host, ".googleapis.com"):
		case at.Scheme == "https" && strings.HasSuffix(host, ".run.app"):
			src.Audience = "https://" + host
		default:
			return "", errors.New("google-credentials are shown to https://*.googleapis.com and https://*.run.app alone")
		}
		data, _, err := account.Read()
		if err != nil {
			return "", err
		}
		token, err := src.Token(ctx, data)
		if err != nil {
			return "", err
		}
		o.Secrets.Add("access token", token.Secret)
		return token.Secret, nil
	}
}
