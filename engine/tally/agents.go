package tally

import (
	"fmt"
	"time"

	"gemline/engine"
	"gemline/engine/text"
)

// subagent is the role of the conversations of agents.
const subagent = "subagent"

// A scope identifies the conversation of an event: the enclosing calls, and the agent. Both
// are empty for the conversation with the user.
type scope struct{ calls, agent string }

// inside returns the scope of an agent's events inside a call.
func (in scope) inside(ev engine.Nested) scope { return scope{in.calls + ev.ID + "/", ev.Agent} }

// role returns the role of requests of the conversation.
func (in scope) role() string {
	if in.agent != "" {
		return subagent
	}
	return main
}

// An agent holds the counts of an agent over all its conversations.
type agent struct {
	Runs, Failed       int
	Took               time.Duration
	all                role
	Calls, CallsFailed int
}

// MarshalJSON returns the form that an agent has under its name.
func (a agent) MarshalJSON() ([]byte, error) {
	return text.JSON(struct {
		Runs   int    `json:"runs"`
		Failed int    `json:"failed"`
		Took   millis `json:"durationMs"`
		callsJSON
		Tokens      tokens `json:"tokens"`
		Calls       int    `json:"totalCalls"`
		CallsFailed int    `json:"totalFail"`
	}{a.Runs, a.Failed, ms(a.Took), a.all.json(), a.all.Tokens, a.Calls, a.CallsFailed}, "")
}

// byAgent returns what agents did, nil if none did anything.
func (t *Tally) byAgent() *list[agent] {
	if len(t.agents.keys) == 0 {
		return nil
	}
	return &t.agents
}

// counts returns the counts that a request of a model belongs to.
func (t *Tally) counts(in scope, m *model, what string) []*role {
	both := m.in(what)
	if in.agent == "" {
		return both[:]
	}
	return append(both[:], &t.agents.at(in.agent).all)
}

// called counts a finished call: by an agent, or of an agent.
func (t *Tally) called(in scope, ev engine.Finished) {
	if in.agent != "" {
		a := t.agents.at(in.agent)
		if a.Calls++; ev.Err != nil {
			a.CallsFailed++
		}
	}
	id := in.calls + ev.ID + "/"
	name, ran := t.serving[id]
	if !ran {
		return
	}
	delete(t.serving, id)
	a := t.agents.at(name)
	a.Took += ev.Took
	if a.Runs++; ev.Err != nil {
		a.Failed++
	}
}

// agentLines returns what agents did, a sentence each.
func (t *Tally) agentLines() (lines []string) {
	for i, name := range t.agents.keys {
		a := t.agents.values[i]
		how := "none failed"
		if a.Failed > 0 {
			how = fmt.Sprintf("%d without a report", a.Failed)
		}
		lines = append(lines, fmt.Sprintf("Agent %s: called %s, %s, %s; %s, %s, %s in, %s out.",
			inSentence(name), text.Count(a.Runs, "time"), how,
			Duration(a.Took), text.Count(a.all.Requests, "request"), text.Count(a.Calls,
				"tool call"), text.Count(a.all.Tokens.Prompt, "token"), text.Number(a.all.Tokens.Candidates)))
	}
	return lines
}
