package telemetry

import (
	"fmt"
	"log/slog"
	"strings"

	"gemline/engine"
)

// nested records that an agent begins with what a call is about, and counts its requests.
func (p *prompt) nested(ev engine.Nested, c *call) {
	if c.agent == "" {
		c.agent = ev.Agent
		p.r.Log(Event{Name: "gemini_cli.agent.start", Body: fmt.Sprintf("Agent %s started.", c.agent), Attrs: agentAttrs(ev.ID, c), within: c.span.spanContext})
	}
	if _, asks := ev.Event.(engine.Requested); asks {
		c.turns++
	}
}

// agentOver records that an agent is over, and why.
func (p *prompt) agentOver(ev engine.Finished, c *call) {
	why := "GOAL"
	switch {
	case ev.Err == nil:
	case engine.Outcome(ev.Err) == engine.Cancelled:
		why = "ABORTED"
	default: // the classes of such calls are its words
		why = strings.ToUpper(strings.TrimPrefix(engine.ErrorType(ev.Err), "agent_"))
	}
	reason := slog.String("terminate_reason", why)
	p.r.Log(Event{Name: "gemini_cli.agent.finish", Body: fmt.Sprintf("Agent %s finished. Reason: %s. Duration: %dms. Turns: %d.", c.agent, why, ev.Took.Milliseconds(), c.turns),
		Attrs:  append(agentAttrs(ev.ID, c), millis("duration_ms", ev.Took), slog.Int("turn_count", c.turns), reason),
		within: c.span.spanContext})
	name := slog.String("agent_name", c.agent)
	p.r.Measure(AgentRuns, 1, name, reason)
	p.r.Measure(AgentDuration, float64(ev.Took.Milliseconds()), name)
	p.r.Measure(AgentTurns, float64(c.turns), name)
}

func agentAttrs(id string, c *call) []slog.Attr {
	return []slog.Attr{slog.String("agent_id", id), slog.String("agent_name", c.agent)}
}
