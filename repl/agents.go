package repl

import (
	"fmt"
	"slices"
	"strings"

	"gemline/engine"
)

// agents holds the running calls of agents. Calls of the same agent are numbered.
type agents struct{ list []agentCall }

type agentCall struct {
	id, agent string
	number    int // 0 for the only call of its agent
}

// called stores a call if it runs an agent.
func (as *agents) called(ev engine.CallRequested) {
	agent, _ := ev.Args["agent_name"].(string)
	if agent == "" {
		return
	}
	number := 0
	for i := range as.list {
		if other := &as.list[i]; other.agent == agent {
			other.number = max(other.number, 1)
			number = max(number, other.number+1)
		}
	}
	as.list = append(as.list, agentCall{ev.ID, agent, number})
}

// finish removes a call.
func (as *agents) finish(id string) {
	as.list = slices.DeleteFunc(as.list, func(c agentCall) bool { return c.id == id })
}

// find returns the running call with an id, nil if it runs no agent.
func (as *agents) find(id string) *agentCall {
	for i := range as.list {
		if as.list[i].id == id {
			return &as.list[i]
		}
	}
	return nil
}

// name returns the printed name of the call's agent, with a number if several calls run the same
// agent.
func (c *agentCall) name() string {
	if c.number == 0 {
		return c.agent
	}
	return fmt.Sprintf("%s %d", c.agent, c.number)
}

// name returns the printed name of an agent that runs in a call.
func (as *agents) name(id, agent string) string {
	if c := as.find(id); c != nil && c.agent == agent {
		return c.name()
	}
	return agent
}

// titled returns the title of a call, behind the printed name of its agent.
func (as *agents) titled(id, title string) string {
	if c := as.find(id); c != nil {
		return strings.Replace(title, c.agent, c.name(), 1)
	}
	return title
}

// asking returns the printed name of the agent that makes a call.
func (as *agents) asking(q engine.Proposal) string {
	if c := as.find(q.AgentCall); c != nil {
		return c.name()
	}
	return q.Agent
}
