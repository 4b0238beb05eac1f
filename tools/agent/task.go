package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/tools/agent/remote"
)

// A reason is why an agent stopped.
type reason string

// The reasons. Work that is cancelled or fails has no reason.
const (
	goal       reason = "GOAL"
	timeout    reason = "TIMEOUT"
	maxTurns   reason = "MAX_TURNS"
	noComplete reason = "ERROR_NO_COMPLETE_TASK_CALL"
)

// class returns the error class of a call that failed for the reason.
func (r reason) class() string { return "agent_" + strings.ToLower(string(r)) }

// grace is the extra time for the report of an agent that exceeded a limit.
const grace = time.Minute

// A Task is one call of an agent. The agent's conversation calls its methods, on the
// goroutine that ranges over the conversation.
type Task struct {
	ID     string
	Agent  Definition
	Prompt string
	Model  string // of the calling conversation

	host     engine.Host
	begin    func(*Task) (*Session, error)
	clock    clock
	report   engine.Tool
	reported any // the report; nil until there is one
	last     bool
	reason   reason
}

func newTask(c call, host engine.Host) (*Task, error) {
	id, err := uuid.NewRandom()
	t := &Task{ID: id.String(), Agent: c.agent, Prompt: c.words(), Model: c.model, host: host, begin: c.Begin}
	t.report = c.agent.Report.tool(func(report any) { t.reported = report })
	return t, err
}

// Turns returns how many requests the agent may make.
func (d Definition) Turns() int { return cmp.Or(d.Limits.Requests, DefaultTurns) }

// Limit returns how long the agent may take.
func (d Definition) Limit() time.Duration {
	if d.Remote != nil {
		return cmp.Or(d.Limits.Time, remote.DefaultTime)
	}
	return cmp.Or(d.Limits.Time, defaultTime)
}

// converse runs the agent's conversation. It returns an error if there is no outcome.
func (t *Task) converse(ctx context.Context) error {
	c, err := t.begin(t)
	if err != nil {
		return err
	}
	defer func() {
		if report := ""; c.End != nil {
			if t.reason == goal {
				report = t.outcome()
			}
			c.End(report)
		}
	}()
	if t.reason, err = t.work(ctx, c.Run, t.Prompt, t.Agent.Turns(), t.Agent.Limit()); err != nil || t.reason == goal {
		return err
	}
	t.last = true
	t.Emit(engine.Notice{Info: true, Text: t.why() + "; it is asked for its report once more",
		Cause: engine.Recovery{Reason: string(t.reason)}})
	reason, err := t.work(ctx, c.Run, t.why()+". You have one final chance to complete the task, and little time: call "+
		completeName+" now with your results so far, and name the gaps. No other call is carried out.", 1, grace)
	if err == nil && reason == goal {
		t.reason = goal
	}
	if ctx.Err() == nil { // a failure of the second attempt is not the reason
		err = nil
	}
	return err
}

// work sends a message to the agent, and returns why its turn ended.
func (t *Task) work(ctx context.Context, run engine.Run, said string, most int, d time.Duration) (reason, error) {
	ctx, stop := t.clock.start(ctx, d)
	defer stop()
	open, reported := 0, false
	for ev, err := range run(ctx, genai.NewPartFromText(said)) {
		switch {
		case reported && (err != nil || context.Cause(ctx) == errLate):
			return goal, nil
		case context.Cause(ctx) == errLate:
			return timeout, nil
		case errors.Is(err, engine.ErrMaxTurns):
			return maxTurns, nil
		case err != nil:
			return "", err
		}
		if _, asks := ev.(engine.RequestStarted); asks {
			if most--; most < 0 {
				return maxTurns, nil
			}
		}
		t.Emit(ev)
		switch ev := ev.(type) {
		case engine.CallRequested:
			open++
		case engine.CallFinished:
			open--
			reported = reported || ev.Name == completeName && ev.Err == nil
		}
		if reported && open == 0 { // parallel calls have ended, too
			return goal, nil
		}
	}
	return noComplete, nil
}

// why returns why the work ended without a report.
func (t *Task) why() string {
	switch t.reason {
	case timeout:
		return fmt.Sprintf("Agent timed out after %g minutes", t.Agent.Limit().Minutes())
	case maxTurns:
		return fmt.Sprintf("Agent reached max turns limit (%d)", t.Agent.Turns())
	}
	return "Agent stopped calling tools but did not call 'complete_task'"
}

// outcome describes the result of the work.
func (t *Task) outcome() string {
	if t.reason == goal {
		return t.Agent.Report.words(t.reported)
	}
	return t.why() + "."
}

// Emit passes an event of the agent's conversation to the calling conversation.
func (t *Task) Emit(ev engine.Event) {
	t.clock.still(func() { t.host.Emit(engine.NestedEvent{Agent: t.Agent.Name, Event: ev}) })
}

// Approve implements [engine.Approver] for the agent's conversation.
func (t *Task) Approve(ctx context.Context, p engine.Proposal) (answer engine.Answer, err error) {
	p.Agent = cmp.Or(p.Agent, t.Agent.Name)
	t.clock.still(func() { answer, err = t.host.Approve(ctx, p) })
	return answer, err
}

// Instruction returns the agent's instruction, with its placeholders replaced by the values
// in more.
func (t *Task) Instruction(more map[string]string) string {
	values := maps.Clone(more)
	values[cmp.Or(t.Agent.Prompt.Input, "query")] = t.Prompt
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, "${"+name+"}", values[name])
	}
	return strings.NewReplacer(pairs...).Replace(t.Agent.Prompt.Text)
}

// Rules returns what all agents are told.
func Rules() string { return doc("rules") }

// Tools returns the agent's tools: the allowed tools of ts and the report tool. Calls of
// other tools are refused.
func (t *Task) Tools(ts engine.Toolset) engine.Toolset {
	own := engine.Map(ts, func(tool engine.Tool) engine.Tool {
		if !t.Agent.Access.allows(tool) {
			tool.Prepare = unauthorized(tool.Name())
		}
		return tool
	})
	return toolset(func() []engine.Tool {
		if t.last {
			return []engine.Tool{t.report}
		}
		list := append(own.Tools(), t.report, nested)
		seen := map[string]bool{} // the agent's own servers win over others with their names
		return slices.DeleteFunc(list, func(tool engine.Tool) bool {
			twice := seen[tool.Name()]
			seen[tool.Name()] = true
			return twice
		})
	})
}

// nested stands for the tool that calls agents; agents may not call it.
var nested = engine.Tool{Declaration: &genai.FunctionDeclaration{Name: ToolName}, Prepare: unauthorized(ToolName)}

type toolset func() []engine.Tool

// Tools implements [engine.Toolset].
func (f toolset) Tools() []engine.Tool { return f() }

// unauthorized prepares no call: it tells the agent that the tool is not its own.
func unauthorized(name string) func(context.Context, map[string]any) (engine.Call, error) {
	return func(context.Context, map[string]any) (engine.Call, error) {
		return engine.Call{}, &engine.CallError{Type: engine.ToolNotRegistered,
			Message: "Unauthorized tool call: '" + name + "' is not available to this agent."}
	}
}

// allows reports whether the agent may call a tool.
func (a Access) allows(t engine.Tool) bool {
	switch {
	case t.Kind == engine.AskUser, t.Kind == engine.Planning, t.Name() == ToolName, t.Name() == "update_topic",
		matches(a.Except, t.Name()):
		return false
	case a.Tools == nil, t.Server != "" && (a.Servers[t.Server] != nil || a.UserServers[t.Server] != nil):
		return true
	}
	return matches(a.Tools, t.Name())
}

// matches reports whether a pattern matches a name.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// readOnly reports whether all of the agent's tools are read-only.
func (a Access) readOnly(ts engine.Toolset) bool {
	return len(a.Servers)+len(a.UserServers) == 0 && !slices.ContainsFunc(ts.Tools(), func(t engine.Tool) bool {
		return a.allows(t) && !t.Kind.ReadOnly()
	})
}

// Policy returns p for the agent's calls.
func (t *Task) Policy(p engine.Policy) engine.Policy { return judged{p, t} }

type judged struct {
	engine.Policy
	task *Task
}

// Offers implements [engine.Policy].
func (j judged) Offers(t engine.Tool) bool {
	t.Agent = j.task.Agent.Name
	return t.Name() == completeName || j.task.Agent.Access.allows(t) && j.Policy.Offers(t)
}

// Judge implements [engine.Policy].
func (j judged) Judge(ctx context.Context, p engine.Proposal) (engine.Verdict, engine.Reason) {
	if p.Tool.Name() == completeName {
		return engine.Allow, engine.Reason{}
	}
	p.Agent = cmp.Or(p.Agent, j.task.Agent.Name)
	return j.Policy.Judge(ctx, p)
}
