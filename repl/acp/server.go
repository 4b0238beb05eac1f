package acp

import (
	"context"
	"encoding/json"
	"path/filepath"
	"sync"

	protocol "github.com/coder/acp-go-sdk"
	"github.com/mark3labs/mcp-go/mcp"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/parallel"
	"gemline/engine/steer"
	"gemline/engine/tally"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/repl/report"
	"gemline/repl/serve"
	"gemline/tools/mcp/rpc"
	"gemline/tools/workspace"
)

// Config is the configuration of a server.
type Config struct {
	Version string   // of this program
	Methods []Method // the sign-in methods

	// Authenticate changes the user's sign-in method from now on.
	Authenticate func(ctx context.Context, l Login) error

	// Begin begins or resumes a session.
	Begin func(ctx context.Context, w SessionRequest) (*Session, error)

	// List returns the stored sessions of a directory, or all known sessions for "".
	List func(ctx context.Context, dir string) ([]protocol.SessionInfo, error)

	Outcome func(error) report.Outcome // classifies the end of a prompt or a request
	Redact  func(string) string        // removes secrets
}

// A Method is a sign-in method.
type Method struct {
	ID, Name, About string
	Meta            map[string]any
	Words           []string // gemline's arguments for signing in at a terminal
}

// A Login is an editor's choice of a method, with its credentials.
type Login struct {
	Method  string
	Key     string // for the Gemini API
	Gateway *Gateway
}

// A Gateway is a server that answers in place of the Gemini API.
type Gateway struct {
	BaseURL string            `json:"baseUrl"`
	Headers map[string]string `json:"headers"`
}

// A SessionRequest describes a session to begin or resume.
type SessionRequest struct {
	Dir         string // absolute
	Directories []string
	Session     string // the session to resume, "" for a new one
	Servers     []Server

	Approver engine.Approver
	Editor   workspace.Editor
	Notify   func(text string)  // reports a notice that is no error
	Tell     func(text string)  // reports information
	Show     func(engine.Event) // sends an event of a command
	Write    func(text string)  // sends the output of a command
}

// A Server is an MCP server that the editor names.
type Server struct {
	Type          string // http, sse or stdio; "" is stdio
	Name, Command string
	Args          []string
	Env, Headers  []struct{ Name, Value string }
	URL           string
}

// A Session works on one prompt at a time.
type Session struct {
	ID    string
	Tally *tally.Tally

	Expand input.Processor // runs commands and references
	Run    engine.Run

	History func() []*genai.Content
	Shown   func() map[string]string // printed results of calls, by call id
	Title   func(context.Context, *genai.FunctionCall) string
	Kind    func(name string, args map[string]any) engine.Kind

	Hints       *steer.Hints // nil if prompts always wait for their turn
	Mode, Model Switch
	Commands    func() []protocol.AvailableCommand
	Permanent   bool // grants may be stored for longer than the session

	Close func()
}

// A Switch is a setting of a conversation with several positions.
type Switch struct {
	Now func() string
	All func() []Position
	Set func(ctx context.Context, id string) error

	Turn bool // settable between prompts only
}

// A Position is a value of a [Switch].
type Position struct{ ID, Name, About string }

const (
	mostSessions = 64
	mostRequests = 256     // at once
	mostParams   = 1 << 20 // bytes of a request that is no prompt
	internal     = -32603  // the code of an internal error
	unauthorized = -32000  // the code of missing credentials
	missing      = -32002  // the code of a missing session or file
	limited      = 429     // the code of a rate limit, as in the API
	version      = protocol.ProtocolVersionNumber
)

var mostWaiting = 64 << 20 // bytes of queued prompts; fewer in a test

// A client is a connected editor.
type client struct {
	Config
	ctx    context.Context // of all its requests
	cancel context.CancelFunc
	conn   *rpc.Conn

	begun bool // needs no mu: requests are answered in order

	mu       sync.Mutex
	can      capabilities
	sessions map[string]*editorSession
	opening  int // sessions that are being opened
	waiting  int // bytes of queued prompts
	calls    sync.WaitGroup
	panic    parallel.Panic // a panic of a request, which Serve repeats
}

// capabilities are the editor's capabilities.
type capabilities struct {
	protocol.ClientCapabilities
	shows bool // it shows the output of commands in terminals
}

// Serve serves an editor over s, until the editor disconnects or ctx ends.
func Serve(ctx context.Context, cfg Config, s rpc.Stream) {
	c := &client{Config: cfg, sessions: map[string]*editorSession{}}
	c.ctx, c.cancel = context.WithCancel(ctx)
	ready := make(chan struct{})
	h := rpc.Handler{LSPDialect: true, MaxConcurrent: mostRequests,
		Request: func(ctx context.Context, m *rpc.Message) (any, error) { <-ready; return c.answer(ctx, m) },
		Notify:  func(method mcp.MCPMethod, params json.RawMessage) { <-ready; c.notified(method, params) },
		Sync:    func(mcp.MCPMethod) bool { return true }}
	c.conn = rpc.New(s, h)
	close(ready)
	select {
	case <-c.conn.Done():
	case <-c.ctx.Done():
	}
	c.mu.Lock() // so that no request begins any more
	c.cancel()
	c.mu.Unlock()
	c.conn.Close()
	c.calls.Wait()
	for _, h := range c.sessions {
		h.session.Close()
	}
	c.panic.Raise()
}

// later runs do in parallel with the editor's next requests, while the editor is connected.
func (c *client) later(do func() (any, error)) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	c.calls.Add(1) // not after Wait
	return rpc.AsyncResult(func() (any, error) {
		defer c.calls.Done()
		defer c.panic.Catch(c.cancel)
		return do()
	}), nil
}

// also runs do while the editor is connected.
func (c *client) also(do func()) {
	if f, err := c.later(func() (any, error) { do(); return nil, nil }); err == nil {
		f.(rpc.AsyncResult)()
	}
}

// plain returns a text for an editor.
func (c *client) plain(s string) string { return output.Valid(c.Redact(s)) }

// failed returns the error of a failed request.
func (c *client) failed(err error) error {
	o := c.Outcome(err).Complete()
	code := internal
	switch o.Reason {
	case "auth":
		code = unauthorized
	case "quota":
		code = limited
	case "input", "usage":
		code = mcp.INVALID_PARAMS
	}
	return rpc.Errorf(code, "%s", c.plain(serve.FailureText(o)))
}

func invalid(format string, args ...any) error {
	return rpc.Errorf(mcp.INVALID_PARAMS, format, args...)
}

// answer answers a request. It is called in the order of the requests, and must return at once.
func (c *client) answer(ctx context.Context, m *rpc.Message) (any, error) {
	if m.Method != protocol.AgentMethodSessionPrompt && len(m.Params) > mostParams {
		return nil, invalid("the parameters have more than %d MB", mostParams>>20)
	}
	if m.Method == protocol.AgentMethodInitialize {
		return c.begin(m.Params)
	}
	do, known := map[mcp.MCPMethod]func(context.Context, *rpc.Message) (any, error){
		protocol.AgentMethodAuthenticate:    c.authenticate,
		protocol.AgentMethodSessionNew:      c.open,
		protocol.AgentMethodSessionLoad:     c.open,
		protocol.AgentMethodSessionResume:   c.open,
		protocol.AgentMethodSessionList:     c.list,
		protocol.AgentMethodSessionClose:    c.close,
		protocol.AgentMethodSessionPrompt:   c.prompt,
		protocol.AgentMethodSessionSetMode:  c.turn,
		protocol.AgentMethodSessionSetModel: c.turn,
	}[m.Method]
	switch {
	case !known:
		return nil, rpc.Errorf(mcp.METHOD_NOT_FOUND, "there is no method %.100q here", m.Method)
	case !c.begun:
		return nil, rpc.Errorf(mcp.INVALID_REQUEST, "a conversation begins with initialize")
	}
	return do(ctx, m)
}

// notified handles a notification.
func (c *client) notified(method mcp.MCPMethod, params json.RawMessage) {
	var p protocol.CancelNotification
	if method != protocol.AgentMethodSessionCancel || json.Unmarshal(params, &p) != nil {
		return
	}
	if h, err := c.find(p.SessionId); err == nil {
		h.stop()
	}
}

// begin answers the initialize request.
func (c *client) begin(params json.RawMessage) (any, error) {
	var p protocol.InitializeRequest
	if err := rpc.Decode(params, &p); err != nil {
		return nil, invalid("%s", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun = true
	c.can = capabilities{p.ClientCapabilities, p.ClientCapabilities.Meta["terminal_output"] == true}
	var methods []any
	for _, m := range c.Methods {
		about := &m.About
		switch {
		case len(m.Words) == 0:
			methods = append(methods, protocol.AuthMethodAgent{Id: m.ID, Name: m.Name,
				Description: about, Meta: m.Meta})
		case p.ClientCapabilities.Auth.Terminal:
			methods = append(methods, protocol.AuthMethodTerminalInline{Type: "terminal", Id: m.ID,
				Name: m.Name, Description: about, Args: m.Words})
		}
	}
	title := "gemline"
	said := struct {
		ProtocolVersion   int                        `json:"protocolVersion"`
		AgentInfo         protocol.Implementation    `json:"agentInfo"`
		AgentCapabilities protocol.AgentCapabilities `json:"agentCapabilities"`
		AuthMethods       []any                      `json:"authMethods"`
	}{ProtocolVersion: version, AgentInfo: protocol.Implementation{Name: "gemline", Title: &title,
		Version: c.Version}, AuthMethods: methods}
	said.AgentCapabilities = protocol.AgentCapabilities{LoadSession: true,
		PromptCapabilities: protocol.PromptCapabilities{Image: true, Audio: true, EmbeddedContext: true},
		McpCapabilities:    protocol.McpCapabilities{Http: true, Sse: true},
		SessionCapabilities: protocol.SessionCapabilities{List: &protocol.SessionListCapabilities{},
			Resume: &protocol.SessionResumeCapabilities{},
			Close:  &protocol.SessionCloseCapabilities{}, AdditionalDirectories: &protocol.SessionAdditionalDirectoriesCapabilities{}}}
	return said, nil
}

// authenticate signs the user in.
func (c *client) authenticate(ctx context.Context, m *rpc.Message) (any, error) {
	var p struct {
		MethodID string `json:"methodId"`
		Meta     struct {
			Key     string   `json:"api-key"`
			Gateway *Gateway `json:"gateway"`
		} `json:"_meta"`
	}
	if err := rpc.Unmarshal(m.Params, &p); err != nil {
		return nil, invalid("%s", err)
	}
	return c.later(func() (any, error) {
		if err := c.Authenticate(ctx, Login{Method: p.MethodID, Key: p.Meta.Key, Gateway: p.Meta.Gateway}); err != nil {
			return nil, c.failed(err)
		}
		return struct{}{}, nil
	})
}

// list lists sessions.
func (c *client) list(ctx context.Context, m *rpc.Message) (any, error) {
	var p protocol.ListSessionsRequest
	if err := rpc.Decode(m.Params, &p); err != nil && len(m.Params) > 0 {
		return nil, invalid("%s", err)
	}
	dir := ""
	if p.Cwd != nil {
		dir = *p.Cwd
	}
	if dir != "" && !filepath.IsAbs(dir) {
		return nil, invalid("cwd must be an absolute path")
	}
	return c.later(func() (any, error) {
		all, err := c.List(ctx, dir)
		if err != nil {
			return nil, c.failed(err)
		}
		const most = 1000
		all = append([]protocol.SessionInfo{}, all[:min(len(all), most)]...)
		for i := range all {
			if t := all[i].Title; t != nil {
				*t = c.plain(*t)
			}
		}
		return protocol.ListSessionsResponse{Sessions: all}, nil
	})
}
