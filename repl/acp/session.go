package acp

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	protocol "github.com/coder/acp-go-sdk"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/steer"
	"gemline/repl/output"
	"gemline/tools/mcp/rpc"
)

// A held is a session of an editor's.
type held struct {
	client *client
	id     protocol.SessionId
	talk   *Conversation
	ctx    context.Context // of the session
	end    context.CancelFunc
	view   view

	mu     sync.Mutex
	queue  []*prompt // the first one is worked on
	closed bool
	mode   string // that the editor knows of
	known  string // the commands that the editor knows of
	serial int    // of hints
}

// open begins a session, or goes on with one.
func (c *client) open(ctx context.Context, m *rpc.Message) (any, error) {
	var p struct {
		SessionID   protocol.SessionId `json:"sessionId"`
		Cwd         string             `json:"cwd"`
		Directories []string           `json:"additionalDirectories"`
		Servers     []Server           `json:"mcpServers"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
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
		h, err := c.hold(ctx, Wish{Dir: filepath.Clean(p.Cwd), Directories: p.Directories, Servers: p.Servers, Session: string(p.SessionID)})
		if err != nil {
			return nil, err
		}
		if m.Method == protocol.AgentMethodSessionLoad {
			h.replay(ctx)
		}
		said := protocol.NewSessionResponse{SessionId: h.id, Modes: h.modes(), Models: h.models(), ConfigOptions: h.options()}
		var answer any = said
		if !fresh {
			answer = protocol.LoadSessionResponse{Modes: said.Modes, Models: said.Models, ConfigOptions: said.ConfigOptions}
		}
		return rpc.Followed{Result: answer, Then: func() { c.also(h.tellCommands) }}, nil // for the id means nothing before
	})
}

// hold begins the session of a wish.
func (c *client) hold(ctx context.Context, w Wish) (*held, error) {
	h := &held{client: c, id: protocol.SessionId(w.Session), view: view{calls: map[string]*call{}}}
	h.ctx, h.end = context.WithCancel(c.ctx)
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
		return nil, rpc.Errorf(rpc.Busy, "%d sessions are open, which are all that may be; session/close closes one", mostSessions)
	}
	w.Approver, w.Notify, w.Show = h, h.warn, h.show
	w.Tell = h.note
	w.Write = func(text string) { h.say(strings.ReplaceAll(output.Escape(text), "\n", "  \n")) } // or Markdown makes one line of all
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
	h.talk, h.id, h.mode = talk, protocol.SessionId(talk.ID), talk.Mode.Now()
	c.sessions[talk.ID] = h
	return h, nil
}

// find returns the session of an id.
func (c *client) find(id protocol.SessionId) (*held, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.sessions[string(id)]; h != nil {
		return h, nil
	}
	return nil, invalid("there is no session %.100q; session/load goes on with one that was kept", string(id))
}

// close ends a session.
func (c *client) close(_ context.Context, m *rpc.Message) (any, error) {
	var p protocol.CloseSessionRequest
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return nil, invalid("%s", err)
	}
	h, err := c.find(p.SessionId)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.closed = true
	last := []*prompt{}
	last = append(last, h.queue...)
	h.mu.Unlock()
	h.stop()
	return c.later(func() (any, error) {
		for _, one := range last {
			one.wait(c.ctx)
		}
		c.mu.Lock()
		mine := c.sessions[string(h.id)] == h
		delete(c.sessions, string(h.id))
		c.mu.Unlock()
		if mine {
			h.end()
			h.talk.Close()
		}
		return struct{}{}, nil
	})
}

// A prompt is what the user has said, or something else that has its turn.
type prompt struct {
	asked
	instead func() (any, error) // is done in the place of a prompt, if not nil
	size    int
	hint    string // the id of the hint that it is to be, "" for none
	given   bool   // as a hint, to the model
	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{}
	answer  any
	err     error
}

// prompt takes a prompt in, which is worked on when those before it are over.
func (c *client) prompt(ctx context.Context, m *rpc.Message) (any, error) {
	var p protocol.PromptRequest
	size := len(m.Params)
	err := json.Unmarshal(m.Params, &p)
	m.Params = nil // which is large
	if err != nil {
		return nil, invalid("%s", err)
	}
	h, err := c.find(p.SessionId)
	if err != nil {
		return nil, err
	}
	said, err := read(p.Prompt)
	if err != nil {
		return nil, invalid("%s", err)
	}
	return h.queued(ctx, &prompt{asked: said, size: size})
}

// queued has something wait for its turn, and answers when it is over.
func (h *held) queued(ctx context.Context, one *prompt) (any, error) {
	one.done = make(chan struct{})
	one.ctx, one.cancel = context.WithCancel(h.ctx)
	stop := context.AfterFunc(ctx, one.cancel) // the request was given up
	if err := h.enter(one); err != nil {
		stop()
		one.cancel()
		return nil, err
	}
	return h.client.later(func() (any, error) {
		defer stop()
		return one.wait(h.client.ctx)
	})
}

// wait waits until a prompt is over.
func (p *prompt) wait(ctx context.Context) (any, error) {
	select {
	case <-p.done:
		return p.answer, p.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// enter has a prompt wait for its turn.
func (h *held) enter(p *prompt) error {
	const most = 100 // prompts
	c := h.client
	c.mu.Lock()
	defer c.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case h.closed:
		return invalid("the session is closed")
	case len(h.queue) >= most || c.waiting+p.size > mostWaiting:
		return rpc.Errorf(rpc.Busy, "too many prompts are waiting; wait for the answers before you send more")
	}
	c.waiting += p.size
	if len(h.queue) > 0 && h.talk.Hints != nil && p.isHint() {
		h.serial++
		p.hint = strconv.Itoa(h.serial)
		h.talk.Hints.Add(steer.Hint{ID: p.hint, Text: p.text})
	}
	if h.queue = append(h.queue, p); len(h.queue) == 1 {
		c.calls.Add(1)
		go func() {
			defer c.calls.Done()
			defer c.panic.Catch(c.cancel)
			h.work()
		}()
	}
	return nil
}

// work works on prompts until there are no more.
func (h *held) work() {
	for p := h.first(); p != nil; p = h.next(p) {
		h.attend(p)
	}
}

// isHint reports whether a prompt may be told to the model while it works: it is words, and no
// command.
func (p *prompt) isHint() bool {
	return p.instead == nil && len(p.beside) == 0 && !strings.HasPrefix(strings.TrimSpace(p.text), "/")
}

// given notes which prompts the model was told while it worked.
func (h *held) given(g *steer.Given) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.queue {
		p.given = p.given || slices.ContainsFunc(g.Hints, func(one steer.Hint) bool { return one.ID == p.hint })
	}
}

func (h *held) wasGiven(p *prompt) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return p.given
}

// attend works on a prompt. Whatever happens, whoever waits for it goes on.
func (h *held) attend(p *prompt) {
	defer close(p.done)
	defer p.cancel()
	p.err = context.Canceled
	switch {
	case h.wasGiven(p):
		p.answer, p.err = protocol.PromptResponse{StopReason: protocol.StopReasonEndTurn, Meta: (&spent{}).meta()}, nil
	case p.instead != nil:
		p.answer, p.err = p.instead()
	default:
		p.answer, p.err = h.ask(p)
	}
}

func (h *held) first() *prompt {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.queue[0]
}

// next returns the prompt behind p, which is over; nil if there is none.
func (h *held) next(p *prompt) *prompt {
	h.client.mu.Lock()
	h.client.waiting -= p.size
	h.client.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.queue[0] = nil
	if h.queue = h.queue[1:]; len(h.queue) == 0 {
		return nil
	}
	return h.queue[0]
}

// stop cancels what the session works on, and what waits.
func (h *held) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.queue {
		p.cancel()
	}
}

// running returns the context of the prompt that is worked on.
func (h *held) running() context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queue) == 0 {
		return h.ctx
	}
	return h.queue[0].ctx
}

// ask has the model work on a prompt, and says how that ended.
func (h *held) ask(p *prompt) (any, error) {
	count := &spent{}
	h.view.count = count
	if h.talk.Hints != nil {
		h.talk.Hints.Take() // those that came too late are prompts like others
	}
	h.talk.Tally.Start(time.Now())
	err := h.converse(p)
	h.talk.Tally.End(err, time.Now())
	h.tellMode()
	h.tellCommands()
	said := protocol.PromptResponse{StopReason: protocol.StopReasonEndTurn, Meta: count.meta()}
	if err == nil {
		return said, nil
	}
	switch o := h.client.Outcome(err).Complete(); {
	case h.client.ctx.Err() != nil:
		return nil, h.client.ctx.Err()
	case p.ctx.Err() != nil, errors.Is(err, context.Canceled):
		said.StopReason = protocol.StopReasonCancelled
	case o.Reason == "max_turns":
		said.StopReason = protocol.StopReasonMaxTurnRequests
	case o.Reason == "cut_short":
		said.StopReason = protocol.StopReasonMaxTokens
	case o.Reason == "input", o.Reason == "usage": // a command's, for the user to read
		h.say(output.Escape("error: " + h.client.failed(err).(*rpc.Error).Message + "\n"))
	default:
		return nil, h.client.failed(err)
	}
	return said, nil
}

// converse carries out commands and says the rest to the model.
func (h *held) converse(p *prompt) (failure error) {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	parts := p.beside
	if p.text != "" {
		said, err := h.talk.Expand(p.ctx, []*genai.Part{genai.NewPartFromText(p.text)})
		if err != nil || len(said) == 0 {
			return err
		}
		parts = append(said, parts...)
	}
	for ev, err := range h.talk.Run(p.ctx, parts...) {
		if err != nil {
			failure = err
			continue // it is the last
		}
		h.show(ev)
	}
	return failure
}

// setMode changes the approval mode.
func (c *client) setMode(ctx context.Context, m *rpc.Message) (any, error) {
	var p protocol.SetSessionModeRequest
	return c.turn(ctx, m, &p, func(h *held) (Switch, string) { return h.talk.Mode, modeNamed(string(p.ModeId)) }, func() protocol.SessionId { return p.SessionId })
}

// setModel changes the model.
func (c *client) setModel(ctx context.Context, m *rpc.Message) (any, error) {
	var p protocol.UnstableSetSessionModelRequest
	return c.turn(ctx, m, &p, func(h *held) (Switch, string) { return h.talk.Model, string(p.ModelId) }, func() protocol.SessionId { return p.SessionId })
}

// setOption changes either of them, as newer editors do it.
func (c *client) setOption(ctx context.Context, m *rpc.Message) (any, error) {
	var p struct {
		SessionID protocol.SessionId `json:"sessionId"`
		ConfigID  string             `json:"configId"`
		Value     any                `json:"value"`
	}
	value := func() string { v, _ := p.Value.(string); return v }
	return c.turn(ctx, m, &p, func(h *held) (Switch, string) {
		switch p.ConfigID {
		case modeOption:
			return h.talk.Mode, modeNamed(value())
		case modelOption:
			return h.talk.Model, value()
		}
		return Switch{}, ""
	}, func() protocol.SessionId { return p.SessionID })
}

// turn turns a switch of a session, which the parameters name.
func (c *client) turn(ctx context.Context, m *rpc.Message, params any, which func(*held) (Switch, string), session func() protocol.SessionId) (any, error) {
	if err := json.Unmarshal(m.Params, params); err != nil {
		return nil, invalid("%s", err)
	}
	h, err := c.find(session())
	if err != nil {
		return nil, err
	}
	sw, id := which(h)
	if sw.Set == nil {
		return nil, invalid("there is no such option; there are %s and %s", modeOption, modelOption)
	}
	do := func() (any, error) {
		if err := sw.Set(ctx, id); err != nil {
			return nil, invalid("%s", c.plain(c.Outcome(err).Complete().Message))
		}
		h.tellMode()
		if m.Method == protocol.AgentMethodSessionSetConfigOption {
			return protocol.SetSessionConfigOptionResponse{ConfigOptions: h.options()}, nil
		}
		return struct{}{}, nil
	}
	if sw.Turn { // as what is worked on goes by it
		return h.queued(ctx, &prompt{instead: do})
	}
	return c.later(do)
}

// The options of a session.
const (
	modeOption  = "mode"
	modelOption = "model"
)

// modeIDs are what editors know approval modes by.
var modeIDs = map[string]string{"auto_edit": "autoEdit"}

// modeNames are what people read.
var modeNames = map[string]string{"default": "Default", "auto_edit": "Auto Edit", "auto": "Auto", "yolo": "YOLO", "plan": "Plan"}

// modeID returns what editors call an approval mode.
func modeID(mode string) string {
	if id := modeIDs[mode]; id != "" {
		return id
	}
	return mode
}

// modeNamed is the reverse.
func modeNamed(id string) string {
	for mode, known := range modeIDs {
		if known == id {
			return mode
		}
	}
	return id
}

func (h *held) modes() *protocol.SessionModeState {
	s := &protocol.SessionModeState{CurrentModeId: protocol.SessionModeId(modeID(h.talk.Mode.Now()))}
	for _, p := range h.talk.Mode.All() {
		about := p.About
		s.AvailableModes = append(s.AvailableModes, protocol.SessionMode{Id: protocol.SessionModeId(modeID(p.ID)), Name: modeNames[p.ID], Description: &about})
	}
	return s
}

func (h *held) models() *protocol.SessionModelState {
	s := &protocol.SessionModelState{CurrentModelId: protocol.ModelId(h.talk.Model.Now())}
	for _, p := range h.talk.Model.All() {
		about := p.About
		s.AvailableModels = append(s.AvailableModels, protocol.ModelInfo{ModelId: protocol.ModelId(p.ID), Name: p.Name, Description: &about})
	}
	return s
}

// options returns both, as newer editors read them.
func (h *held) options() []protocol.SessionConfigOption {
	option := func(id, name, now string, category protocol.SessionConfigOptionCategory, all []protocol.SessionConfigSelectOption) protocol.SessionConfigOption {
		list := protocol.SessionConfigSelectOptionsUngrouped(all)
		return protocol.SessionConfigOption{Select: &protocol.SessionConfigOptionSelect{Type: "select", Id: protocol.SessionConfigId(id), Name: name, Category: &category,
			CurrentValue: protocol.SessionConfigValueId(now), Options: protocol.SessionConfigSelectOptions{Ungrouped: &list}}}
	}
	var modes, models []protocol.SessionConfigSelectOption
	ms := h.modes()
	for _, m := range ms.AvailableModes {
		modes = append(modes, protocol.SessionConfigSelectOption{Value: protocol.SessionConfigValueId(m.Id), Name: m.Name, Description: m.Description})
	}
	s := h.models()
	for _, m := range s.AvailableModels {
		models = append(models, protocol.SessionConfigSelectOption{Value: protocol.SessionConfigValueId(m.ModelId), Name: m.Name, Description: m.Description})
	}
	return []protocol.SessionConfigOption{
		option(modeOption, "Approval mode", string(ms.CurrentModeId), "mode", modes),
		option(modelOption, "Model", string(s.CurrentModelId), "model", models),
	}
}

// tellMode tells the editor of an approval mode that it does not know of.
func (h *held) tellMode() {
	now := h.talk.Mode.Now()
	h.mu.Lock()
	was := h.mode
	h.mode = now
	h.mu.Unlock()
	if was != now {
		h.update(protocol.SessionCurrentModeUpdate{SessionUpdate: "current_mode_update", CurrentModeId: protocol.SessionModeId(modeID(now))})
	}
}

// tellCommands tells the editor of the slash commands, if it does not know of them.
func (h *held) tellCommands() {
	all := h.talk.Commands()
	b, err := json.Marshal(all)
	if err != nil {
		return
	}
	h.mu.Lock()
	was := h.known
	h.known = string(b)
	h.mu.Unlock()
	if was != string(b) {
		h.update(protocol.SessionAvailableCommandsUpdate{SessionUpdate: "available_commands_update", AvailableCommands: all})
	}
}

var _ engine.Approver = (*held)(nil)
