package ide

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"google.golang.org/genai"

	"gemline/engine/network"
	"gemline/engine/text"
	"gemline/tools/mcp/rpc"
)

// Config has the dependencies of a Client.
type Config struct {
	Environment Environment
	Version     string // of gemline
	Network     network.Network

	// Hidden reports whether the selection in a file is withheld from the model. It may be
	// nil.
	Hidden func(path string) bool

	// Note returns a message to the model that does not come from the user.
	Note func(text string) *genai.Part

	// Start starts the program of a companion and talks with it, until the Stream is closed.
	Start func(argv []string) (rpc.Stream, error)

	// Tell prints problems, a line each. It may be called on any goroutine.
	Tell func(text string)
}

// State is the state of a Client's connection.
type State int

// The states.
const (
	Off State = iota // not started
	Connecting
	Connected
	Disconnected
)

// A Status describes a Client's connection. Its texts come from the editor.
type Status struct {
	State     State
	Editor    string
	Why       string // of Disconnected
	Files     []File // the open files, the last viewed first
	Others    []string
	Untrusted bool // the editor does not trust its folder
}

const (
	attemptTime = 5 * time.Second  // for connecting to one companion
	openTime    = 10 * time.Minute // for an answer about a change
	closeTime   = time.Second      // for withdrawing a question
	endTime     = 5 * time.Second  // for the end of a program, which is killed earlier
)

// The messages of a companion.
const (
	contextUpdate protocol.MCPMethod = "ide/contextUpdate"
	diffAccepted  protocol.MCPMethod = "ide/diffAccepted"
	diffRejected  protocol.MCPMethod = "ide/diffRejected"
	diffClosed    protocol.MCPMethod = "ide/diffClosed" // of older ones
)

// A Client manages the connection to a companion. It is safe for concurrent use.
type Client struct {
	cfg     Config
	attempt time.Duration // for connecting to one companion
	http    *http.Transport

	mu    sync.Mutex
	state State
	why   error
	to    *link         // nil while there is none
	ended chan struct{} // closed at the end of the current attempt
	cut   func()        // ends the attempt
	owns  bool          // the companion is a program, which must not outlive the Client
	diffs map[string]*diff
	told  knowledge
}

// A link is a connection.
type link struct {
	companion
	conn *rpc.Conn

	// Guarded by the Client.
	said   json.RawMessage // the latest list of open files
	failed bool            // a failure to show a change was reported
}

// New returns a Client, which is Off until Start or Connect.
func New(c Config) *Client {
	return &Client{cfg: c, attempt: attemptTime, diffs: map[string]*diff{}}
}

// InEditor reports whether there may be a companion: the terminal belongs to an editor.
func (c *Client) InEditor() bool { return c.cfg.Environment.editor() != "" }

// Start connects in the background. It reports a failure to the user.
func (c *Client) Start() {
	if ended := c.begin(); ended != nil {
		go func() {
			<-ended
			if st := c.Status(); st.State == Disconnected {
				c.cfg.Tell(st.Why + "; /ide enable tries again")
			}
		}()
	}
}

// Connect closes an earlier connection, connects, and waits for the outcome.
func (c *Client) Connect(ctx context.Context) error {
	c.Close()
	ended := c.begin()
	if ended == nil { // another attempt was faster
		return nil
	}
	select {
	case <-ended:
	case <-ctx.Done():
		c.Close()
		return context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// begin begins an attempt; nil if an attempt is running or has succeeded.
func (c *Client) begin() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == Connecting || c.state == Connected {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	c.state, c.why, c.cut, c.ended = Connecting, nil, cancel, ended
	if c.http == nil {
		c.http = c.cfg.Network.Direct(c.attempt)
	}
	go func() {
		defer close(ended)
		defer cancel()
		l, err := c.connect(ctx)
		c.mu.Lock()
		if c.state != Connecting || c.ended != ended { // it was closed meanwhile
			c.mu.Unlock()
			if l != nil {
				l.conn.Close()
			}
			return
		}
		defer c.mu.Unlock()
		if c.why = err; err != nil {
			c.state = Disconnected
			return
		}
		c.state, c.to = Connected, l
		go c.watch(l)
	}()
	return ended
}

// connect finds a companion and connects to it.
func (c *Client) connect(ctx context.Context) (*link, error) {
	found, err := c.cfg.Environment.find()
	if err != nil {
		return nil, err
	}
	hosts := []string{"127.0.0.1"}
	if c.cfg.Environment.inContainer() {
		hosts = append(hosts, "host.docker.internal")
	}
	for _, to := range found {
		hosts := hosts
		if to.program != nil {
			hosts = hosts[:1]
		}
		for _, host := range hosts {
			l, oerr := c.open(ctx, to, host)
			if oerr == nil {
				return l, nil
			}
			if err == nil { // the error of the likeliest companion is the most useful
				err = fmt.Errorf("no connection to %s: %s", to.editor, text.OneLine(oerr.Error(), 200))
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		}
	}
	return nil, err
}

// open connects to a companion.
func (c *Client) open(ctx context.Context, to companion, host string) (*link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.attempt, fmt.Errorf("it did not answer within %s", c.attempt))
	defer cancel()
	lost := make(chan struct{}) // closed when the companion is unreachable
	stream, err := c.stream(to, host, sync.OnceFunc(func() { close(lost) }))
	if err != nil {
		return nil, err
	}
	l := &link{companion: to}
	l.conn = rpc.New(stream, rpc.Handler{Request: answer,
		Notify: func(method protocol.MCPMethod, params json.RawMessage) { c.notified(l, method, params) }})
	var said protocol.InitializeResult
	hello := protocol.InitializeParams{ProtocolVersion: protocol.ProtocolVersion20250618,
		ClientInfo: protocol.Implementation{Name: "gemline", Version: c.cfg.Version}}
	err = l.conn.Call(ctx, protocol.MethodInitialize, hello, &said)
	if err == nil && !slices.Contains(protocol.LegacyProtocolVersions(), said.ProtocolVersion) {
		err = errors.New("what answers is no companion")
	}
	if err == nil {
		if s, ok := stream.(rpc.ProtocolVersionSetter); ok {
			s.SetProtocolVersion(said.ProtocolVersion)
		}
		err = l.conn.Notify(ctx, protocol.MethodNotificationInitialized, nil)
	}
	if err != nil {
		l.conn.Close()
		if to.program != nil && errors.Is(err, io.EOF) {
			err = errors.New(to.program[0] + " has ended")
		}
		return nil, err
	}
	go func() {
		select {
		case <-lost:
			l.conn.Close()
		case <-l.conn.Done():
		}
	}()
	return l, nil
}

// stream opens a Stream to a companion. It calls gone when the companion is unreachable.
func (c *Client) stream(to companion, host string, gone func()) (rpc.Stream, error) {
	if to.program != nil {
		c.mu.Lock()
		c.owns = true
		c.mu.Unlock()
		return c.cfg.Start(to.program)
	}
	r := rpc.Remote{URL: fmt.Sprintf("http://%s:%d/mcp", host, to.port), Header: http.Header{},
		Client: &http.Client{Transport: reaching{c.http, gone},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if to.token != "" {
		r.Header.Set("Authorization", "Bearer "+to.token)
	}
	return rpc.HTTP(r), nil
}

// answer answers the only request of a companion, ping.
func answer(_ context.Context, m *rpc.Message) (any, error) {
	if m.Method == protocol.MethodPing {
		return struct{}{}, nil
	}
	return nil, rpc.Errorf(protocol.METHOD_NOT_FOUND, "method not found")
}

// reaching detects that a companion is unreachable.
type reaching struct {
	by   http.RoundTripper
	gone func()
}

// RoundTrip implements [http.RoundTripper].
func (r reaching) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := r.by.RoundTrip(req)
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" && req.Context().Err() == nil {
		r.gone()
	}
	return res, err
}

// watch waits for the end of a connection, and reports it to the user.
func (c *Client) watch(l *link) {
	<-l.conn.Done()
	c.mu.Lock()
	mine := c.to == l
	if mine {
		c.to, c.state = nil, Disconnected
		c.why = fmt.Errorf("%s is no longer there", l.editor)
	}
	c.mu.Unlock()
	if mine {
		c.cfg.Tell(l.editor + " is no longer there, and its open files are unknown; /ide enable connects again")
	}
}

// Close ends the connection, or the current attempt. It does not wait for an unresponsive
// editor.
func (c *Client) Close() {
	c.mu.Lock()
	l, cut, ended := c.to, c.cut, c.ended
	c.to, c.state, c.why, c.cut = nil, Off, nil, nil
	patience := closeTime
	if c.owns {
		patience = endTime
	}
	c.mu.Unlock()
	if cut != nil {
		cut()
	}
	if l != nil {
		ended = make(chan struct{})
		go func() { defer close(ended); l.conn.Close(); c.http.CloseIdleConnections() }()
	}
	if ended != nil {
		select {
		case <-ended:
		case <-time.After(patience):
		}
	}
}

// Status returns the status of the connection.
func (c *Client) Status() (st Status) {
	c.mu.Lock()
	st.State = c.state
	if c.why != nil {
		st.Why = c.why.Error()
	}
	var said json.RawMessage
	var folders []string
	if l := c.to; l != nil {
		st.Editor, said, folders = l.editor, l.said, l.folders
	}
	c.mu.Unlock()
	st.Editor = cmp.Or(st.Editor, c.cfg.Environment.editor())
	st.Others = slices.DeleteFunc(slices.Clone(folders),
		func(f string) bool { return companion{folders: []string{f}}.folderLength(c.cfg.Environment.Cwd) > 0 })
	st.Files, st.Untrusted = c.read(said)
	return st
}

// link returns the connection, nil if there is none.
func (c *Client) link() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.to
}

// notified handles a notification of a companion. It returns at once.
func (c *Client) notified(l *link, method protocol.MCPMethod, params json.RawMessage) {
	switch method {
	case contextUpdate:
		c.mu.Lock()
		defer c.mu.Unlock()
		l.said = params
	case diffAccepted, diffRejected, diffClosed:
		c.decided(l, method, params)
	}
}
