package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/mcp/rpc"
)

// Classes of failures.
const (
	toolError   = "mcp_tool_error"
	serverError = "mcp_server_error"
)

// A running is a running call. Only its goroutine uses its host.
type running struct {
	token string
	host  engine.Host
	in    Callbacks

	progress chan string                // the latest progress message
	wanted   chan func(context.Context) // questions of the server, to run on the call's goroutine
	asked    atomic.Int32
}

// calls are the running calls of a server's tools, in the order of their start.
type calls struct {
	mu   sync.Mutex
	list []*running
}

// begin adds a running call.
func (c *calls) begin(host engine.Host, in Callbacks) *running {
	r := &running{token: uuid.NewString(), host: host, in: in, progress: make(chan string, 1),
		wanted: make(chan func(context.Context))}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, r)
	return r
}

func (c *calls) end(r *running) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = slices.DeleteFunc(c.list, func(other *running) bool { return other == r })
}

// last returns the latest call that fits, nil if there is none.
func (c *calls) last(fits func(*running) bool) *running {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range slices.Backward(c.list) {
		if fits(r) {
			return r
		}
	}
	return nil
}

// call calls a tool.
func (l *serverConn) call(ctx context.Context, host engine.Host, in Callbacks, et engine.Tool, t tool,
	args map[string]any) (engine.Result, error) {
	c := l.conn.Load()
	if c == nil {
		return engine.Result{}, l.failure(errors.New("it is not connected at the moment; try again, or do without"))
	}
	user := ctx
	const most = 10 // how often the time may begin anew
	ctx, cancel := within(ctx, most*l.Timeout)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	silence := time.AfterFunc(l.Timeout, func() { giveUp(&lateError{l.Timeout}) })
	defer silence.Stop()
	defer giveUp(nil)
	r := l.calls.begin(host, in)
	defer l.calls.end(r)
	var result callResult
	answered := make(chan error, 1)
	go func() {
		params := protocol.CallToolParams{Name: t.Name, Arguments: args, Meta: &protocol.Meta{ProgressToken: r.token}}
		var err error
		c, err = l.ask(ctx, c, protocol.MethodToolsCall, params, &result)
		answered <- err
	}()
	for {
		select {
		case err := <-answered:
			if err != nil {
				return engine.Result{}, l.failed(user, c, err)
			}
			return result.forModel(t.Name, args, in.cut(et.Name()))
		case said := <-r.progress:
			silence.Reset(l.Timeout)
			host.Emit(engine.Output{Delta: said, Stage: true})
		case ask := <-r.wanted:
			ask(ctx)
		}
	}
}

// cut returns the function that shortens the outputs of a tool.
func (c Callbacks) cut(tool string) func(string) (string, engine.Cut) {
	return func(all string) (string, engine.Cut) {
		if c.Cut == nil {
			return all, engine.Cut{}
		}
		return c.Cut(tool, all)
	}
}

// failed returns the error of a call without a result.
func (l *serverConn) failed(ctx context.Context, c *peer, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	if c.conn.Err() != nil {
		err = c.ended(err)
	}
	return l.failure(err)
}

// failure returns an error of a server for the model.
func (l *serverConn) failure(err error) error {
	said := strings.TrimPrefix(clean(err.Error(), mostSaid), l.Name+" ")
	if h := (interface{ Hint() string })(nil); errors.As(err, &h) && h.Hint() != "" {
		said += "; " + h.Hint()
	}
	return &engine.CallError{Type: serverError,
		Message: fmt.Sprintf("The MCP server %q failed: %s", l.Name, text.Untrusted(said)),
		Display: text.PrintableLine(l.Name) + ": " + text.OneLine(said, longestError)}
}

// mostSaid limits a server's messages, in characters.
const mostSaid = 2000

// progressed handles a progress notification. Only one goroutine calls it.
func (c *calls) progressed(params json.RawMessage) {
	var p protocol.ProgressNotificationParams
	rpc.Decode(params, &p)
	token, _ := p.ProgressToken.(string)
	r := c.last(func(r *running) bool { return r.token == token })
	if r == nil {
		return
	}
	said := fmt.Sprintf("progress %g", p.Progress)
	if p.Total > 0 {
		said += fmt.Sprintf(" of %g", p.Total)
	}
	if p.Message != "" {
		said += ": " + cleanLine(p.Message, longestError)
	}
	select {
	case <-r.progress: // drop an unread message
	default:
	}
	r.progress <- said + "\n"
}

// logged handles a log message of a server.
func (l *serverConn) logged(params json.RawMessage) {
	var data json.RawMessage
	m := protocol.LoggingMessageNotificationParams{Data: &data}
	rpc.Decode(params, &m)
	l.set.log(l.Name, cleanLine(string(m.Level)+" "+m.Logger+" "+string(data), mostSaid))
}
