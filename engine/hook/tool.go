package hook

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/text"
)

// stopExecution is the error class of a call that ends the run.
const stopExecution = "stop_execution"

// mostTails is how often in a row hooks may replace a call by another.
const mostTails = 10

// Tools returns the tools of ts with hooks that see each call before it is judged, and its
// result. If a hook replaces a call, policy, which [Hooks.Policy] has returned, judges the
// new call.
func (h *Hooks) Tools(ts engine.Toolset, policy engine.Policy) engine.Toolset {
	if !h.any(BeforeTool, AfterTool) {
		return ts
	}
	o := observed{h, ts, policy}
	return engine.Map(ts, func(t engine.Tool) engine.Tool { return o.tool(t, "", mostTails) })
}

// observed wraps tools so that hooks see their calls.
type observed struct {
	hooks  *Hooks
	tools  engine.Toolset
	policy engine.Policy
}

// tool returns t with its hooks. A call of t replaces a call of the tool original, if not empty;
// tails is how many more calls may replace it.
func (o observed) tool(t engine.Tool, original string, tails int) engine.Tool {
	prepare := t.Prepare
	t.Prepare = func(ctx context.Context, args map[string]any) (engine.Call, error) {
		if err := o.hooks.ending(); err != nil {
			return engine.Call{}, &engine.CallError{Type: stopExecution, Message: err.Error()}
		}
		if args == nil {
			args = map[string]any{}
		}
		in := toolInput(t, args, original)
		before := o.hooks.fire(ctx, BeforeTool, t.Name(), in)
		switch {
		case before.Stop:
			return titled(ctx, prepare, args), o.hooks.halt(before)
		case before.Decision == block:
			return titled(ctx, prepare, args), &engine.CallError{Type: engine.PolicyViolation,
				Message: "Tool execution blocked: " + before.Why(),
				Display: text.OneLine("denied by hook "+before.HookNames+": "+before.Why(), longest)}
		}
		changed := before.object("tool_input")
		if changed != nil {
			args = changed
		}
		call, err := prepare(ctx, args)
		if err != nil && changed != nil {
			return call, &engine.CallError{Type: engine.InvalidToolParams,
				Message: "Tool parameter modification by hook failed validation: " + err.Error()}
		}
		if err != nil {
			return call, err
		}
		if changed != nil {
			call.Args = args
		}
		if before.Decision == ask {
			call.Intent.Ask, call.Intent.Grants = "hook "+before.HookNames+" wants to ask: "+before.Why(), nil
		}
		run := call.Run
		call.Run = func(ctx context.Context, host engine.Host) (engine.Result, error) {
			res, err := run(ctx, host)
			if ctx.Err() != nil || engine.Outcome(err) == engine.Cancelled {
				return res, err
			}
			if changed != nil {
				res, err = appended(res, err,
					"[System] Tool input parameters were modified by a hook before execution.")
			}
			if call.Rehearsed { // hooks would read files without the edits, or change them
				return res, err
			}
			r := ran{t, in.with("tool_input", args), res, err, call.Extend}
			return o.after(ctx, host, r, cmp.Or(original, t.Name()), tails)
		}
		return call, nil
	}
	return t
}

// titled returns a call that has only the title of the call with args. It can't run.
func titled(
	ctx context.Context, prepare func(context.Context, map[string]any) (engine.Call, error), args map[string]any,
) (c engine.Call) {
	call, _ := prepare(ctx, args) // the error does not matter here
	c.Intent.Title = call.Intent.Title
	return c
}

// halt ends the run, and returns the error of the current call.
func (h *Hooks) halt(a Answer) error {
	h.stopped.Store(&end{stopped: true, why: a.Why()})
	return &engine.CallError{Type: stopExecution, Message: "Agent execution stopped by hook: " + a.Why()}
}

// toolInput returns the input of hooks about a call.
func toolInput(t engine.Tool, args map[string]any, original string) fields {
	in := fields{{"tool_name", t.Name()}, {"tool_input", args}}
	if t.Server != "" {
		in = append(in, field{"mcp_context", merged(t.Origin, map[string]any{"server_name": t.Server, "tool_name": t.ServerTool})})
	}
	if original != "" {
		in = append(in, field{"original_request_name", original})
	}
	return in
}

// ran is a call that has run.
type ran struct {
	tool   engine.Tool
	in     fields
	res    engine.Result
	err    error
	extend func(ctx context.Context)
}

// after returns the result of a call of the tool original after hooks have seen it.
func (o observed) after(
	ctx context.Context, host engine.Host, r ran, original string, tails int,
) (engine.Result, error) {
	in := append(r.in, field{"tool_response", toolResponse(r.res, r.err)})
	calls := o.hooks.calls(ctx, AfterTool, r.tool.Name(), in)
	if len(calls) > 0 && r.extend != nil {
		r.extend(context.WithoutCancel(ctx)) // before a replacing call
	}
	after := o.hooks.settle(ctx, AfterTool, calls)
	none := engine.Result{Changes: r.res.Changes}
	switch {
	case after.Stop:
		return none, o.hooks.halt(after)
	case after.Decision == block:
		return none, &engine.CallError{Type: engine.ExecutionFailed, Message: after.Why(),
			Display: text.OneLine("Tool result blocked: "+after.Why(), longest)}
	}
	next := after.object("tailToolCallRequest")
	if next != nil && tails > 0 {
		tc := tailCall{}
		tc.name, _ = next["name"].(string)
		tc.args, _ = next["args"].(map[string]any)
		tc.id = fmt.Sprintf("%s__tail_%d", tc.name, o.hooks.tails.Add(1))
		return o.replace(ctx, host, r, tc, original, tails-1)
	}
	if next != nil {
		o.hooks.notices.warn("hooks have put %d calls in the place of one; the last one's result stays as it is", mostTails)
	}
	if more := after.context(); more != "" {
		return appended(r.res, r.err, more)
	}
	return r.res, r.err
}

// A tailCall is a call that replaces another.
type tailCall struct {
	id, name string
	args     map[string]any
}

// replace runs tc in the place of r, a call of the tool original. It emits the events of any
// call, so that tc is counted, recorded and shown.
func (o observed) replace(
	ctx context.Context, host engine.Host, r ran, tc tailCall, original string, tails int,
) (engine.Result, error) {
	h := tailHost{host, tc.id}
	host.Emit(engine.CallRequested{ID: tc.id, Name: tc.name, Args: tc.args})
	f := o.tail(ctx, h, tc, original, tails)
	state := engine.Outcome(f.Err)
	host.Emit(engine.CallStateChanged{ID: tc.id, Name: tc.name, State: state})
	host.Emit(f)
	res := f.Result
	res.Changes, res.Cut, res.Verdict = r.res.Changes, r.res.Cut, r.res.Verdict // since tc's own call counts its changes
	res.Display = text.OneLine("a hook had "+tc.name+" take its place", longest)
	last := engine.TailCall{Name: tc.name, Args: f.Args, State: state, Display: f.Result.Display}
	var err error
	if f.Err != nil { // tc's events report its class; this call's class is unknown
		last.Display = engine.DisplayError(f.Err)
		err = &engine.CallError{Type: engine.ExecutionFailed, Message: f.Err.Error(), Display: res.Display + ": " + last.Display}
	}
	res.Tails = append([]engine.TailCall{last}, res.Tails...)
	return res, err
}

// tail carries out tc, which replaces a call of the tool original.
func (o observed) tail(
	ctx context.Context, h tailHost, tc tailCall, original string, tails int,
) (f engine.CallFinished) {
	f = engine.CallFinished{ID: tc.id, Name: tc.name, Args: tc.args}
	at := func(s engine.CallState) { h.Emit(engine.CallStateChanged{ID: tc.id, Name: tc.name, State: s}) }
	at(engine.Validating)
	all := o.tools.Tools()
	i := slices.IndexFunc(all, func(t engine.Tool) bool { return t.Name() == tc.name })
	if i < 0 {
		f.Err = &engine.CallError{Type: engine.ToolNotRegistered,
			Message: "A hook asks for the tool " + tc.name + ", which is not there."}
		return f
	}
	f.Server = all[i].Server
	p := engine.Proposal{ID: tc.id, Tool: o.tool(all[i], original, tails), Args: tc.args}
	s, err := engine.Authorize(ctx, p, o.policy, h, func() error {
		f.Asked = true
		at(engine.AwaitingApproval)
		return nil
	})
	f.Intent = s.Intent
	if f.Err = cmp.Or(err, s.Err); f.Err != nil {
		return f
	}
	f.Args = s.Args
	at(engine.Scheduled)
	at(engine.Executing)
	h.Emit(engine.CallStarted{ID: tc.id, Name: tc.name, Intent: s.Intent, Agreed: s.Agreed})
	began := time.Now()
	f.Result, f.Err = s.Run(ctx, h)
	f.Took = time.Since(began)
	return f
}

// A tailHost is the host of a call that replaces another.
type tailHost struct {
	engine.Host
	id string
}

// Emit implements [engine.Host].
func (h tailHost) Emit(ev engine.Event) {
	switch e := ev.(type) {
	case engine.Output:
		e.ID = cmp.Or(e.ID, h.id)
		ev = e
	case engine.NestedEvent:
		e.ID = cmp.Or(e.ID, h.id)
		ev = e
	}
	h.Host.Emit(ev)
}

// Approve implements [engine.Host].
func (h tailHost) Approve(ctx context.Context, p engine.Proposal) (engine.Answer, error) {
	p.ID = cmp.Or(p.ID, h.id)
	return h.Host.Approve(ctx, p)
}

// appended returns the result of a call with an appended text.
func appended(res engine.Result, err error, more string) (engine.Result, error) {
	if err == nil {
		res.Text += "\n\n" + more
		return res, nil
	}
	return res, &noted{err, more}
}

// noted is the error of a call with an appended text.
type noted struct {
	error
	more string
}

func (n *noted) Error() string { return n.error.Error() + "\n\n" + n.more }
func (n *noted) Unwrap() error { return n.error }

// toolResponse returns the result of a call in the form that hooks read.
func toolResponse(res engine.Result, err error) map[string]any {
	out := map[string]any{"llmContent": res.Text, "returnDisplay": res.Display}
	if err != nil {
		out["llmContent"], out["returnDisplay"] = err.Error(), engine.DisplayError(err)
		out["error"] = map[string]any{"message": err.Error(), "type": engine.ErrorType(err)}
	}
	return out
}

// Policy returns a policy around p that asks about an allowed call if a hook requires it.
func (h *Hooks) Policy(p engine.Policy) engine.Policy {
	if !h.any(BeforeTool, AfterTool) {
		return p
	}
	return asking{p}
}

type asking struct{ engine.Policy }

// Judge implements [engine.Policy].
func (a asking) Judge(ctx context.Context, p engine.Proposal) (engine.Verdict, engine.Reason) {
	verdict, reason := a.Policy.Judge(ctx, p)
	if verdict == engine.Allow && p.Intent.Ask != "" {
		verdict = engine.Ask
	}
	return verdict, reason
}

// Approver returns an approver around a that notifies hooks of each question.
func (h *Hooks) Approver(a engine.Approver) engine.Approver {
	if !h.any(Notification) {
		return a
	}
	return notifying{a, h}
}

type notifying struct {
	engine.Approver
	hooks *Hooks
}

// Approve implements [engine.Approver].
func (n notifying) Approve(ctx context.Context, p engine.Proposal) (engine.Answer, error) {
	kind, message := "info", "information"
	details := map[string]any{"title": p.Intent.Title}
	switch i := p.Intent; {
	case len(i.Questions) > 0:
		kind = "ask_user"
	case p.Tool.Server != "":
		kind, message = "mcp", "MCP"
		details["serverName"], details["toolName"] = p.Tool.Server, p.Tool.Name()
		details["toolDisplayName"], details["toolArgs"] = p.Tool.Label, p.Args
	case p.Tool.Kind == engine.Edit:
		kind, message = "edit", "editing"
		details["fileDiff"] = i.Detail
		if len(i.Paths) > 0 {
			details["fileName"], details["filePath"] = filepath.Base(i.Paths[0]), i.Paths[0]
		}
	case p.Tool.Kind == engine.Execute:
		kind, message = "exec", "execution"
		details["command"] = i.Detail
		programs := []string{} // a list even if empty
		for _, c := range i.Plan.Commands {
			if name, known := c.Program(); known {
				programs = append(programs, name)
			}
		}
		details["rootCommands"], details["rootCommand"] = programs, strings.Join(programs, ", ")
	default:
		details["prompt"] = i.Detail
	}
	details["type"] = kind
	n.hooks.fire(ctx, Notification, "", fields{{"notification_type", "ToolPermission"},
		{"message", "Tool " + p.Intent.Title + " requires " + message}, {"details", details}})
	return n.Approver.Approve(ctx, p)
}
