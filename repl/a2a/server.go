package a2a

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	protocol "github.com/a2aproject/a2a-go/a2a"
	"github.com/mark3labs/mcp-go/mcp"

	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/repl/report"
	"gemline/repl/serve"
)

// Config is the configuration of a server.
type Config struct {
	Version string // of this program
	Dir     string // the working directory
	Folder  string // the folder of stored tasks; "" stores none
	Address string // the address of the server

	// Begin begins a conversation, or resumes it by its name.
	Begin func(ctx context.Context, w serve.SessionRequest) (*serve.Session, error)

	Outcome func(error) report.Outcome // classifies the end of work
	Redact  func(string) string        // removes secrets
	Warn    func(string)               // warns the user who started the server

	// Commands are the commands that clients may run. Execute runs a command and returns
	// its data, or else a prompt for the model.
	Commands []Command
	Execute  func(ctx context.Context, name, args string) (data any, prompt string, err error)

	Servers func() []Connected // the MCP servers of the folder
}

// A Command is a command for clients, in the form of its description for them.
type Command struct {
	Name        string     `json:"name"` // with its parent command, such as "memory show"
	Description string     `json:"description"`
	Arguments   []Argument `json:"arguments"`
	Sub         []Command  `json:"subCommands"`
}

// An Argument is an argument of a [Command].
type Argument struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"isRequired"`
}

// A Connected is an MCP server, for clients.
type Connected struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Tools  []Tool `json:"tools"`
}

// A Server serves clients. It is an [http.Handler] of requests from authorized clients.
type Server struct {
	Config
	ctx      context.Context
	group    *serve.Group
	store    store
	patience time.Duration // for slow readers
	mux      http.ServeMux

	mu    sync.Mutex
	tasks []*task // the last used first
}

// Limits of a server.
const (
	mostTasks  = 256
	mostUnused = 64 // tasks without a message
	mostBusy   = 16 // tasks that work, or wait for approval
	mostOpen   = 32 // open conversations
	mostNames  = 200
)

// New returns a server with the stored tasks. It serves until ctx ends. Its goroutines belong to g.
func New(ctx context.Context, g *serve.Group, cfg Config) (*Server, error) {
	s := &Server{Config: cfg, ctx: ctx, group: g, store: store(cfg.Folder), patience: serve.Patience}
	s.routes()
	all, done, err := s.store.open(ctx, cfg.Warn)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(all) {
		t := s.hold(r)
		if r.Pending == nil && r.Task.Status.State == protocol.TaskStateWorking {
			if err := t.status(protocol.TaskStateFailed, t.message(interrupted), nil); err != nil {
				done()
				return nil, err
			}
		}
	}
	g.Go(func() {
		<-ctx.Done()
		s.close()
		done()
	})
	return s, nil
}

const interrupted = "the task was interrupted: gemline ended while it was worked on. A new task with the same contextId resumes the conversation"

// close waits for running turns, and ends all conversations.
func (s *Server) close() {
	for _, t := range s.all() { // no turn begins after the end of ctx
		if u := t.turn.Load(); u != nil {
			<-u.finished
		}
		t.hangUp()
	}
}

// all returns the tasks, the last used first.
func (s *Server) all() []*task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tasks)
}

func (s *Server) hold(r record) *task {
	t := &task{server: s, record: r}
	t.asks.Store(r.Pending != nil || r.Task.Status.State == "") // a task without a state is being made, and must not be forgotten
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks = slices.Insert(s.tasks, 0, t)
	return t
}

// touch marks a task as used. It returns false if the task was forgotten.
func (s *Server) touch(t *task) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.tasks, t)
	if i >= 0 {
		s.tasks = slices.Insert(slices.Delete(s.tasks, i, i+1), 0, t)
	}
	return i >= 0
}

func (s *Server) find(id protocol.TaskID) (*task, error) {
	for _, t := range s.all() {
		if t.record.Task.ID == id {
			return t, nil
		}
	}
	return nil, faultf(taskNotFound, "there is no task %.100q", string(id))
}

// plain returns a text for clients.
func (s *Server) plain(words string) string { return output.Valid(s.Redact(words)) }

// settings are a client's settings for a new task.
type settings struct {
	Workspace string `json:"workspacePath"`
	Unasked   bool   `json:"autoExecute"`
}

// newTask makes a task in a context. If the context's last task has ended, the new task resumes its
// session.
func (s *Server) newTask(contextID string, w settings) (*task, error) {
	switch {
	case len(contextID) > mostNames || output.EscapeLine(contextID) != contextID:
		return nil, faultf(mcp.INVALID_PARAMS, "contextId is a short name")
	case w.Workspace != "" && disk.ResolveLinks(filepath.Clean(w.Workspace)) != disk.ResolveLinks(s.Dir):
		return nil, faultf(mcp.INVALID_PARAMS,
			"this server works in %s; begin another one in %.300s", s.Dir, w.Workspace)
	}
	id := protocol.NewTaskID()
	r := record{Session: string(id), Unasked: w.Unasked,
		Task: protocol.Task{ID: id, ContextID: cmp.Or(contextID, protocol.NewContextID())}}
	all := s.all()
	if i := slices.IndexFunc(all, func(t *task) bool { return t.record.Task.ContextID == r.Task.ContextID }); i >= 0 && all[i].state().Terminal() {
		r.Session = all[i].record.Session
	}
	if len(all) >= mostTasks && !slices.ContainsFunc(all, (*task).idle) {
		return nil, faultf(serverError,
			"%d tasks are worked on or wait for an answer, and there can be no more; answer or cancel some", len(all))
	}
	t := s.hold(r)
	t.mu.Lock()
	err := t.status(protocol.TaskStateSubmitted, nil, nil)
	t.mu.Unlock()
	if err != nil {
		t.forget()
		return nil, err
	}
	return t, nil
}

// shrink forgets the least recently used tasks above the limit.
func (s *Server) shrink() {
	all := s.all()
	surplus := len(all) - mostTasks
	for _, t := range slices.Backward(all) {
		if surplus > 0 && t.forget() {
			surplus--
		}
	}
}

// idle reports whether a task neither works nor waits for approval.
func (t *task) idle() bool { return t.turn.Load() == nil && !t.asks.Load() }

// forget removes an idle task. Its session remains.
func (t *task) forget() bool {
	t.mu.Lock()
	idle := t.idle()
	if idle {
		s := t.server
		s.mu.Lock()
		s.tasks = slices.DeleteFunc(s.tasks, func(one *task) bool { return one == t })
		s.mu.Unlock()
		s.store.forget(t.record.Task.ID)
	}
	t.mu.Unlock()
	if idle {
		t.hangUp()
	}
	return idle
}

// say handles a client's message. If along is set, it returns a stream, which begins with the task
// if that is new; otherwise it waits for the task's next resting state.
func (s *Server) say(ctx context.Context, p *protocol.MessageSendParams, along bool) (*task, *stream, error) {
	m, err := s.readMessage(p)
	if err != nil {
		return nil, nil, err
	}
	var t *task
	fresh := m.TaskID == ""
	if fresh {
		t, err = s.newTask(m.ContextID, m.settings)
	} else {
		t, err = s.find(m.TaskID)
	}
	if err != nil {
		return nil, nil, err
	}
	waits := p.Config == nil || p.Config.Blocking == nil || *p.Config.Blocking
	st, err := t.take(ctx, m, along || waits, fresh)
	switch {
	case fresh && err != nil:
		t.forget()
	case fresh:
		s.shrink()
	}
	if err != nil || along || !waits {
		return t, st, err
	}
	for range st.events { // until the turn ends or asks
	}
	return t, nil, ctx.Err()
}

// A clientMessage is a client's message: words, or an answer to a question.
type clientMessage struct {
	*protocol.Message
	words    string
	answer   *clientAnswer
	settings settings
}

// readMessage reads a message.
func (s *Server) readMessage(p *protocol.MessageSendParams) (m clientMessage, err error) {
	if m.Message = p.Message; m.Message == nil || m.ID == "" || len(m.ID) > mostNames ||
		m.Role != protocol.MessageRoleUser || len(m.Parts) == 0 {
		return m, faultf(mcp.INVALID_PARAMS, "a message has a messageId, the role user and parts")
	}
	if p.Config != nil && p.Config.PushConfig != nil {
		return m, faultf(noPush, "nothing is sent to where a client says; tasks/resubscribe follows a task")
	}
	var all []string
	for i, part := range m.Parts {
		switch part := part.(type) {
		case protocol.TextPart:
			all = append(all, part.Text)
			part.Text = s.plain(text.Shorten(part.Text, mostMessage)) // the stored form
			m.Parts[i] = part
		case protocol.DataPart:
			if m.answer != nil || convert(part.Data, &m.answer) != nil || m.answer == nil || m.answer.CallID == "" {
				return m, faultf(mcp.INVALID_PARAMS,
					"a message has text, or one data part that answers a call; gemline help a2a describes it")
			}
		default:
			return m, faultf(wrongContent,
				"a message has text, and no files; name a file in %s instead", s.Dir)
		}
	}
	m.words = strings.TrimSpace(strings.Join(all, "\n"))
	switch {
	case m.words == "" && m.answer == nil:
		return m, faultf(mcp.INVALID_PARAMS, "the message is empty")
	case m.TaskID == "" && m.answer != nil:
		return m, faultf(mcp.INVALID_PARAMS,
			"an answer is for the task that asks: the message needs its taskId")
	}
	for _, meta := range []map[string]any{p.Metadata, m.Metadata} {
		if err := convert(meta["coderAgent"], &m.settings); err != nil {
			return m, faultf(mcp.INVALID_PARAMS, "metadata.coderAgent can't be used: %v", err)
		}
	}
	return m, nil
}

// convert converts a JSON value into another type.
func convert(v, into any) error {
	b, _ := json.Marshal(v)
	return json.Unmarshal(b, into)
}

// begin starts a turn of a task. Above the limit, it stops the turn that has waited longest for
// approval.
func (s *Server) begin(t *task) (*turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	var busy, asking []*turn
	for _, other := range s.tasks {
		if u := other.turn.Load(); u != nil && u.ctx.Err() == nil {
			busy = append(busy, u)
			if other.asks.Load() {
				asking = append(asking, u)
			}
		}
	}
	if len(busy) >= mostBusy {
		if asking == nil {
			return nil, faultf(serverError,
				"%d tasks are worked on, and no more can be at once; try again when one is over", len(busy))
		}
		asking[len(asking)-1].stop(errParked)
	}
	u := &turn{task: t, answers: make(chan clientAnswer, 1), finished: make(chan struct{}),
		calls: map[string]*call{}, thinkers: map[string]thinker{}}
	u.ctx, u.stop = context.WithCancelCause(s.ctx)
	t.turn.Store(u)
	return u, nil
}

// tidy closes the least recently used conversations, if more than mostOpen are open.
func (s *Server) tidy() {
	open := slices.DeleteFunc(s.all(), func(t *task) bool { return t.openSession.Load() == nil })
	for _, t := range open[min(len(open), mostOpen):] {
		closing := &turn{task: t, over: true, finished: make(chan struct{})} // messages wait for its end
		closing.ctx, closing.stop = context.WithCancelCause(s.ctx)
		closing.stop(nil)
		t.mu.Lock()
		closes := t.turn.CompareAndSwap(nil, closing)
		t.mu.Unlock()
		if closes {
			t.hangUp()
			t.turn.Store(nil)
			close(closing.finished)
		}
	}
}

// routes registers the handlers of the server.
func (s *Server) routes() {
	s.mux.HandleFunc("POST /{$}", s.rpc)
	s.mux.HandleFunc("POST /tasks", s.create)
	s.mux.HandleFunc("GET /tasks/metadata", s.describe)
	s.mux.HandleFunc("GET /tasks/{id}/metadata", s.describe)
	s.mux.HandleFunc("GET /listCommands", s.listCommands)
	s.mux.HandleFunc("POST /executeCommand", s.execute)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusNotFound
		if r.Method != http.MethodGet && r.Method != http.MethodPost {
			w.Header().Set("Allow", "GET, POST")
			status = http.StatusMethodNotAllowed
		}
		serve.WriteError(w, status, "nothing here takes such a request; gemline help a2a lists the addresses")
	})
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }
