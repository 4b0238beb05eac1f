package program

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"time"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/auth"
	"gemline/engine/auth/google"
	"gemline/engine/journal"
	"gemline/engine/text"
	"gemline/settings/consent"
	"gemline/tools/agent"
	"gemline/tools/agent/remote"
	"gemline/tools/launch"
)

// remoteAgents are who asks agents on other servers, each with what was said to it. The
// zero value has asked nobody.
type remoteAgents struct {
	mu      sync.Mutex
	clients map[string]*remoteAgent  // by name and contents of the definition
	places  map[string]journal.Place // likewise: where conversations are
	moved   bool                     // since that was recorded
	stop    context.CancelFunc
	looking sync.WaitGroup
}

type remoteAgent struct {
	client *remote.Client
	about  string // what its card says
	asked  bool   // the card is read, or was
}

// Close ends what is still read.
func (r *remoteAgents) Close() {
	r.mu.Lock()
	stop := r.stop
	r.mu.Unlock()
	if stop != nil {
		stop()
	}
	r.looking.Wait()
}

// remoteAgent returns who asks an agent on another server in this conversation.
func (s *Session) remoteAgent(d agent.Definition) *remoteAgent {
	s.remote.mu.Lock()
	defer s.remote.mu.Unlock()
	key := d.Name + " " + d.Print
	if a := s.remote.clients[key]; a != nil {
		return a
	}
	if s.remote.clients == nil {
		s.remote.clients = map[string]*remoteAgent{}
	}
	if s.remote.places == nil {
		s.remote.places = map[string]journal.Place{}
		if s.past != nil && s.past.ID == s.journal.ID() { // a copy is another conversation
			maps.Copy(s.remote.places, s.past.Elsewhere)
		}
	}
	a := &remoteAgent{client: remote.New(remote.Config{
		Server: *d.Remote, Limit: d.Time, Own: s.opts.Agents().Own(d), Private: s.opts.Settings.PrivateAgents,
		From: remote.Place(s.remote.places[key]), Moved: func(to remote.Place) { s.remote.move(key, to) },
		Direct: s.opts.Network().Transport(), Web: project.WebConfig(s.opts), Google: s.googleToken,
		Value: func(ctx context.Context, said string) (string, error) { return s.agentValue(ctx, d, said) },
		Know:  func(secret string) { s.opts.Secrets.Know("credentials of an agent", secret) }})}
	s.remote.clients[key] = a
	return a
}

// move notes where the conversation with an agent is.
func (r *remoteAgents) move(key string, to remote.Place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.places[key] != journal.Place(to) {
		r.places[key], r.moved = journal.Place(to), true
	}
}

// recordPlaces records where conversations with agents on other servers are, as soon as
// something has come of one.
func (s *Session) recordPlaces(ev engine.Event) error {
	if _, over := ev.(engine.Finished); !over {
		return nil
	}
	s.remote.mu.Lock()
	defer s.remote.mu.Unlock()
	if !s.remote.moved || s.project.store.Temp == "" || s.Trial {
		return nil
	}
	s.remote.moved = false
	return s.journal.SetElsewhere(s.remote.places)
}

// askRemote is the [agent.Config.Remote] of the conversation.
func (s *Session) askRemote(d agent.Definition) agent.Asker { return s.remoteAgent(d).client }

// aboutRemote returns what an agent is for whose definition does not say it. Its card does,
// which is read meanwhile.
func (s *Session) aboutRemote(d agent.Definition) string {
	a := s.remoteAgent(d)
	s.remote.mu.Lock()
	defer s.remote.mu.Unlock()
	if !a.asked {
		a.asked = true
		ctx, stop := context.WithCancel(context.Background())
		if before := s.remote.stop; before != nil {
			own := stop
			stop = func() { before(); own() }
		}
		s.remote.stop = stop
		s.remote.looking.Go(func() {
			about, _ := a.client.Describe(ctx) // what is wrong is told when it is called
			s.remote.mu.Lock()
			defer s.remote.mu.Unlock()
			a.about = about
		})
	}
	if a.about == "" {
		return "An agent on " + d.Remote.Host() + "."
	}
	return text.OneLine(a.about, longestAbout)
}

// agentValue returns what $NAME or !COMMAND stands for in the definition of an agent. A
// project's sees no secrets, and runs nothing unconfined, if the user has not said so.
func (s *Session) agentValue(ctx context.Context, d agent.Definition, said string) (string, error) {
	rights, own, rest := s.opts.Agents().Rights(d), s.opts.Agents().Own(d), said[1:]
	if said[0] != '$' {
		return s.agentOutput(ctx, rest, own || d.Source == project.AgentOfProject && rights == consent.All)
	}
	look := s.opts.Env.Lookup
	if !own {
		look = s.project.mcp.connector.SeenBy(rights)
	}
	if v, ok := look(rest); ok && v != "" {
		return v, nil
	}
	return "", fmt.Errorf("%s is not set, or may not be seen by the agent", text.OneLine(rest, 100))
}

// agentOutput returns what a command of an agent's definition writes.
func (s *Session) agentOutput(ctx context.Context, command string, free bool) (string, error) {
	const patience = time.Minute
	o := s.project.launcher.Run(ctx, launch.Command{Text: command, Dir: s.opts.Paths.Cwd, Apart: true, Alone: true, Timeout: patience, Free: free})
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

// googleToken returns a token of the user's Google account for an agent of Google's.
func (s *Session) googleToken(ctx context.Context, at *url.URL, scopes []string) (string, time.Time, error) {
	account := auth.NewAccount(s.opts.Env.Getenv, runtime.GOOS)
	src := google.Source{Scopes: scopes, Host: account.Host, Network: s.opts.Network(), Know: s.opts.Secrets.Know,
		Client: &http.Client{Transport: s.opts.Network().Transport()}}
	if len(scopes) == 0 {
		src.Scopes = []string{google.Platform}
	}
	host := strings.ToLower(at.Hostname())
	switch {
	case at.Scheme == "https" && strings.HasSuffix(host, ".googleapis.com"):
	case at.Scheme == "https" && strings.HasSuffix(host, ".run.app"):
		src.Audience = "https://" + host
	default:
		return "", time.Time{}, errors.New("google-credentials are shown to https://*.googleapis.com and https://*.run.app alone")
	}
	data, _, err := account.Read()
	if err != nil {
		return "", time.Time{}, err
	}
	token, err := src.Token(ctx, data)
	if err != nil {
		return "", time.Time{}, err
	}
	s.opts.Secrets.Know("access token", token.Secret)
	if token.Until.IsZero() {
		token.Until = time.Now().Add(time.Hour) // none is for ever
	}
	return token.Secret, token.Until, nil
}
