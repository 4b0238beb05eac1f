package agent

import (
	"cmp"
	"context"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/agent/remote"
)

// Notes for the model behind the report of a remote agent.
const (
	openNote = "[The agent waits for an answer. Call it again with that: it goes on where it is.]"
	authNote = "[The agent needs an authorization that only the user can give, there and not here. Tell the user what it says, and call it again when that is done.]"
)

// remoteIntent returns the intent to send a message to another server.
func (c call) remoteIntent() engine.Intent {
	title := "call remote agent " + c.agent.Name + " on " + c.agent.Remote.Host()
	in := engine.Intent{Title: title, Detail: "the prompt:\n  " +
		strings.ReplaceAll(c.words(), "\n", "\n  ") + "\n",
		Grants: []engine.Grant{{Label: "always " + c.agent.Name, Tool: ToolName,
			Target: c.agent.Name + " " + c.agent.Fingerprint}}}
	if short := text.OneLine(c.words(), longestTitle); short == c.words() {
		in.Title += ": " + short
		in.Detail = ""
	}
	return in
}

func (c call) words() string { return cmp.Or(strings.TrimSpace(c.prompt), "Get Started!") }

// ask sends the task to an agent on another server.
func (c call) ask(ctx context.Context, host engine.Host) (engine.Result, error) {
	tell := func(ev engine.Event) { host.Emit(engine.NestedEvent{Agent: c.agent.Name, Event: ev}) }
	a, err := c.Remote(c.agent).Ask(ctx, c.words(), func(words string) {
		tell(engine.Text{Delta: words})
	})
	tell(engine.AnswerFinished{}) // counts the agent even if it said nothing
	if ctx.Err() != nil {
		return engine.Result{}, ctx.Err()
	}
	said := a.Text
	if said != "" {
		said = text.Untrusted(said)
	}
	if err != nil {
		message := "Error calling remote agent: " + err.Error()
		if remote.FromServer(err) {
			message = "Error calling remote agent: " + text.Untrusted(err.Error())
		}
		if said != "" {
			message = said + "\n\n" + message
		}
		return engine.Result{}, &engine.CallError{Type: "agent_error", Message: message,
			Display: "the agent failed: " + engine.DisplayError(err)}
	}
	if a.Failed != "" {
		why := "the agent has ended its task as " + a.Failed
		return engine.Result{}, &engine.CallError{Type: "agent_" + a.Failed,
			Message: strings.TrimPrefix(said+"\n\n["+why+"]", "\n\n"),
			Display: why + ": " + text.OneLine(a.Text, longestTitle)}
	}
	r := c.result("", cmp.Or(said, "The agent has nothing to say."))
	r.Display = cmp.Or(a.Text, r.Display)
	switch {
	case a.Open:
		r.Text, r.Verdict = r.Text+"\n\n"+openNote, "wants an answer"
	case a.Refused:
		r.Text, r.Verdict = r.Text+"\n\n"+authNote, "wants an authorization"
	}
	return r, nil
}
