package front

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/commands/program/session"
	"gemline/engine"
	"gemline/repl/input"
	"gemline/tools/agent"
)

// agentReferences are the agents that a prompt may name by an @.
type agentReferences struct{ session *session.Session }

// Find implements [input.Source].
func (r agentReferences) Find(_ context.Context, ref input.Ref) (input.Target, error) {
	if ref.Mail {
		return input.Target{}, nil
	}
	name := strings.TrimRight(ref.Name, ".:") // of the sentence around it
	list, _ := r.session.Project.Options.Agents().List()
	i := slices.IndexFunc(list, func(d agent.Definition) bool { return d.Name == name })
	if i >= 0 && list[i].DisabledReason == "" {
		return input.Target{Note: engine.MidTurnNote("The user has named the agent '" + name +
			"' by an @. Unless the rest of the message says otherwise, call invoke_agent with it, and hand it the whole task.")}, nil
	}
	if _, err := r.session.Project.Workspace.Lstat(filepath.Join(r.session.Project.Options.Paths.Cwd, name)); err == nil {
		return input.Target{}, nil // a file is meant
	}
	if i >= 0 {
		r.session.Notices.Notify(fmt.Sprintf("@%s: the agent can't be called: %s; sent as text", name, list[i].DisabledReason))
		return input.Target{Reported: true}, nil
	}
	return input.Target{}, nil
}

// Read implements [input.Source].
func (agentReferences) Read(context.Context, []string) ([]*genai.Part, error) { return nil, nil }
