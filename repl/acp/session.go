package acp

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	protocol "github.com/coder/acp-go-sdk"

	"gemline/repl/output"
	"gemline/tools/mcp/rpc"
)

// An editorSession is a session of an editor.
type editorSession struct {
	client  *client
	session *Session
	end     context.CancelFunc
	view    view

	mu     sync.Mutex
	queue  []*prompt // the first is running
	closed bool
	told   map[string]string // by type, the last update in JSON
	serial int               // the number of the last hint
}

// open begins or resumes a session.
func (c *client) open(ctx context.Context, m *rpc.Message) (any, error) {
	var p struct {
		SessionID   protocol.SessionId `json:"sessionId"`
		Cwd         string             `json:"cwd"`
		Directories []string           `json:"additionalDirectories"`
		Servers     []Server           `json:"mcpServers"`
	}
	if err := rpc.Unmarshal(m.Params, &p); err != nil {
		return nil, invalid("%s", err)
	}
	fresh := m.Method == protocol.AgentMethodSessionNew
	switch {
	case !filepath.IsAbs(p.Cwd):
		return nil, invalid("cwd must be an absolute path")
	case fresh:
		p.SessionID = ""
	case p.SessionID == "":
		return nil, invalid("sessionId is needed")
	}
	return c.later(func() (any, error) {
		h, err := c.beginSession(ctx, SessionRequest{Dir: filepath.Clean(p.Cwd), Directories: p.Directories,
			Servers: p.Servers, Session: string(p.SessionID)})
		if err != nil {
			return nil, err
		}
		if m.Method == protocol.AgentMethodSessionLoad {
			h.view.replay(ctx)
		}
		said := protocol.NewSessionResponse{SessionId: h.view.id, Modes: h.modes(), Models: h.models()}
		var answer any = said
		if !fresh {
			answer = protocol.LoadSessionResponse{Modes: said.Modes, Models: said.Models}
		}
		return rpc.ResultThen{Result: answer, Then: func() { c.also(h.tellCommands) }}, nil // the editor must know the id first
	})
}

// beginSession begins the requested session.
func (c *client) beginSession(ctx context.Context, w SessionRequest) (*editorSession, error) {
	h := &editorSession{client: c, told: map[string]string{}, view: view{client: c, id: protocol.SessionId(w.Session), calls: map[string]*call{}, used: map[string]int{}}}
	h.view.ctx, h.end = context.WithCancel(c.ctx)
	c.mu.Lock()
	_, open := c.sessions[w.Session]
	full := len(c.sessions)+c.opening >= mostSessions
	if !open && !full {
		c.opening++
		w.Editor = h.editor(c.can)
	}
	c.mu.Unlock()
	switch {
	case open:
		h.end()
		return nil, rpc.Errorf(missing, "the session %.100q is open already", w.Session)
	case full:
		h.end()
		return nil, rpc.Errorf(rpc.Busy, "%d sessions are open, and there can be no more; session/close closes one", mostSessions)
	}
	w.Approver, w.Notify, w.Show = h, h.view.warn, h.show
	w.Tell = h.view.note
	w.Write = func(text string) {
		h.view.say(strings.ReplaceAll(output.Escape(text), "\n",
			"  \n"))
	} // Markdown would join the lines
	talk, err := c.Begin(ctx, w)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opening--
	if err == nil && c.sessions[talk.ID] != nil {
		talk.Close()
		err = errors.New("this session is open already")
	}
	if err != nil {
		h.end()
		return nil, c.failed(err)
	}
	h.session, h.view.talk, h.view.id = talk, talk, protocol.SessionId(talk.ID)
	h.changed(h.modeUpdate())
	c.sessions[talk.ID] = h
	return h, nil
}

// find returns the session of an id.
func (c *client) find(id protocol.SessionId) (*editorSession, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.sessions[string(id)]; h != nil {
		return h, nil
	}
	return nil, invalid("there is no session %.100q; session/load resumes a stored session", string(id))
}

// close ends a session.
func (c *client) close(_ context.Context, m *rpc.Message) (any, error) {
	var p protocol.CloseSessionRequest
	if err := rpc.Unmarshal(m.Params, &p); err != nil {
		return nil, invalid("%s", err)
	}
	h, err := c.find(p.SessionId)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.closed = true
	last := slices.Clone(h.queue)
	h.mu.Unlock()
	h.stop()
	return c.later(func() (any, error) {
		for _, one := range last {
			one.wait(c.ctx)
		}
		c.mu.Lock()
		mine := c.sessions[string(h.view.id)] == h
		delete(c.sessions, string(h.view.id))
		c.mu.Unlock()
		if mine {
			h.end()
			h.session.Close()
		}
		return struct{}{}, nil
	})
}
