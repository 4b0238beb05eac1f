package report

import (
	"errors"
	"slices"

	"gemline/engine"
	"gemline/repl/output"
	"gemline/repl/question"
)

// A Denial is a call that was not made because the policy denied it, or because no user could be
// asked.
type Denial struct {
	Tool  string       `json:"tool"`
	ID    string       `json:"tool_id"`
	Agent string       `json:"agent,omitempty"` // the calling agent, "" for the conversation itself
	Title string       `json:"title,omitempty"`
	Why   string       `json:"why"`
	Allow string       `json:"allowed_by,omitempty"`
	Rule  *engine.Rule `json:"rule,omitempty"`
}

// deny stores a denied call of an agent or, if agent is "", of the conversation.
func (c *core) deny(agent string, ev engine.CallFinished) {
	d := Denial{Tool: output.Valid(ev.Name), ID: output.Valid(ev.ID), Agent: output.Valid(agent),
		Title: output.Valid(ev.Intent.Title)}
	var ce *engine.CallError
	switch {
	case ev.UnaskedAdvice != "":
		d.Why, d.Allow = "nobody could be asked", output.Valid(ev.UnaskedAdvice)
	case errors.As(ev.Err, &ce) && ce.Type == engine.PolicyViolation:
		d.Why = output.Valid(engine.DisplayError(ev.Err))
	case ce != nil && ce.Type == engine.NeedsConfirmation: // asked within the call, for example by a hook
		d.Why, d.Allow = "nobody could be asked", output.Valid(ce.Advice)
	case ce != nil && ce.MissingRights != "":
		d.Why, d.Allow = output.Valid(ce.MissingRights), output.Valid(ce.Advice)
	default:
		return
	}
	if ce != nil && ce.Rule != nil {
		d.Rule = &engine.Rule{File: output.Valid(ce.Rule.File), Line: ce.Rule.Line, Tier: output.Valid(ce.Rule.Tier),
			About: output.Valid(ce.Rule.About)}
	}
	c.denied = append(c.denied, d)
}

// denyAsked notes the call that ended a run because it would have been asked about. Its own event
// says only that the run was over.
func (c *core) denyAsked(err error) {
	var asked *question.AskedError
	if !errors.As(err, &asked) {
		return
	}
	p := asked.Call
	if !slices.ContainsFunc(c.denied, func(d Denial) bool { return d.ID == output.Valid(p.ID) }) {
		c.denied = append(c.denied, Denial{Tool: output.Valid(p.Tool.Name()), ID: output.Valid(p.ID), Agent: output.Valid(p.Agent),
			Title: output.Valid(p.Intent.Title), Why: "nobody could be asked", Allow: output.Valid(asked.Advice)})
	}
}
