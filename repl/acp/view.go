package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	protocol "github.com/coder/acp-go-sdk"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/steer"
	"gemline/engine/text"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/repl/question"
)

// A view shows a session in an editor. The goroutine of the running prompt owns its fields about
// the prompt.
type view struct {
	client *client
	id     protocol.SessionId
	talk   *Session
	ctx    context.Context // of the session

	calls map[string]*call // running calls
	used  map[string]int   // how many calls had an id: all checks share an id
	count *spent
}

// A call is a running call of a tool.
type call struct {
	id     protocol.ToolCallId // its id in the editor
	args   map[string]any
	shown  bool
	runs   bool   // it runs a program, in a terminal of the editor
	output []byte // the end of its output
	told   time.Time
}

const (
	longestTitle  = 300       // characters
	longestText   = 64 << 10  // bytes of a call's text
	longestOutput = 16 << 10  // bytes of a running program's output that are shown
	longestInput  = 64 << 10  // bytes of the arguments of a call
	longestEdit   = 512 << 10 // bytes of a file that is shown completely
	pace          = 500 * time.Millisecond
	todosName     = "write_todos"
)

// update sends the editor an update of the session.
func (v *view) update(what any) {
	v.client.conn.Notify(v.ctx, protocol.ClientMethodSessionUpdate, struct {
		Session protocol.SessionId `json:"sessionId"`
		Update  any                `json:"update"`
	}{v.id, what})
}

// A chunk is a piece of a message.
type chunk struct {
	Update  string `json:"sessionUpdate"`
	Content any    `json:"content"`
}

// words returns a text as content.
func words(s string) any { return protocol.ContentBlockText{Type: "text", Text: s} }

// say sends a text as the model's answer.
func (v *view) say(s string) { v.chunk("agent_message_chunk", s) }

// note sends a text beside the answer.
func (v *view) note(s string) { v.chunk("agent_thought_chunk", output.Escape(s)+"\n\n") }

// warn sends the editor a warning.
func (v *view) warn(s string) { v.note("warning: " + s) }

func (v *view) chunk(what, s string) {
	if s = v.client.plain(s); s != "" {
		v.update(chunk{what, words(s)})
	}
}

// line returns a text as a title.
func (v *view) line(s string) string {
	return output.EscapeLine(text.OneLine(v.client.plain(s), longestTitle))
}

// sources lists the sources of an answer.
func sources(ev engine.Citations) string {
	var b strings.Builder
	for _, r := range ev.References {
		if r.URI != "" {
			b.WriteString("\n- " + output.EscapeLine(r.String()))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\nSources:\n" + b.String() + "\n"
}

// kindOf returns the editors' word for a kind of call.
func kindOf(k engine.Kind) protocol.ToolKind {
	return map[engine.Kind]protocol.ToolKind{engine.Read: protocol.ToolKindRead,
		engine.Search: protocol.ToolKindSearch, engine.Fetch: protocol.ToolKindFetch,
		engine.Think: protocol.ToolKindThink, engine.Edit: protocol.ToolKindEdit, engine.Execute: protocol.ToolKindExecute,
		engine.Planning: protocol.ToolKindSwitchMode, engine.Query: protocol.ToolKindSearch, engine.Other: protocol.ToolKindOther, engine.AskUser: protocol.ToolKindOther}[k]
}

// call returns the state of a call. Its id begins with the ids of the calls that contain it,
// separated by blanks.
func (v *view) call(id string) *call {
	c := v.calls[id]
	if c == nil {
		name := id[strings.LastIndexByte(id, ' ')+1:]
		c = &call{id: protocol.ToolCallId(name)}
		if v.used[name]++; v.used[name] > 1 {
			c.id += protocol.ToolCallId(fmt.Sprintf("__%d", v.used[name]))
		}
		v.calls[id] = c
	}
	return c
}

// begin shows that a call begins, or waits for approval, with its intent.
func (v *view) begin(id, name, agent string, in engine.Intent, status protocol.ToolCallStatus,
	more []protocol.ToolCallContent) {
	c := v.call(id)
	if name == todosName && status == protocol.ToolCallStatusInProgress { // it is shown as a plan
		return
	}
	title := cmp.Or(in.Title, name)
	if agent != "" {
		title = agent + ": " + title
	}
	kind := kindOf(v.talk.Kind(name, c.args))
	content := append(v.detail(in, kind), more...)
	var meta map[string]any
	if v.client.can.shows && kind == protocol.ToolKindExecute && status == protocol.ToolCallStatusInProgress {
		c.runs = true
		content = append(content, protocol.ToolCallContent{Terminal: &protocol.ToolCallContentTerminal{Type: "terminal", TerminalId: string(c.id)}})
		meta = map[string]any{"terminal_info": map[string]any{"terminal_id": c.id, "cwd": in.Plan.Dir}}
	}
	if c.shown {
		v.update(protocol.SessionToolCallUpdate{SessionUpdate: "tool_call_update",
			ToolCallId: c.id, Status: &status, Content: content, Meta: meta})
		return
	}
	c.shown = true
	v.update(protocol.SessionUpdateToolCall{SessionUpdate: "tool_call",
		ToolCallId: c.id, Title: v.line(title), Kind: kind,
		Status: status, Content: content, Locations: locations(in), RawInput: v.input(c.args), Meta: meta})
}

// input returns the arguments of a call without secrets, nil if they are long.
func (v *view) input(args map[string]any) any {
	b, err := text.JSON(args, "")
	if err != nil || len(args) == 0 || len(b) > longestInput {
		return nil
	}
	clean := []byte(v.client.plain(string(b)))
	if !json.Valid(clean) {
		return nil
	}
	return json.RawMessage(clean)
}

// locations returns the files of a call.
func locations(in engine.Intent) (list []protocol.ToolCallLocation) {
	for _, path := range in.Paths {
		l := protocol.ToolCallLocation{Path: output.Valid(path)}
		if c, ok := question.ParseChange(in.Detail); ok && in.Edit != nil && in.Edit.Path == path {
			if _, from := c.Unified(true); from > 0 {
				l.Line = &from
			}
		}
		list = append(list, l)
	}
	return list
}

// detail describes the effect of a call.
func (v *view) detail(in engine.Intent, kind protocol.ToolKind) []protocol.ToolCallContent {
	if e := in.Edit; e != nil && len(e.Before)+len(e.After) <= longestEdit {
		what, before := "modify", new(v.client.plain(e.Before))
		if e.Created {
			what, before = "add", nil
		}
		return []protocol.ToolCallContent{{Diff: &protocol.ToolCallContentDiff{Type: "diff",
			Path: output.Valid(e.Path), OldText: before,
			NewText: v.client.plain(e.After), Meta: map[string]any{"kind": what}}}}
	}
	d := strings.TrimSpace(in.Detail)
	if d == "" || d == in.Title {
		return nil
	}
	language := map[protocol.ToolKind]string{protocol.ToolKindExecute: "sh", protocol.ToolKindEdit: "diff"}[kind]
	return v.text(text.Fenced(output.Escape(text.Shorten(d, longestText)), language))
}

// text returns a text as the content of a call, nil if it is empty.
func (v *view) text(s string) []protocol.ToolCallContent {
	if s = v.client.plain(s); s == "" {
		return nil
	}
	return []protocol.ToolCallContent{protocol.ToolContent(protocol.TextBlock(s))}
}

// printed shows output of a running program: at once if the editor has a terminal for it, otherwise
// the end of the output, now and then.
func (v *view) printed(ev engine.Output) {
	c := v.call(ev.ID)
	if !c.shown {
		return
	}
	u := protocol.SessionToolCallUpdate{SessionUpdate: "tool_call_update", ToolCallId: c.id}
	if c.runs {
		u.Meta = map[string]any{"terminal_output": map[string]any{"terminal_id": c.id,
			"data": terminalText(v.client.plain(ev.Delta))}}
		v.update(u)
		return
	}
	c.output = append(c.output, ev.Delta...)
	if n := len(c.output) - longestOutput; n > 0 {
		c.output = append(c.output[:0], c.output[n:]...)
	}
	if now := time.Now(); now.Sub(c.told) >= pace {
		c.told = now
		u.Content = v.end(c)
		v.update(u)
	}
}

// end returns the end of a call's output.
func (v *view) end(c *call) []protocol.ToolCallContent {
	if len(c.output) == 0 {
		return nil
	}
	return v.text(text.Fenced(output.Sanitize(string(validEnd(c.output))), ""))
}

// terminalText returns output for a terminal of the editor, without control characters.
func terminalText(s string) string { return strings.ReplaceAll(output.Sanitize(s), "\n", "\r\n") }

// validEnd returns b from its first complete character on.
func validEnd(b []byte) []byte {
	for len(b) > 0 && !utf8.RuneStart(b[0]) {
		b = b[1:]
	}
	return b
}

// finish shows the outcome of a call.
func (v *view) finish(ev engine.CallFinished, agent string) {
	c := v.call(ev.ID)
	defer delete(v.calls, ev.ID)
	if ev.Name == todosName && ev.Err == nil {
		v.plan(ev.Args)
		return
	}
	status := protocol.ToolCallStatusCompleted
	said := ev.Result.Display
	kind := v.talk.Kind(ev.Name, ev.Args)
	if ev.Err != nil {
		status = protocol.ToolCallStatusFailed
		said = strings.TrimPrefix(said+"\n"+engine.DisplayError(ev.Err), "\n")
	} else if verdict := ev.Result.Verdict; verdict != "" {
		said = strings.TrimPrefix(said+"\n"+verdict, "\n")
	}
	if !c.shown {
		c.args = ev.Args
		v.begin(ev.ID, ev.Name, agent, ev.Intent, status, nil)
	}
	u := protocol.SessionToolCallUpdate{SessionUpdate: "tool_call_update", ToolCallId: c.id, Status: &status}
	switch said = text.Shorten(said, longestText); {
	case c.runs:
		u.Meta = map[string]any{"terminal_exit": map[string]any{"terminal_id": c.id,
			"exit_code": exitCode(ev), "signal": nil}}
	case ev.Intent.Edit != nil && ev.Err == nil: // the shown change stays
	case kind == engine.Execute && ev.Err == nil && said != "":
		u.Content = v.text(text.Fenced(output.Sanitize(said), ""))
	default:
		u.Content = v.text(output.Escape(said))
	}
	v.update(u)
}

// exitCode returns 0 if a program succeeded, otherwise 1: its own code is not known here.
func exitCode(ev engine.CallFinished) int {
	if ev.Err != nil || ev.Result.Verdict != "" {
		return 1
	}
	return 0
}

// checked shows the outcome of a check.
func (v *view) checked(ev engine.CheckFinished) {
	status, said := protocol.ToolCallStatusCompleted, "the check has passed"
	if ev.Err != nil {
		status, said = protocol.ToolCallStatusFailed, engine.DisplayError(ev.Err)
	}
	c := v.call(ev.ID)
	delete(v.calls, ev.ID)
	v.update(protocol.SessionToolCallUpdate{SessionUpdate: "tool_call_update",
		ToolCallId: c.id, Status: &status, Content: append(v.end(c), v.text(output.Escape(said))...)})
}

// plan shows the model's plan.
func (v *view) plan(args map[string]any) {
	var said struct {
		Todos []struct{ Description, Status string }
	}
	b, err := json.Marshal(args)
	if err != nil || json.Unmarshal(b, &said) != nil {
		return
	}
	entries := []protocol.PlanEntry{}
	for _, t := range said.Todos {
		status := protocol.PlanEntryStatus(t.Status)
		switch t.Status {
		case "cancelled":
			continue
		case "blocked":
			status = protocol.PlanEntryStatusPending
		}
		entries = append(entries, protocol.PlanEntry{Content: v.client.plain(t.Description),
			Priority: protocol.PlanEntryPriorityMedium, Status: status})
	}
	v.update(protocol.SessionUpdatePlan{SessionUpdate: "plan", Entries: entries})
}

// replay sends the editor the earlier conversation.
func (v *view) replay(ctx context.Context) {
	history, shown := v.talk.History(), v.talk.Shown()
	answers := map[string]*genai.FunctionResponse{}
	for _, c := range history {
		for _, p := range c.Parts {
			if fr := p.FunctionResponse; fr != nil {
				answers[fr.ID] = fr
			}
		}
	}
	for _, c := range history {
		if ctx.Err() != nil {
			return
		}
		user := c.Role == genai.RoleUser
		parts := c.Parts
		if user {
			if parts = input.OwnParts(parts); !journal.HasWords(c) {
				continue
			}
		}
		for _, p := range parts {
			switch {
			case p.FunctionCall != nil:
				v.replayCall(ctx, p.FunctionCall, answers[p.FunctionCall.ID], shown[engine.CallID(p.FunctionCall)])
			case p.Thought:
				v.chunk("agent_thought_chunk", p.Text)
			case p.Text != "" && user:
				v.chunk("user_message_chunk", cmp.Or(steer.HintLines(p.Text), p.Text))
			case p.Text != "":
				v.say(p.Text)
			}
		}
	}
}

// replayCall shows a call of an earlier turn: with its printed result if that is known, otherwise
// with the result for the model.
func (v *view) replayCall(ctx context.Context, fc *genai.FunctionCall, fr *genai.FunctionResponse, shown string) {
	status, said := protocol.ToolCallStatusCompleted, ""
	switch {
	case fr == nil:
		status, said = protocol.ToolCallStatusFailed, "interrupted"
	case fr.Response["error"] != nil:
		status = protocol.ToolCallStatusFailed
		said, _ = fr.Response["error"].(string)
	default:
		said, _ = fr.Response["output"].(string)
	}
	if fc.Name == todosName && status == protocol.ToolCallStatusCompleted {
		v.plan(fc.Args)
		return
	}
	const most = 4 << 10 // bytes
	kind := kindOf(v.talk.Kind(fc.Name, fc.Args))
	said = output.Escape(text.Shorten(cmp.Or(shown, said), most))
	if shown != "" && kind == protocol.ToolKindExecute && status == protocol.ToolCallStatusCompleted {
		said = text.Fenced(output.Sanitize(text.Shorten(shown, most)), "")
	}
	v.update(protocol.SessionUpdateToolCall{SessionUpdate: "tool_call",
		ToolCallId: protocol.ToolCallId(engine.CallID(fc)), Title: v.line(v.talk.Title(ctx, fc)),
		Kind: kind, Status: status, RawInput: v.input(fc.Args), Content: v.text(said)})
}

// A spent holds the tokens of a prompt, by model.
type spent struct {
	models []string
	by     map[string][2]int
}

func (s *spent) add(ev engine.Event) {
	_, said := engine.Unnest(ev)
	u, ok := said.(engine.Usage)
	if s == nil || !ok || u.Err != nil {
		return
	}
	if s.by == nil {
		s.by = map[string][2]int{}
	}
	n, known := s.by[u.Model]
	if !known {
		s.models = append(s.models, u.Model)
	}
	s.by[u.Model] = [2]int{n[0] + u.Prompt, n[1] + u.Output}
}

// meta returns it in the form for editors.
func (s *spent) meta() map[string]any {
	type count struct {
		In  int `json:"input_tokens"`
		Out int `json:"output_tokens"`
	}
	type usage struct {
		Model string `json:"model"`
		Count count  `json:"token_count"`
	}
	all, by := count{}, []usage{}
	for _, m := range s.models {
		n := s.by[m]
		all.In, all.Out = all.In+n[0], all.Out+n[1]
		by = append(by, usage{m, count{n[0], n[1]}})
	}
	return map[string]any{"quota": map[string]any{"token_count": all, "model_usage": by}}
}
