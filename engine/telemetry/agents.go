package telemetry

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"gemline/engine"
)

// nested records the start of an agent in a call, and the agent's own calls, and counts its requests.
func (p *prompt) nested(ev engine.NestedEvent, c *call) {
	if c.agent == "" {
		c.agent = ev.Agent
		p.r.Log(Event{Name: "gemini_cli.agent.start",
			Body: fmt.Sprintf("Agent %s started.", c.agent), Attrs: agentAttrs(ev.ID, c), within: c.span.spanContext})
	}
	p.call(ev.Event, c.calls, c.span.spanContext)
	switch said := ev.Event.(type) {
	case engine.RequestStarted:
		c.turns++
	case engine.Notice:
		if why, ok := said.Cause.(engine.Recovery); ok {
			c.again = again{why.Reason, time.Now()}
		}
	}
}

// An again is a second request for an agent's report, with its reason and time.
type again struct {
	reason string
	at     time.Time
}

// recovered records the outcome of an agent's second request for a report, if any.
func (p *prompt) recovered(ev engine.CallFinished, c *call) {
	if c.again.reason == "" {
		return
	}
	took, success := time.Since(c.again.at), ev.Err == nil
	reason := slog.String("reason", c.again.reason)
	p.r.Log(Event{Name: "gemini_cli.agent.recovery_attempt",
		Body: fmt.Sprintf("Agent %s recovery attempt. Reason: %s. Success: %v. Duration: %dms.",
			c.agent, c.again.reason, success, took.Milliseconds()),
		Attrs: append(agentAttrs(ev.ID, c), reason, millis("duration_ms", took),
			slog.Bool("success", success), slog.Int("turn_count", c.turns)),
		within: c.span.spanContext})
	name := slog.String("agent_name", c.agent)
	p.r.Measure(AgentRecoveries, 1, name, reason, slog.Bool("success", success))
	p.r.Measure(AgentRecoveryDuration, float64(took.Milliseconds()), name)
}

// agentOver records the end of an agent, and the reason.
func (p *prompt) agentOver(ev engine.CallFinished, c *call) {
	why := "GOAL"
	switch {
	case ev.Err == nil:
	case engine.Outcome(ev.Err) == engine.Cancelled:
		why = "ABORTED"
	default: // the error classes of agents' calls match its words
		why = strings.ToUpper(strings.TrimPrefix(engine.ErrorType(ev.Err), "agent_"))
	}
	p.recovered(ev, c)
	reason := slog.String("terminate_reason", why)
	p.r.Log(Event{Name: "gemini_cli.agent.finish",
		Body: fmt.Sprintf("Agent %s finished. Reason: %s. Duration: %dms. Turns: %d.", c.agent,
			why, ev.Took.Milliseconds(), c.turns),
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
