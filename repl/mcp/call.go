package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/parallel"
	"gemline/engine/tally"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/repl/report"
	"gemline/repl/serve"
	"gemline/tools/mcp/rpc"
)

// call carries out a call of the client.
func (c *client) call(ctx context.Context, m *rpc.Message) (any, error) {
	defer c.panic.Catch(c.cancel)
	var p protocol.CallToolParams
	if err := rpc.Decode(m.Params, &p); err != nil {
		return nil, rpc.Errorf(protocol.INVALID_PARAMS, "%s", err)
	}
	args, ok := p.Arguments.(map[string]any)
	if !ok && p.Arguments != nil {
		return nil, rpc.Errorf(protocol.INVALID_PARAMS, "arguments must be an object")
	}
	name, ok := args[session].(string)
	if !ok && args[session] != nil {
		return nil, rpc.Errorf(protocol.INVALID_PARAMS, "session must be a text")
	}
	delete(args, session)
	r := &runningCall{client: c, peer: m.Peer, ctx: ctx}
	if p.Meta != nil {
		r.token = p.Meta.ProgressToken
	}
	h, done, err := c.useSession(ctx, name, r)
	if err != nil {
		return c.failed(err), nil
	}
	defer done()
	defer r.beat()()
	if p.Name == askName {
		return c.work(ctx, h, r, args)
	}
	tools := h.session.Tools()
	i := slices.IndexFunc(tools, func(t engine.Tool) bool { return t.Name() == p.Name })
	if i < 0 {
		return nil, rpc.Errorf(protocol.INVALID_PARAMS, "there is no tool %.100q", p.Name)
	}
	if _, names := tools[i].Fitted(args); names != "" {
		return nil, unknown(p.Name, names)
	}
	return c.step(ctx, h, r, tools[i], args)
}

// unknown returns the error for arguments that a tool does not have.
func unknown(tool, names string) error {
	return rpc.Errorf(protocol.INVALID_PARAMS, "%s has no such argument: %.300s", tool, names)
}

// failed returns the result of a failed call, for a model.
func (c *client) failed(err error) *protocol.CallToolResult {
	return protocol.NewToolResultError(c.plain(serve.FailureText(c.Outcome(err))))
}

// plain returns a text for a client.
func (c *client) plain(s string) string { return output.Valid(c.Redact(s)) }

// work lets the model work on a prompt.
func (c *client) work(ctx context.Context, h *clientSession, r *runningCall, args map[string]any) (any, error) {
	prompt, _ := args["prompt"].(string)
	if strings.TrimSpace(prompt) == "" {
		return nil, rpc.Errorf(protocol.INVALID_PARAMS, "prompt must be a text that is not empty")
	}
	for name := range args {
		if name != "prompt" {
			return nil, unknown(askName, name)
		}
	}
	var b bytes.Buffer
	whole := h.session.Tally
	part := &tally.Tally{Class: whole.Class, Cost: whole.Cost}
	whole.Begin(part)
	to := c.Reporter(&b, part)
	err := h.session.Ask(ctx, progressSink{to, r}, prompt)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if werr := to.Finish(c.Outcome(err)); werr != nil {
		return nil, werr
	}
	var said struct {
		Response string          `json:"response"`
		Warnings []string        `json:"warnings"`
		Denied   []report.Denial `json:"denied"`
	}
	if err := json.Unmarshal(b.Bytes(), &said); err != nil {
		return nil, err
	}
	res := &protocol.CallToolResult{}
	if err != nil {
		res = c.failed(err)
	}
	if said.Response != "" {
		res.Content = append([]protocol.Content{protocol.NewTextContent(c.plain(said.Response))}, res.Content...)
	}
	var notes []string
	for _, d := range said.Denied {
		note := "not done: " + output.EscapeLine(text.OneLine(d.Title, 300)) + ": " + d.Why
		if d.Allow != "" {
			note += "; " + d.Allow
		}
		notes = append(notes, note)
	}
	notes = append(notes, lists.Map(said.Warnings, func(w string) string { return "warning: " + w })...)
	if len(notes) > 0 {
		res.Content = append(res.Content, protocol.NewTextContent(c.plain(strings.Join(notes, "\n"))))
	}
	more := map[string]any{"gemline/session": h.session.ID}
	if document := c.Redact(b.String()); json.Valid([]byte(document)) {
		more["gemline/result"] = json.RawMessage(document)
	}
	res.Meta = protocol.NewMetaFromMap(more)
	return res, nil
}

// step makes one call of a tool.
func (c *client) step(ctx context.Context, h *clientSession, r *runningCall, t engine.Tool, args map[string]any) (any, error) {
	var over *engine.CallFinished
	err := h.session.Call(ctx, t, args, func(ev engine.Event) {
		r.event(ev)
		if f, ok := ev.(engine.CallFinished); ok {
			over = &f
		}
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return c.failed(err), nil
	case over == nil:
		return c.failed(errors.New("the call has no result")), nil
	case over.Err != nil:
		said := over.Err.Error() // includes the output of a failed command
		if over.Result.Text != "" && engine.Outcome(over.Err) == engine.Cancelled {
			said = over.Result.Text + "\n" + said
		}
		return protocol.NewToolResultError(c.plain(said)), nil
	}
	res := &protocol.CallToolResult{Content: []protocol.Content{}}
	if over.Result.Text != "" {
		res.Content = append(res.Content, protocol.NewTextContent(c.plain(over.Result.Text)))
	}
	res.Content = append(res.Content, lists.Map(over.Result.Media, media)...)
	return res, nil
}

// media returns data that is no text: the bytes of a file or a page.
func media(p *genai.Part) protocol.Content {
	kind, data := p.InlineData.MIMEType, base64.StdEncoding.EncodeToString(p.InlineData.Data)
	switch {
	case strings.HasPrefix(kind, "image/"):
		return protocol.NewImageContent(data, kind)
	case strings.HasPrefix(kind, "audio/"):
		return protocol.NewAudioContent(data, kind)
	}
	return protocol.NewEmbeddedResource(protocol.BlobResourceContents{URI: "gemline:result",
		MIMEType: kind, Blob: data})
}

// A runningCall is a running call.
type runningCall struct {
	client *client
	peer   rpc.Peer
	ctx    context.Context
	token  protocol.ProgressToken // nil without progress notifications

	mu   sync.Mutex
	n    float64
	said string // the last progress message
}

// A progressSink is a Reporter that also sends events to the client as progress.
type progressSink struct {
	report.Reporter
	r *runningCall
}

// Event implements [report.Reporter].
func (t progressSink) Event(ev engine.Event) {
	t.r.event(ev)
	t.Reporter.Event(ev)
}

// event sends progress for an event.
func (r *runningCall) event(ev engine.Event) {
	agent, ev := engine.Unnest(ev)
	said := ""
	switch ev := ev.(type) {
	case engine.RequestStarted:
		said = ev.Model + " is asked"
	case engine.Retry:
		said = report.RetryText(ev)
	case engine.CallStarted:
		said = ev.Intent.Title
	case engine.CallFinished:
		said = cmp.Or(ev.Intent.Title, ev.Name)
		if ev.Err != nil {
			said += ": " + engine.DisplayError(ev.Err)
		} else {
			said += ": done"
		}
	case engine.Notice:
		r.log(protocol.LoggingLevelInfo, ev.Text)
		return
	}
	if said == "" {
		return
	}
	if agent != "" {
		said = agent + ": " + said
	}
	r.progress(said)
}

// progress sends the progress of the call.
func (r *runningCall) progress(said string) {
	if r.token == nil {
		return
	}
	const most = 300 // characters
	r.mu.Lock()
	defer r.mu.Unlock()
	if said != "" {
		r.said = output.EscapeLine(text.OneLine(r.client.Redact(said), most))
	}
	r.n++
	r.peer.Notify(r.ctx, protocol.MethodNotificationProgress,
		protocol.ProgressNotificationParams{ProgressToken: r.token, Progress: r.n, Message: r.said})
}

// beat sends progress regularly, until end is called.
func (r *runningCall) beat() (end func()) {
	const often = 10 * time.Second
	return parallel.Every(often, func() { r.progress("") })
}

// log sends a log message.
func (r *runningCall) log(level protocol.LoggingLevel, said string) {
	r.client.mu.Lock()
	least := r.client.level
	r.client.mu.Unlock()
	if level.ShouldSendTo(least) {
		r.peer.Notify(r.ctx, protocol.MethodNotificationMessage,
			protocol.LoggingMessageNotificationParams{Level: level, Logger: "gemline", Data: r.client.plain(said)})
	}
}
