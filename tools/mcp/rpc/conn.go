package rpc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

// A Stream carries messages, each a JSON text on a line.
type Stream interface {
	// Send sends a message. Its error is about that message; the end of the Stream is
	// reported by Next.
	Send(ctx context.Context, m *Message) error

	// Next returns the next message, valid until the next call. After an [ErrTooLong], more
	// messages may follow; any other error ends the Stream.
	Next() ([]byte, error)

	// Close ends the Stream, and makes Next return.
	Close() error
}

// A ProtocolVersionSetter is a Stream that needs the version of the protocol: its caller sets
// the version once the two sides have agreed on it.
type ProtocolVersionSetter interface{ SetProtocolVersion(version string) }

// A Handler answers the other side. All functions may be nil.
type Handler struct {
	// Request answers a request. An [*Error] goes out as it is.
	Request func(ctx context.Context, m *Message) (any, error)

	// Sync reports whether a request is answered before the next message is read, as that
	// message may depend on the answer. Nil means never.
	Sync func(protocol.MCPMethod) bool

	// Notify gets the notifications, in order. It returns at once.
	Notify func(method protocol.MCPMethod, params json.RawMessage)

	// OnUnparsed gets each text that is no message, such as a line of a log. It returns at once.
	OnUnparsed func(text []byte)

	// MaxConcurrent is how many requests are answered in parallel; 0 means 8.
	MaxConcurrent int

	// ServerSide says that we are the server: the client gets an error for input that is no
	// message.
	ServerSide bool

	// LSPDialect marks a protocol that cancels as the Language Server Protocol does:
	// $/cancel_request cancels a request, and every request is answered, even a cancelled or
	// malformed request.
	LSPDialect bool
}

// An AsyncResult is the result of a slow request. A [Handler] first does the work that needs
// the order of messages. Then the AsyncResult runs in parallel to the reader.
type AsyncResult func() (any, error)

// A ResultThen is a result with a function that runs after the result is sent.
type ResultThen struct {
	Result any
	Then   func()
}

// A Conn is a conversation with another program. It is safe for concurrent use.
type Conn struct {
	stream  Stream
	handler Handler
	ctx     context.Context // of the active request
	cancel  context.CancelFunc
	slots   chan struct{} // limits active requests
	busy    chan struct{} // for refusals
	done    chan struct{}

	mu      sync.Mutex
	serial  int64
	pending map[int64]chan outcome
	serving map[string]context.CancelFunc // requests of the other side, by id
	err     error                         // why the conversation is over
}

// An outcome is how a call ended.
type outcome struct {
	result json.RawMessage
	err    error
}

const (
	defaultConcurrent = 8      // concurrent requests of the other side, by default
	maxRefusals       = 256    // unread refusals
	maxUnsolicited    = 20_000 // messages per second that are no answers
)

// New begins a conversation over s. The caller closes it.
func New(s Stream, h Handler) *Conn {
	c := &Conn{stream: s, handler: h, slots: make(chan struct{}, cmp.Or(h.MaxConcurrent, defaultConcurrent)),
		busy: make(chan struct{}, maxRefusals), done: make(chan struct{}),
		pending: map[int64]chan outcome{}, serving: map[string]context.CancelFunc{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	go c.read()
	return c
}

// Done is closed when the conversation is over.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why the conversation is over, nil while it is not.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the conversation.
func (c *Conn) Close() error {
	c.cancel()
	err := c.stream.Close()
	<-c.done
	return err
}

// Call sends a request and decodes the answer into result, which may be nil. If ctx ends
// before the answer comes, Call cancels the request.
func (c *Conn) Call(ctx context.Context, method protocol.MCPMethod, params, result any) error {
	return Peer{conn: c}.Call(ctx, method, params, result)
}

// A Peer is the other side, for a function that answers a request of it. Requests and
// notifications to the Peer belong to that request.
type Peer struct {
	conn  *Conn
	about json.RawMessage // the id of the request, nil if there is none
}

// Call is [Conn.Call].
func (p Peer) Call(ctx context.Context, method protocol.MCPMethod, params, result any) error {
	c := p.conn
	m := &Message{Version: protocol.JSONRPC_VERSION, Method: method, about: p.about}
	var err error
	if m.Params, err = raw(params); err != nil {
		return err
	}
	answer := make(chan outcome, 1)
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return c.err
	}
	c.serial++
	id := c.serial
	c.pending[id] = answer
	c.mu.Unlock()
	defer c.take(id)
	m.ID = strconv.AppendInt(nil, id, 10)
	o := outcome{err: c.stream.Send(ctx, m)}
	if o.err == nil || errors.Is(o.err, ErrClosed) { // the conversation is about to end with its reason
		o = c.wait(ctx, answer)
	}
	switch {
	case ctx.Err() != nil && o.err != nil:
		p.sendCancel(id, method, context.Cause(ctx))
		return context.Cause(ctx)
	case o.err != nil || result == nil:
		return o.err
	}
	return Decode(o.result, result)
}

// wait waits for an answer.
func (c *Conn) wait(ctx context.Context, answer chan outcome) outcome {
	select {
	case o := <-answer:
		return o
	case <-ctx.Done():
		return outcome{err: ctx.Err()}
	case <-c.done:
	}
	select { // the answer may have come just before the end
	case o := <-answer:
		return o
	default:
		return outcome{err: c.Err()}
	}
}

// cancelRequest cancels a request, in protocols other than MCP.
const cancelRequest = "$/cancel_request"

// sendCancel cancels a request at the other side. The cause is a time-out, or that the user cancels.
func (p Peer) sendCancel(id int64, method protocol.MCPMethod, cause error) {
	if method == protocol.MethodInitialize { // initialize can't be cancelled
		return
	}
	const patience = time.Second
	reason := "the user has cancelled the call"
	if !errors.Is(cause, context.Canceled) {
		reason = cause.Error()
	}
	go func() {
		ctx, cancel := context.WithTimeout(p.conn.ctx, patience)
		defer cancel()
		if p.conn.handler.LSPDialect {
			p.Notify(ctx, cancelRequest, map[string]int64{"requestId": id})
			return
		}
		p.Notify(ctx, protocol.MethodNotificationCancelled,
			protocol.CancelledNotificationParams{RequestId: protocol.NewRequestId(id),
				Reason: reason})
	}()
}

// Notify sends a notification.
func (c *Conn) Notify(ctx context.Context, method protocol.MCPMethod, params any) error {
	return Peer{conn: c}.Notify(ctx, method, params)
}

// Notify is [Conn.Notify].
func (p Peer) Notify(ctx context.Context, method protocol.MCPMethod, params any) error {
	b, err := raw(params)
	if err != nil {
		return err
	}
	return p.conn.stream.Send(ctx, &Message{Version: protocol.JSONRPC_VERSION, Method: method,
		Params: b, about: p.about})
}

// raw returns a value as JSON, nil for nil.
func raw(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	return json.Marshal(v)
}

// take removes and returns the channel of a waiting call, nil if there is none.
func (c *Conn) take(id int64) chan outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer := c.pending[id]
	delete(c.pending, id)
	return answer
}

// read reads messages until the Stream ends.
func (c *Conn) read() {
	pace := pace{}
	for {
		text, err := c.stream.Next()
		switch {
		case err == nil:
			if !c.receive(text) {
				pace.wait(c.ctx)
			}
		case errors.Is(err, ErrTooLong):
			c.fail(text, err)
		default:
			c.end(err)
			return
		}
	}
}

// end fails all waiting calls.
func (c *Conn) end(err error) {
	c.cancel()
	c.stream.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = cmp.Or(c.err, err)
	close(c.done)
}

// receive handles a message, and reports whether it was an expected answer.
func (c *Conn) receive(text []byte) bool {
	var m Message
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some Windows programs begin with a byte order mark
	err := json.Unmarshal(text, &m)
	if err != nil && c.client() {
		if flat := shallow(text, maxDepth); !bytes.Equal(flat, text) {
			err = json.Unmarshal(flat, &m)
		}
	}
	if err != nil {
		if c.handler.LSPDialect && startsWith(text, '[') && json.Valid(text) {
			c.reportInvalid(nil, protocol.INVALID_REQUEST, "a message is one object, and no list")
			return false
		}
		if list := []json.RawMessage{}; json.Unmarshal(text, &list) == nil { // a batch of messages
			if len(list) == 0 {
				c.reportInvalid(nil, protocol.INVALID_REQUEST, "a batch without messages")
			}
			answered := false
			for _, one := range list {
				answered = !startsWith(one, '[') && c.receive(one) || answered
			}
			return answered
		}
		c.fail(text, errNoMessage)
		return false
	}
	switch {
	case c.client() && m.Version == "" && m.Result == nil: // a line of a log in JSON
		c.unparsed(text)
	case m.isRequest():
		c.serve(m)
	case m.Method == protocol.MethodNotificationCancelled, c.handler.LSPDialect && m.Method == cancelRequest:
		c.handleCancel(m.Params)
	case c.handler.LSPDialect && m.Method == "" && m.Result == nil && m.Error == nil:
		c.reportInvalid(m.ID, protocol.INVALID_REQUEST, "the message has neither a method nor an answer")
	case m.Method != "":
		if c.handler.Notify != nil {
			c.handler.Notify(m.Method, m.Params)
		}
	default:
		id, err := strconv.ParseInt(strings.TrimSuffix(string(bytes.Trim(m.ID, `"`)), ".0"), 10, 64)
		answer := c.take(id)
		if err != nil || answer == nil { // a second answer, or an answer without a request
			return false
		}
		o := outcome{result: m.Result}
		switch {
		case m.Error != nil:
			o.err = m.Error
		case m.Result == nil:
			o.err = errors.New("an answer without a result")
		}
		answer <- o
		return true
	}
	return false
}

func startsWith(b []byte, c byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n")
	return len(b) > 0 && b[0] == c
}

// serve answers a request of the other side.
func (c *Conn) serve(m Message) {
	id := string(m.ID)
	m.Peer = Peer{c, m.ID}
	select {
	case c.slots <- struct{}{}:
	default:
		c.refuse(m.ID, Errorf(Busy, "too many requests at once"))
		return
	}
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	c.serving[id] = cancel
	c.mu.Unlock()
	over := func(result any, err error) {
		then := func() {}
		if f, ok := result.(ResultThen); ok {
			result, then = f.Result, f.Then
		}
		c.mu.Lock()
		delete(c.serving, id)
		c.mu.Unlock()
		given := ctx.Err() != nil
		cancel()
		switch {
		case !given:
			c.answer(m.ID, result, err)
		case c.handler.LSPDialect:
			c.answer(m.ID, nil, Errorf(RequestCancelled, "the request was cancelled"))
		} // a cancelled request gets no answer
		<-c.slots
		then()
	}
	answer := func() {
		var result any
		var err error = Errorf(protocol.METHOD_NOT_FOUND, "method not found")
		if c.handler.Request != nil {
			result, err = c.handler.Request(ctx, &m)
		}
		if later, ok := result.(AsyncResult); ok {
			go func() { over(later()) }()
			return
		}
		over(result, err)
	}
	if c.handler.Sync != nil && c.handler.Sync(m.Method) {
		answer()
		return
	}
	go answer()
}

// handleCancel ends a request that the other side has cancelled.
func (c *Conn) handleCancel(params json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.serving[string(requestID(params))]; cancel != nil {
		cancel()
	}
}

// requestID returns the id of the cancelled request, as it was written.
func requestID(params json.RawMessage) json.RawMessage {
	var which struct {
		ID json.RawMessage `json:"requestId"`
	}
	json.Unmarshal(params, &which)
	return which.ID
}

// answer sends the answer to a request.
func (c *Conn) answer(id json.RawMessage, result any, err error) {
	m := &Message{Version: protocol.JSONRPC_VERSION, ID: id}
	if err == nil {
		if m.Result, err = json.Marshal(result); err == nil && result == nil {
			m.Result = json.RawMessage("{}")
		}
	}
	if err != nil {
		if e := (*Error)(nil); errors.As(err, &e) {
			m.Error = e
		} else {
			m.Error = Errorf(protocol.INTERNAL_ERROR, "%s", err)
		}
	}
	c.stream.Send(c.ctx, m) // the error means that the other side is gone
}
