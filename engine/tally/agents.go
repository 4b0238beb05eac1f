package tally

import (
	"fmt"
	"time"

	"gemline/engine"
	"gemline/engine/text"
)

// subagent is the role of agents' requests.
const subagent = "subagent"

// A scope identifies the conversation of an event: the enclosing calls, and the agent. Both
// are empty for the conversation with the user.
type scope struct{ calls, agent string }

// inside returns the scope of an agent's events inside a call.
func (in scope) inside(ev engine.NestedEvent) scope { return scope{in.calls + ev.ID + "/", ev.Agent} }

// role returns the role of requests of the conversation.
func (in scope) role() string {
	if in.agent != "" {
		return subagent
	}
	return main
}

// An agent holds the counts of an agent over all its conversations.
type agent struct {
	Runs        int    `json:"runs"`
	Failed      int    `json:"failed"`
	Took        millis `json:"durationMs"`
	all                // its requests, whose fields are inlined in JSON
	Calls       int    `json:"totalCalls"`
	CallsFailed int    `json:"totalFail"`
}

type all = role

// agentLines returns a sentence about each agent.
func agentLines(agents list[agent]) (lines []string) {
	for i, name := range agents.keys {
		a := agents.values[i]
		how := "none failed"
		if a.Failed > 0 {
			how = fmt.Sprintf("%d without a report", a.Failed)
		}
		lines = append(lines, fmt.Sprintf("Agent %s: called %s, %s, %s; %s, %s, %s in, %s out.",
			inSentence(name), text.Count(a.Runs, "time"), how,
			Duration(time.Duration(a.Took)), text.Count(a.all.Requests, "request"), text.Count(a.Calls,
				"tool call"), text.Count(a.all.Tokens.Prompt, "token"), text.Number(a.all.Tokens.Candidates)))
	}
	return lines
}
