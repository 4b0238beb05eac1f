package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/agent/remote"
	"gemline/tools/toolkit"
)

// ToolName is the name of the tool that calls agents.
const ToolName = "invoke_agent"

// Config has the dependencies of the tool.
type Config struct {
	// Agents returns the current agents, including those that can't be called.
	Agents func() []Definition

	// Tools are the tools of the calling conversation.
	Tools engine.Toolset

	// Model returns the model of the calling conversation. It is called when a call is
	// prepared.
	Model func() string

	// Begin begins the conversation of a task.
	Begin func(*Task) (*Session, error)

	// Remote returns the Asker for a remote agent.
	Remote func(Definition) Asker

	// Cut shortens a report that is too long for the model. Nil shortens none.
	Cut func(report string) (string, engine.Cut)
}

// An Asker asks an agent on another server, and reports its messages while it works.
type Asker interface {
	Ask(ctx context.Context, words string, tell func(string)) (remote.Answer, error)
}

// A Session is an agent's conversation about its task.
type Session struct {
	Run engine.Run

	// End is called after the conversation. Goal is the report, "" if there is none.
	End func(goal string)
}

const invokeSchema = `{"type":"object","properties":{
"agent_name":{"type":"string","description":"One of the available agents"},
"prompt":{"type":"string","description":"The whole task: what is wanted, what is known, what the report must hold"}},
"required":["agent_name","prompt"]}`

type invokeArgs struct {
	Name   string `json:"agent_name"`
	Prompt string `json:"prompt"`
}

// Tool returns the tool that calls agents.
func Tool(cfg Config) engine.Tool {
	t := toolkit.Define(ToolName, "Invoke Agent", engine.Think, doc(ToolName), invokeSchema,
		func(_ context.Context, a invokeArgs) (engine.Call, error) {
			d, err := cfg.find(a.Name)
			if err != nil {
				return engine.Call{}, err
			}
			c := call{cfg, d, a.Prompt, cfg.Model()}
			if d.Remote != nil {
				return engine.Call{Intent: c.remoteIntent(), Run: c.ask}, nil
			}
			title := d.Name
			if a.Prompt != "" {
				title += ": " + text.OneLine(a.Prompt, longestTitle)
			}
			return engine.Call{Intent: engine.Intent{Title: title}, Run: c.run}, nil
		})
	t.Parallel = true
	t.KindOf = func(args map[string]any) engine.Kind {
		name, _ := args["agent_name"].(string)
		switch d, err := cfg.find(name); {
		case err != nil:
		case d.Remote != nil:
			return engine.Fetch
		case !d.Access.readOnly(cfg.Tools):
			return engine.Other
		}
		return engine.Think
	}
	t.When = func() bool {
		return slices.ContainsFunc(cfg.Agents(), func(d Definition) bool { return d.DisabledReason == "" })
	}
	return t
}

const longestTitle = 80 // characters of a task

// find returns the agent with a name.
func (cfg Config) find(name string) (Definition, error) {
	var names []string
	for _, d := range cfg.Agents() {
		if d.Name == name && d.DisabledReason != "" {
			return d, &engine.CallError{Type: engine.PolicyViolation,
				Message: fmt.Sprintf("The agent %s can't be called: %s.", name, d.DisabledReason), Display: "denied: " + d.DisabledReason}
		}
		if d.Name == name {
			return d, nil
		}
		if d.DisabledReason == "" {
			names = append(names, d.Name)
		}
	}
	message := fmt.Sprintf("Subagent '%s' not found.", text.Shorten(name, longestTitle))
	if near := text.Nearest(name, names); near != "" {
		message += fmt.Sprintf(" Did you mean '%s'?", near)
	} else if len(names) > 0 {
		message += " There are: " + text.List(names) + "."
	}
	return Definition{}, &engine.CallError{Type: engine.InvalidToolParams, Message: message}
}

// A call is a call of the tool, with its agent and model.
type call struct {
	Config
	agent  Definition
	prompt string
	model  string
}

func (c call) run(ctx context.Context, host engine.Host) (engine.Result, error) {
	t, err := newTask(c, host)
	if err == nil {
		err = t.converse(ctx)
	}
	if ctx.Err() != nil {
		return engine.Result{}, ctx.Err()
	}
	if err != nil {
		return engine.Result{}, &engine.CallError{Type: "agent_error",
			Display: "the agent failed: " + engine.DisplayError(err),
			Message: fmt.Sprintf("Subagent '%s' failed. Error: %v", c.agent.Name, err), Cause: err}
	}
	said := t.outcome()
	message := fmt.Sprintf("Subagent '%s' finished.\nTermination Reason: %s\nResult:\n", c.agent.Name, t.reason)
	if t.reason != goal {
		return engine.Result{}, &engine.CallError{Type: t.reason.class(), Message: message + said, Display: said}
	}
	r := c.result(message, said)
	if c.agent.Report.Display == nil {
		r.Display = cmp.Or(displayReport(t.reported), r.Display)
	}
	return r, nil
}

// result returns a report as a result.
func (c call) result(message, said string) engine.Result {
	r := engine.Result{Text: said, Display: said}
	if c.Cut != nil {
		r.Text, r.Cut = c.Cut(said)
	}
	r.Text = message + r.Text
	return r
}
