package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine/text"
	"gemline/tools/mcp/rpc"
)

const (
	version         = protocol.ProtocolVersion20250618 // the requested version
	optionalTimeout = time.Second                      // for optional messages
	minBackoff      = time.Second                      // before a restart of an ended server
	maxBackoff      = time.Minute                      // between later attempts
	maxAttempts     = 5                                // in a row, before the server is Failed
	stableAfter     = time.Minute                      // after this time, the count of attempts starts again

	connectTime = time.Minute // at most, for one transport

	draftVersion = "2024-10-07" // the protocol version of the first servers
)

// A serverConn manages the connection to a server.
type serverConn struct {
	Server
	set     *Set
	settled chan struct{} // closed when the first connection has succeeded or failed
	settle  func()
	changed chan struct{} // closed when state changes; guarded by mu
	restart chan struct{}
	catalog catalog
	calls   calls
	conn    atomic.Pointer[peer] // nil while there is none

	mu        sync.Mutex
	state     State
	err       error
	transport string
	title     string
	printed   string // the beginning of its output that is no message
}

// A peer is a connection to a server. After its end, ended explains the final error.
type peer struct {
	conn    *rpc.Conn
	ended   func(error) error
	watched map[string]bool // whether to report a change, by address; guarded by the serverConn
}

func newServerConn(s *Set, server Server) *serverConn {
	if server.Timeout <= 0 {
		server.Timeout = defaultTimeout
	}
	l := &serverConn{Server: server, set: s, state: Waiting, settled: make(chan struct{}),
		changed: make(chan struct{}), restart: make(chan struct{}, 1),
		catalog: catalog{server: server, owner: s, changed: make(chan struct{}, 1), warned: map[string]string{}, dirty: map[protocol.MCPMethod]bool{}}}
	l.settle = sync.OnceFunc(func() { close(l.settled) })
	if server.DisabledReason != "" {
		l.state = Off
		l.settle()
	}
	return l
}

func (l *serverConn) status() Status {
	l.mu.Lock()
	st := Status{Server: l.Server, State: l.state, Err: l.err,
		Transport: l.transport, Title: l.title}
	l.mu.Unlock()
	l.catalog.show(&st)
	return st
}

// reconnect makes run connect to the server again.
func (l *serverConn) reconnect() {
	select {
	case l.restart <- struct{}{}:
	default:
	}
}

// setState stores the state of the connection.
func (l *serverConn) setState(s State, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state, l.err = s, err
	close(l.changed)
	l.changed = make(chan struct{})
}

// ask makes a request over c. If the server refuses it since the session has ended, the request is
// made once more in the next session. It returns the connection that was asked last.
func (l *serverConn) ask(ctx context.Context, c *peer, method protocol.MCPMethod, params, result any) (*peer, error) {
	err := c.conn.Call(ctx, method, params, result)
	for old, refused := c, (*rpc.NotServedError)(nil); errors.As(err, &refused); {
		l.mu.Lock()
		state, changed := l.state, l.changed
		l.mu.Unlock()
		if c = l.conn.Load(); c != nil && c != old {
			return c, c.conn.Call(ctx, method, params, result)
		}
		if c = old; state == Failed || state == Off {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return c, context.Cause(ctx)
		case <-l.set.ctx.Done():
			return c, err
		}
	}
	return c, err
}

// run connects to the server and serves the connection until ctx is over.
func (l *serverConn) run(ctx context.Context) {
	defer l.settle()
	failed, known, told := 0, false, ""
	for ctx.Err() == nil {
		l.mu.Lock()
		off := l.DisabledReason
		l.mu.Unlock()
		var err error
		if off == "" {
			began := time.Now()
			used, cerr := l.connect(ctx)
			known, err = known || used, cerr
			if time.Since(began) > stableAfter {
				failed = 0
			}
			failed++
		} else {
			l.setState(Off, nil)
		}
		if ctx.Err() != nil {
			return
		}
		wait := time.Duration(0) // for ever
		switch {
		case off != "" || err == nil:
		case failed >= maxAttempts || !known && !mayComeUp(err):
			l.setState(Failed, err)
			if told != err.Error() {
				l.set.notify("MCP server %s: %s", l.Name, why(err, "its tools are not there"))
			}
		default:
			told = err.Error()
			switch {
			case failed > 1:
			case known:
				l.set.notify("MCP server %s: %s", l.Name, why(err, "it is connected to again"))
			default: // retry: the user does not wait, and the server may start soon
				l.set.notify("MCP server %s: %s", l.Name, why(err, "its tools come when it answers"))
				l.settle()
			}
			l.setState(Connecting, err)
			if failed == 1 && errors.Is(err, rpc.ErrSessionEnded) {
				continue
			}
			wait = min(minBackoff<<(failed-1), maxBackoff)
		}
		if wait == 0 {
			l.catalog.clear()
			l.settle()
		}
		if !l.pause(ctx, wait) {
			failed, told = 0, ""
		}
	}
}

const longestError = 300 // characters in a line

// why returns a line with the error, its consequence (then), and the error's hint.
func why(err error, then string) string {
	said := text.OneLine(err.Error(), longestError) + "; " + then
	if h := (interface{ Hint() string })(nil); errors.As(err, &h) && h.Hint() != "" {
		said += "; " + h.Hint()
	}
	return said
}

// mayComeUp reports whether err suggests that the server is still starting.
func mayComeUp(err error) bool {
	far, status := (*net.OpError)(nil), (*rpc.StatusError)(nil)
	return errors.As(err, &far) || errors.As(err, &status) && status.Code >= 500
}

// pause waits for wait, forever if it is 0. It reports false if a restart was requested
// meanwhile.
func (l *serverConn) pause(ctx context.Context, wait time.Duration) (undisturbed bool) {
	var over <-chan time.Time
	if wait > 0 {
		over = time.After(wait)
	}
	select {
	case <-over:
		return true
	case <-l.restart:
		return false
	case <-ctx.Done():
		return true
	}
}

// connect connects to the server and serves the connection until it ends with an error, or
// until a restart is requested. It reports whether the server was usable.
func (l *serverConn) connect(ctx context.Context) (used bool, err error) {
	l.setState(Connecting, nil)
	ways, err := l.transports()
	if err != nil {
		return false, err
	}
	for _, way := range ways {
		c, werr := l.open(ctx, way)
		if werr == nil {
			defer c.conn.Close()
			return true, l.serve(ctx, c)
		}
		refused := (*rpc.RefusedError)(nil)
		final := errors.As(werr, &refused)
		if err == nil || final {
			err = werr // the error of the first transport is the most useful
		}
		if final || ctx.Err() != nil {
			break
		}
	}
	return false, err
}

// lastWords is how long the output of a lost server is still read.
const lastWords = time.Second

// open connects by a transport: it starts the session and reads the server's lists.
func (l *serverConn) open(ctx context.Context, w transport) (*peer, error) {
	ctx, cancel := within(ctx, min(l.Timeout, connectTime))
	defer cancel()
	stream, ended, err := w.open(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.printed = ""
	l.mu.Unlock()
	odd := func(b []byte) {
		l.set.log(l.Name, string(b))
		l.mu.Lock()
		l.printed = text.Shorten(l.printed+string(b)+"\n", mostPrinted)
		l.mu.Unlock()
	}
	c := &peer{rpc.New(stream, rpc.Handler{Request: l.answer, Notify: l.handleNotification, OnUnparsed: odd}), ended, map[string]bool{}}
	if err = l.begin(ctx, c.conn, stream, w.name); err != nil {
		lost := c.lost(err)
		if lost { // read its output to the end for the reason
			select {
			case <-c.conn.Done():
			case <-ctx.Done():
			case <-time.After(lastWords):
			}
		}
		if c.conn.Close(); lost {
			err = ended(err)
		}
		return nil, err
	}
	return c, nil
}

// begin starts the session and reads the server's lists.
func (l *serverConn) begin(ctx context.Context, c *rpc.Conn, stream rpc.Stream, transport string) error {
	var said protocol.InitializeResult
	hello := protocol.InitializeParams{ProtocolVersion: version,
		ClientInfo: protocol.Implementation{Name: "gemline", Version: l.set.Version}}
	can := &hello.Capabilities
	json.Unmarshal([]byte(`{"listChanged":true}`), &can.Roots)
	can.Sampling, can.Elicitation = &protocol.SamplingCapability{}, &protocol.ElicitationCapability{}
	if err := c.Call(ctx, protocol.MethodInitialize, hello, &said); err != nil {
		return fmt.Errorf("%s: %w", protocol.MethodInitialize, err)
	}
	if !slices.Contains(append(protocol.LegacyProtocolVersions(), draftVersion), said.ProtocolVersion) {
		if said.ProtocolVersion == "" {
			return errors.New("it does not say which version of the protocol it speaks")
		}
		return errors.New("it speaks version " + text.OneLine(said.ProtocolVersion, 20) +
			" of the protocol, which is not understood")
	}
	if b, ok := stream.(rpc.ProtocolVersionSetter); ok {
		b.SetProtocolVersion(said.ProtocolVersion)
	}
	if err := c.Notify(ctx, protocol.MethodNotificationInitialized, nil); err != nil {
		return err
	}
	l.mu.Lock()
	l.transport = transport
	l.title = cleanLine(said.ServerInfo.Name+" "+said.ServerInfo.Version, 100)
	l.mu.Unlock()
	l.catalog.begin(said.Capabilities, said.Instructions)
	for _, name := range listMethods {
		err := l.catalog.read(ctx, c, name)
		if said := (*rpc.Error)(nil); errors.As(err, &said) && name != protocol.MethodToolsList {
			l.set.log(l.Name, err.Error()) // other lists may be readable
			continue
		}
		if err != nil {
			return err
		}
	}
	if said.Capabilities.Logging != nil {
		level := protocol.SetLevelParams{Level: protocol.LoggingLevelWarning} // else the server chooses the level
		optional(l.set.ctx, func(ctx context.Context) { c.Call(ctx, protocol.MethodSetLogLevel, level, nil) })
	}
	return nil
}

// serve reads changed lists of the server again, until the connection ends or a restart is
// requested.
func (l *serverConn) serve(ctx context.Context, c *peer) error {
	l.conn.Store(c)
	l.setState(Connected, nil)
	l.settle()
	defer l.conn.Store(nil)
	for pace := (relisting{}); ; {
		select {
		case <-c.conn.Done():
			return c.ended(c.conn.Err())
		case <-ctx.Done():
			return nil
		case <-l.restart:
			l.reconnect() // pass the signal on to pause
			return nil
		case <-l.catalog.changed:
			pace.wait(ctx, c.conn)
			l.catalog.readAgain(ctx, c.conn)
		}
	}
}

// handleNotification handles a notification. It returns at once.
func (l *serverConn) handleNotification(method protocol.MCPMethod, params json.RawMessage) {
	switch method {
	case protocol.MethodNotificationProgress:
		l.calls.progressed(params)
	case protocol.MethodNotificationMessage:
		l.logged(params)
	case protocol.MethodNotificationToolsListChanged:
		l.catalog.markDirty(protocol.MethodToolsList)
	case protocol.MethodNotificationPromptsListChanged:
		l.catalog.markDirty(protocol.MethodPromptsList)
	case protocol.MethodNotificationResourcesListChanged:
		l.catalog.markDirty(protocol.MethodResourcesList)
	case protocol.MethodNotificationResourceUpdated:
		l.updated(params)
	}
}
