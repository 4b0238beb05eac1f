package a2a

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	protocol "github.com/a2aproject/a2a-go/a2a"

	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/parallel"
	"gemline/engine/text"
	"gemline/repl/report"
	"gemline/repl/serve"
)

// The kinds of events in the Gemini CLI's words; the last is gemline's own.
const (
	kindConfirm  = "tool-call-confirmation"
	kindCall     = "tool-call-update"
	kindText     = "text-content"
	kindState    = "state-change"
	kindThought  = "thought"
	kindCitation = "citation"
	kindNotice   = "notice"
)

// A turn works on a message.
type turn struct {
	task     *task
	ctx      context.Context
	stop     context.CancelCauseFunc
	prompt   string
	cutOff   *pending          // the question that a restart interrupted, nil if there was none
	first    clientAnswer      // the answer to cutOff
	answers  chan clientAnswer // to questions
	finished chan struct{}     // closed when the turn is over
	over     bool              // it accepts no message any more; guarded by the task's mu

	// The working goroutine owns these.
	calls    map[string]*call   // calls that run, by agent and id
	thinkers map[string]thinker // by agent
}

// run does the work.
func (u *turn) run() {
	defer close(u.finished)
	defer u.task.server.tidy()
	defer u.stop(nil)
	if u.end(u.work()) {
		u.stop(nil) // before the conversation is closed, since the hooks at its end may be slow
		u.task.hangUp()
		u.task.turn.Store(nil)
	}
}

// work works until no message for the model is left.
func (u *turn) work() (err error) {
	t, prompt := u.task, u.prompt
	talk := t.openSession.Load()
	if talk == nil {
		if talk, err = t.server.Begin(t.server.ctx, serve.SessionRequest{Name: t.record.Session,
			Approver: t, Notify: t.notify, Unasked: t.record.Unasked}); err != nil {
			return err
		}
		t.openSession.Store(talk)
	}
	t.lastSetup.Store(setupOf(talk))
	if u.cutOff != nil {
		prompt, err = u.again(talk)
	}
	for err == nil && prompt != "" {
		if err = talk.Ask(u.ctx, u, prompt); err == nil {
			prompt = u.late(talk)
		}
	}
	return err
}

// late returns messages that came after the model's last request. Without any, the turn accepts no
// more messages: later messages wait for its end.
func (u *turn) late(talk *serve.Session) (words string) {
	u.task.mu.Lock()
	defer u.task.mu.Unlock()
	if talk.Hint != nil {
		words = talk.Late()
	}
	u.over = words == ""
	return words
}

// again proposes a call again whose question a restart interrupted. It returns the prompt for the
// model.
func (u *turn) again(talk *serve.Session) (prompt string, err error) {
	q := *u.cutOff
	defer func() { u.cutOff = nil }()
	told := "You were interrupted while the user was asked about this: " + q.Title + ". It was not done. "
	switch {
	case u.first.ends():
		u.stop(errDenied)
		return "", nil
	case u.first.Outcome == refuse:
		return strings.TrimSpace(told + "The user has refused it. " + u.first.note), nil
	case u.first.Content != nil:
		return told + "The user wants it with this in the place of what you proposed:\n" + *u.first.Content, nil
	case q.Whole:
		made, err := talk.Again(u.ctx, q.Name, q.Args, u.Event)
		if made || err != nil {
			return "The call that was interrupted while the user was asked about it is settled now, as said above. Go on with the task.", err
		}
	}
	return told + "Go on with the task.", nil
}

// wait puts the task into the state of waiting for an answer, and sends the question.
func (u *turn) wait(q *pending) error {
	t := u.task
	t.mu.Lock()
	defer t.mu.Unlock()
	said := t.says(protocol.DataPart{Data: q.data}, protocol.TextPart{Text: q.About})
	if err := t.status(protocol.TaskStateInputRequired, said, q); err != nil {
		return err
	}
	t.update(kindConfirm, said, false, nil)
	t.update(kindState, nil, true, nil)
	return nil
}

// end reports the outcome of the work, and whether the conversation has ended too. An open question
// stays open.
func (u *turn) end(err error) (closes bool) {
	t := u.task
	t.mu.Lock()
	defer t.mu.Unlock()
	state, said, more := protocol.TaskStateInputRequired, (*protocol.Message)(nil), map[string]any(nil)
	switch cause := context.Cause(u.ctx); {
	case cause == errCanceled:
		state = protocol.TaskStateCanceled
	case cause == errDenied:
	case cause != nil && t.record.Pending != nil:
		u.over = true
		return true
	case cause != nil:
		state, said = protocol.TaskStateFailed, t.message(interrupted)
	case err != nil:
		state, said = protocol.TaskStateFailed, t.message(serve.FailureText(t.server.Outcome(err)))
	}
	if err := t.status(state, said, nil); err != nil { // if the answer can't be stored, store at least the state
		state, said = protocol.TaskStateFailed, t.message(reply(nil, nil, err).Error.Message)
		t.status(state, said, nil)
	}
	if said != nil {
		more = map[string]any{"error": said.Parts[0].(protocol.TextPart).Text}
	}
	if u.over = state.Terminal(); !u.over {
		t.turn.Store(nil)
	}
	t.update(kindState, said, true, more)
	return u.over
}

// notify sends a notice that is no error.
func (t *task) notify(said string) {
	if u := t.turn.Load(); u != nil {
		u.tell(kindNotice, t.message(text.Shorten(said, mostPiece)), nil)
	}
}

// tell sends an event.
func (u *turn) tell(kind string, m *protocol.Message, more map[string]any) {
	u.change(func(t *task) { t.update(kind, m, false, more) })
}

// change calls f, which changes the task and publishes events. It returns when no reader is far
// behind, or the turn is stopped.
func (u *turn) change(f func(*task)) {
	t := u.task
	t.mu.Lock()
	f(t)
	readers := slices.Clone(t.streams)
	t.mu.Unlock()
	for _, st := range readers {
		for len(st.events) > farBehind && st.ctx.Err() == nil && parallel.Sleep(u.ctx, time.Millisecond) == nil {
		}
	}
}

// Approve implements [engine.Approver]: the task's next client decides.
func (t *task) Approve(ctx context.Context, p engine.Proposal) (engine.Answer, error) {
	u := t.turn.Load()
	if u == nil || ctx.Err() != nil {
		return nil, context.Canceled
	}
	q := t.server.ask(p)
	if was := u.cutOff; was != nil {
		if u.cutOff = nil; was.same(q) {
			if answer, ok := u.first.answer(p); ok {
				return answer, nil
			}
		}
	}
	if c := u.calls[p.Agent+" "+q.CallID]; c != nil {
		c.state, c.args, c.tool = engine.AwaitingApproval, p.Args, p.Tool
	}
	for {
		if err := u.wait(q); err != nil {
			return nil, err
		}
		select {
		case r := <-u.answers:
			if r.ends() {
				u.stop(errDenied)
			}
			if answer, ok := r.answer(p); ok {
				return answer, nil
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-u.ctx.Done(): // before a call starts that would outlive the turn
			return nil, context.Canceled
		}
	}
}

// Begin implements [report.Reporter].
func (u *turn) Begin(report.Init) {}

// Finish implements [report.Reporter].
func (u *turn) Finish(report.Outcome) error { return nil }

// Event sends an event to clients.
func (u *turn) Event(ev engine.Event) {
	t := u.task
	agent, ev := engine.Unnest(ev)
	switch ev := ev.(type) {
	case engine.Text:
		for piece := range pieces(ev.Delta) {
			if agent == "" {
				u.say(t.server.plain(string(piece)))
			}
		}
	case engine.Thought:
		u.think(agent, ev.Delta)
	case engine.AnswerFinished:
		u.thought(agent)
		if agent == "" {
			u.change((*task).flush)
		}
	case engine.Usage:
		if agent == "" && ev.Role == "" && ev.Err == nil {
			u.change(func(t *task) { t.used = ev })
		}
	case engine.CallRequested:
		u.tellCall(u.begin(agent, ev.ID, ev.Name, ev.Args), engine.Scheduled, nil)
	case engine.CallStateChanged:
		if c := u.calls[agent+" "+ev.ID]; c != nil && (ev.State == engine.Scheduled || ev.State == engine.Executing) {
			u.tellCall(c, ev.State, nil)
		}
	case engine.CallFinished:
		c := u.calls[agent+" "+ev.ID]
		if c == nil {
			c = u.begin(agent, ev.ID, ev.Name, ev.Args)
		}
		if ev.Args != nil {
			c.args = ev.Args
		}
		delete(u.calls, agent+" "+ev.ID)
		u.tellCall(c, engine.Outcome(ev.Err), c.response(ev))
	case engine.Output:
		for piece := range pieces(ev.Delta) {
			u.output(ev.ID, t.server.plain(string(piece)))
		}
	case engine.Citations:
		list := lists.Map(ev.References, func(r engine.Reference) string { return strings.TrimSpace(r.Title + " " + r.URI) })
		u.tell(kindCitation, t.message(text.Shorten("Citations:\n"+strings.Join(list, "\n"), mostPiece)), nil)
	case engine.Retry:
		u.thought(agent) // the next text is another thought
		if ev.Restart && agent == "" {
			u.change(func(t *task) { t.said = "" })
		}
		u.tell(kindNotice, t.message(report.RetryText(ev)), map[string]any{"restart": ev.Restart})
	case engine.Notice:
		u.tell(kindNotice, t.message(text.Shorten(ev.Text, mostPiece)), nil)
	}
}

// pieces splits a text into parts that fit into events.
func pieces(s string) iter.Seq[[]rune] { return slices.Chunk([]rune(s), mostPiece) }

// say sends text of the model.
func (u *turn) say(piece string) {
	u.change(func(t *task) {
		if len(t.said) < 4*mostMessage {
			t.said += piece
		}
		t.update(kindText, t.message(piece), false, nil)
	})
}

// begin stores a new call.
func (u *turn) begin(agent, id, name string, args map[string]any) *call {
	c := &call{agent: agent, id: id, name: name, args: args}
	tools := u.task.openSession.Load().Offered()
	if i := slices.IndexFunc(tools, func(t engine.Tool) bool { return t.Name() == name }); i >= 0 {
		c.tool = tools[i]
	}
	u.calls[agent+" "+id] = c
	return c
}

// tellCall reports a call's new state, with its result if the call has ended.
func (u *turn) tellCall(c *call, state engine.CallState, response map[string]any) {
	if c.state == state {
		return
	}
	c.state = state
	d := c.data()
	if response != nil {
		d["response"] = response
	}
	u.tell(kindCall, u.task.says(protocol.DataPart{Data: u.task.server.clean(d, mostData)}), nil)
}

// think sends a thought of the model or of an agent.
func (u *turn) think(agent, delta string) {
	th := u.thinkers[agent]
	for piece := range pieces(delta) {
		told, ok := th.add(string(piece))
		u.tellThought(agent, told, ok)
	}
	u.thinkers[agent] = th
}

// thought sends the rest of a thought at the end of an answer.
func (u *turn) thought(agent string) {
	th := u.thinkers[agent]
	told, ok := th.end()
	u.thinkers[agent] = th
	u.tellThought(agent, told, ok)
}

func (u *turn) tellThought(agent string, told thought, ok bool) {
	if ok {
		plain := u.task.server.plain
		d := map[string]any{"subject": plain(told.subject), "description": plain(told.description), "agent": agent}
		u.tell(kindThought, u.task.says(protocol.DataPart{Data: d}), nil)
	}
}

// output sends output of a running call.
func (u *turn) output(id, piece string) {
	u.change(func(t *task) {
		name := protocol.ArtifactID("tool-" + id + "-output")
		ev := protocol.NewArtifactUpdateEvent(&t.record.Task, name, protocol.TextPart{Text: piece})
		list := t.record.Task.Artifacts
		i := slices.IndexFunc(list, func(a *protocol.Artifact) bool { return a.ID == name })
		if ev.Append = i >= 0; ev.Append {
			piece = list[i].Parts[0].(protocol.TextPart).Text + piece
		} else {
			list = append(list, nil)
			list = list[max(0, len(list)-mostOutputs):]
			i = len(list) - 1
		}
		all := []rune(piece)
		part := protocol.TextPart{Text: string(all[max(0, len(all)-mostOutput):])}
		list[i] = &protocol.Artifact{ID: name, Parts: protocol.ContentParts{part}} // readers may use the old artifact
		t.record.Task.Artifacts = list
		t.publish(ev)
	})
}
