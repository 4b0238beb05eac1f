package repl

import (
	"fmt"
	"slices"
	"strings"

	"gemline/engine"
)

// agents holds the running calls of agents. Several of one kind are numbered.
type agents struct{ list []agentCall }

type agentCall struct {
	id, agent string
	number    int // 0 for the only call of its agent
}

// called notes a call if it runs an agent.
func (as *agents) called(ev engine.Called) {
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

// over forgets a call.
func (as *agents) over(id string) {
	as.list = slices.DeleteFunc(as.list, func(c agentCall) bool { return c.id == id })
}

// name returns the agent of a call as it is told: with its number, if there are several.
func (as *agents) name(id, agent string) string {
	i := slices.IndexFunc(as.list, func(c agentCall) bool { return c.id == id && c.agent == agent && c.number > 0 })
	if i < 0 {
		return agent
	}
	return fmt.Sprintf("%s %d", agent, as.list[i].number)
}

// titled returns the title of a call with its agent as it is told.
func (as *agents) titled(id, title string) string {
	for _, c := range as.list {
		if c.id == id {
			return strings.Replace(title, c.agent, as.name(id, c.agent), 1)
		}
	}
	return title
}

// Asking returns the name of the agent that makes a call, as it is printed.
func (p *Printer) Asking(q engine.Proposal) string {
	as := &p.turn.agents
	if i := slices.IndexFunc(as.list, func(c agentCall) bool { return c.id == q.AgentCall }); i >= 0 {
		return as.name(q.AgentCall, as.list[i].agent)
	}
	return q.Agent
}
