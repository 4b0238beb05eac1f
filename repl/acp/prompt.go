package acp

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	protocol "github.com/coder/acp-go-sdk"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/steer"
	"gemline/repl/output"
	"gemline/repl/report"
	"gemline/tools/mcp/rpc"
)

// A prompt is a prompt of the user, or another task in the queue.
type prompt struct {
	promptContent
	instead func() (any, error) // replaces a prompt, if not nil
	size    int
	hint    string      // the id of the prompt as a hint, "" for none
	given   atomic.Bool // sent to the model as a hint
	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{}
	answer  any
	err     error
}

// prompt queues a prompt, which runs after the prompts before it.
func (c *client) prompt(ctx context.Context, m *rpc.Message) (any, error) {
	var p protocol.PromptRequest
	size := len(m.Params)
	err := rpc.Unmarshal(m.Params, &p)
	m.Params = nil // frees memory
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
	return h.queued(ctx, &prompt{promptContent: said, size: size})
}

// queued queues a task, and returns its result when it is over.
func (h *editorSession) queued(ctx context.Context, one *prompt) (any, error) {
	one.done = make(chan struct{})
	one.ctx, one.cancel = context.WithCancel(h.view.ctx)
	stop := context.AfterFunc(ctx, one.cancel) // the client has cancelled the request
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

// enter adds a prompt to the queue.
func (h *editorSession) enter(p *prompt) error {
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
	if len(h.queue) > 0 && h.session.Hints != nil && p.isHint() {
		h.serial++
		p.hint = strconv.Itoa(h.serial)
		h.session.Hints.Add(steer.Hint{ID: p.hint, Text: p.text})
	}
	if h.queue = append(h.queue, p); len(h.queue) == 1 {
		c.calls.Add(1)
		go func() {
			defer c.calls.Done()
			defer c.panic.Catch(c.cancel)
			for p := p; p != nil; p = h.next(p) {
				h.attend(p)
			}
		}()
	}
	return nil
}

// isHint reports whether a prompt may be sent to the model while it works: it has only words, and
// is no command.
func (p *prompt) isHint() bool {
	return p.instead == nil && len(p.beside) == 0 && !strings.HasPrefix(strings.TrimSpace(p.text), "/")
}

// given stores which prompts the model got while it worked.
func (h *editorSession) given(g *steer.GivenHints) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.queue {
		if slices.ContainsFunc(g.Hints, func(one steer.Hint) bool { return one.ID == p.hint }) {
			p.given.Store(true)
		}
	}
}

// attend works on a prompt. Even after a panic, waiting requests are answered.
func (h *editorSession) attend(p *prompt) {
	defer close(p.done)
	defer p.cancel()
	p.err = context.Canceled
	switch {
	case p.given.Load():
		p.answer, p.err = protocol.PromptResponse{StopReason: protocol.StopReasonEndTurn, Meta: (&spent{}).meta()}, nil
	case p.instead != nil:
		p.answer, p.err = p.instead()
	default:
		p.answer, p.err = h.ask(p)
	}
}

// next removes the finished prompt p and returns the prompt behind it, nil if there is none.
func (h *editorSession) next(p *prompt) *prompt {
	h.client.mu.Lock()
	h.client.waiting -= p.size
	h.client.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.queue = slices.Delete(h.queue, 0, 1); len(h.queue) == 0 {
		return nil
	}
	return h.queue[0]
}

// stop cancels the running prompt and the queued prompts.
func (h *editorSession) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.queue {
		p.cancel()
	}
}

// running returns the context of the running prompt.
func (h *editorSession) running() context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queue) == 0 {
		return h.view.ctx
	}
	return h.queue[0].ctx
}

// ask lets the model work on a prompt, and returns the outcome.
func (h *editorSession) ask(p *prompt) (any, error) {
	count := &spent{}
	h.view.count = count
	clear(h.view.calls) // such as the call of a cancelled check
	if h.session.Hints != nil {
		h.session.Hints.Take() // late hints are separate prompts
	}
	h.session.Tally.Start(time.Now())
	err := h.converse(p)
	h.session.Tally.End(err, time.Now())
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
	default:
		return nil, h.client.failed(err)
	}
	return said, nil
}

// converse runs commands and sends the rest to the model.
func (h *editorSession) converse(p *prompt) (failure error) {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	parts := p.beside
	if p.text != "" {
		said, err := h.session.Expand(p.ctx, []*genai.Part{genai.NewPartFromText(p.text)})
		if err != nil && p.ctx.Err() == nil && !errors.Is(err, context.Canceled) { // a command's error, for the user
			h.view.say(output.Escape("error: " + h.client.failed(err).(*rpc.Error).Message + "\n"))
			return nil
		}
		if err != nil || len(said) == 0 {
			return err
		}
		parts = append(said, parts...)
	}
	for ev, err := range h.session.Run(p.ctx, parts...) {
		if err != nil {
			failure = err
			continue // the last event
		}
		h.show(ev)
	}
	return failure
}

// show sends an event to the editor.
func (h *editorSession) show(ev engine.Event) {
	h.session.Tally.Observe(ev, time.Now())
	h.view.count.add(ev)
	within := "" // the calls of agents around the event: call ids are unique only within them
	for n, ok := ev.(engine.NestedEvent); ok; n, ok = n.Event.(engine.NestedEvent) {
		within += n.ID + " "
	}
	agent, ev := engine.Unnest(ev)
	switch ev := ev.(type) {
	case engine.Text:
		if agent == "" {
			h.view.say(ev.Delta)
		}
	case engine.Thought:
		if agent == "" {
			h.view.chunk("agent_thought_chunk", ev.Delta)
		}
	case engine.CallRequested:
		h.view.call(within + ev.ID).args = ev.Args
	case engine.CallStarted:
		h.view.begin(within+ev.ID, ev.Name, agent, ev.Intent, protocol.ToolCallStatusInProgress, nil)
	case engine.Output:
		ev.ID = within + ev.ID
		h.view.printed(ev)
	case engine.CallFinished:
		ev.ID = within + ev.ID
		h.view.finish(ev, agent)
	case engine.CheckFinished:
		h.view.checked(ev)
	case engine.Retry:
		h.view.note(report.RetryText(ev))
		if ev.Restart && agent == "" {
			h.view.say("\n\n(The answer broke off. It begins again.)\n\n")
		}
	case engine.Notice:
		if g := (*steer.GivenHints)(nil); errors.As(ev.Cause, &g) {
			h.given(g)
		}
		said := ev.Text
		if agent != "" {
			said = agent + ": " + said
		}
		if ev.Info {
			h.view.note(said)
		} else {
			h.view.warn(said)
		}
	case engine.Citations:
		if list := sources(ev); agent == "" && list != "" {
			h.view.say(list)
		}
	}
}
