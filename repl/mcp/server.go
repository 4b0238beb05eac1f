package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine/lists"
	"gemline/engine/parallel"
	"gemline/engine/tally"
	"gemline/engine/text"
	"gemline/repl/report"
	"gemline/repl/serve"
	"gemline/tools/mcp/rpc"
)

// Config is the configuration of a server.
type Config struct {
	Version string // of this program
	Dir     string // the working directory, for people

	// Begin begins or resumes the conversation with a name, or begins one without a name.
	Begin func(ctx context.Context, w serve.SessionRequest) (*serve.Session, error)

	// Reporter returns a reporter that writes a task to out as a JSON document.
	Reporter func(out io.Writer, count *tally.Tally) report.Reporter

	Outcome func(error) report.Outcome // classifies the end of a call
	Redact  func(string) string        // removes secrets
}

// A client is a connected client.
type client struct {
	Config
	ctx    context.Context // of all its requests
	cancel context.CancelFunc

	mu      sync.Mutex
	begun   bool
	asks    bool // it can ask its user
	several bool // its forms can have several entries of a list
	level   protocol.LoggingLevel
	named   map[string]*clientSession
	calls   sync.WaitGroup
	panic   parallel.Panic // a panic of a call, which Serve repeats
}

// A clientSession is a named session of a client, or the session of one call.
type clientSession struct {
	turn    chan struct{}  // full while a call runs
	session *serve.Session // nil until it has begun
	asker   *asker
}

const mostNamed = 32 // conversations of a client

// Serve serves a client over s, until the client disconnects or ctx ends.
func Serve(ctx context.Context, cfg Config, s rpc.Stream) {
	c := &client{Config: cfg, level: protocol.LoggingLevelInfo, named: map[string]*clientSession{}}
	c.ctx, c.cancel = context.WithCancel(ctx)
	conn := rpc.New(s, rpc.Handler{ServerSide: true, Request: c.answer,
		Sync: func(m protocol.MCPMethod) bool { return m != protocol.MethodToolsCall }})
	select {
	case <-conn.Done():
	case <-c.ctx.Done():
	}
	c.mu.Lock() // so that no call begins any more
	c.cancel()
	c.mu.Unlock()
	conn.Close()
	c.calls.Wait()
	for _, h := range c.named {
		if h.session != nil {
			h.session.Close()
		}
	}
	c.panic.Raise()
}

// answer answers a request of the client.
func (c *client) answer(ctx context.Context, m *rpc.Message) (any, error) {
	c.mu.Lock()
	if c.ctx.Err() != nil {
		c.mu.Unlock()
		return nil, c.ctx.Err()
	}
	c.calls.Add(1) // not after Wait
	begun := c.begun
	c.mu.Unlock()
	defer c.calls.Done()
	needs := []protocol.MCPMethod{protocol.MethodSetLogLevel, protocol.MethodToolsList, protocol.MethodToolsCall}
	if !begun && slices.Contains(needs, m.Method) {
		return nil, rpc.Errorf(protocol.INVALID_REQUEST, "a conversation begins with initialize")
	}
	switch m.Method {
	case protocol.MethodInitialize:
		return c.begin(m.Params)
	case protocol.MethodPing:
		return protocol.EmptyResult{}, nil
	case protocol.MethodSetLogLevel:
		var p protocol.SetLevelParams
		if err := rpc.Unmarshal(m.Params, &p); err != nil {
			return nil, rpc.Errorf(protocol.INVALID_PARAMS, "%s", err)
		}
		if !p.Level.ShouldSendTo(p.Level) {
			return nil, rpc.Errorf(protocol.INVALID_PARAMS, "there is no level %.40q", p.Level)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.level = p.Level
		return protocol.EmptyResult{}, nil
	case protocol.MethodToolsList:
		return c.list(ctx)
	case protocol.MethodToolsCall:
		return c.call(ctx, m)
	}
	return nil, rpc.Errorf(protocol.METHOD_NOT_FOUND, "there is no method %.100q here", m.Method)
}

// begin answers the initialize request.
func (c *client) begin(params json.RawMessage) (any, error) {
	var p protocol.InitializeParams
	if err := rpc.Decode(params, &p); err != nil {
		return nil, rpc.Errorf(protocol.INVALID_PARAMS, "%s", err)
	}
	version := protocol.NegotiateLegacyVersion(p.ProtocolVersion)
	can := p.Capabilities.Elicitation
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun, c.asks = true, can != nil && (can.Form != nil || can.URL == nil)
	c.several = version >= protocol.ProtocolVersion20251125
	said := protocol.InitializeResult{ProtocolVersion: version,
		ServerInfo: protocol.Implementation{Name: "gemline", Version: c.Version, Title: "gemline"},
		Instructions: "gemline is a coding agent that works in " + text.PrintableLine(c.Dir) +
			". ask gives it a task; its other tools are for single steps. " +
			"What its rules do not allow is asked of the user."}
	json.Unmarshal([]byte(`{"tools":{},"logging":{}}`), &said.Capabilities)
	return said, nil
}

// useSession returns the conversation with a name for r. R is nil outside of a call. No other call
// uses the conversation until done is called. It begins a conversation that has not begun.
func (c *client) useSession(ctx context.Context, name string, r *runningCall) (h *clientSession, done func(), err error) {
	h = &clientSession{turn: make(chan struct{}, 1), asker: &asker{client: c}}
	if name != "" {
		c.mu.Lock()
		if known := c.named[name]; known != nil {
			h = known
		} else if len(c.named) < mostNamed {
			c.named[name] = h
		} else {
			err = fmt.Errorf("%d sessions are open already, and there can be no more; use one of them: %s", mostNamed,
				text.Shorten(fmt.Sprint(slices.Sorted(maps.Keys(c.named))), 500))
		}
		c.mu.Unlock()
		if err != nil {
			return nil, nil, err
		}
	}
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	done = func() {
		if name == "" && h.session != nil {
			h.session.Close()
		}
		<-h.turn
	}
	h.asker.now.Store(r) // also gets warnings of the conversation's start
	if h.session != nil {
		return h, done, nil
	}
	w := serve.SessionRequest{Name: name, Notify: h.asker.notify}
	c.mu.Lock()
	if c.asks {
		w.Approver = h.asker
	}
	c.mu.Unlock()
	if h.session, err = c.Begin(ctx, w); err != nil {
		h.session = nil
		c.mu.Lock()
		if c.named[name] == h {
			delete(c.named, name)
		}
		c.mu.Unlock()
		done()
		return nil, nil, err
	}
	return h, done, nil
}

// list lists the tools.
func (c *client) list(ctx context.Context) (any, error) {
	h, done, err := c.useSession(ctx, "", nil)
	if err != nil {
		return nil, rpc.Errorf(protocol.INTERNAL_ERROR, "%s", c.Redact(c.Outcome(err).Complete().Message))
	}
	defer done()
	tools := lists.Map(h.session.Tools(), listed)
	return protocol.ListToolsResult{Tools: append([]protocol.Tool{c.ask()}, tools...)}, nil
}
