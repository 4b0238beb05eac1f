package a2a

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	protocol "github.com/a2aproject/a2a-go/a2a"
	"github.com/mark3labs/mcp-go/mcp"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/serve"
)

// A task is a task of the protocol, which a client began.
type task struct {
	server *Server

	mu      sync.Mutex // is locked before the server's mu
	record  record
	streams []*stream
	said    string       // text of the model that is not in the history yet
	used    engine.Usage // tokens of the model's last request

	asks        atomic.Bool                   // a call needs approval
	turn        atomic.Pointer[turn]          // nil while the task is idle
	openSession atomic.Pointer[serve.Session] // nil while it is closed
	lastSetup   atomic.Pointer[described]     // of the last turn, nil before the first
}

// A record is the stored form of a task.
type record struct {
	Task    protocol.Task `json:"task"`
	Session string        `json:"session"`
	Unasked bool          `json:"unasked,omitempty"` // calls run without approval, within the policy
	Pending *pending      `json:"pending,omitempty"` // nil without an open question
}

// Limits of a stored task, and of an event, which clients read as a line.
const (
	mostRecord   = 256 << 10 // bytes
	mostMessage  = 16_000    // characters of a message
	mostOutputs  = 32        // outputs of calls
	mostOutput   = 8_000     // characters of each, the last
	mostPiece    = 4_000     // characters of a text in an event
	mostSnapshot = 48 << 10
)

// state returns the task's state.
func (t *task) state() protocol.TaskState {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.record.Task.Status.State
}

// shown returns the task for a client, with the last messages of its history.
func (t *task) shown(last *int) *protocol.Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.document(last, mostRecord)
}

// document returns the task within a limit of bytes (most), if possible. The caller holds mu.
func (t *task) document(last *int, most int) *protocol.Task {
	d := t.record.Task
	d.History = append(slices.Clone(d.History), t.saying()...)
	if last != nil {
		d.History = d.History[max(0, len(d.History)-max(0, *last)):]
	}
	d.Artifacts = slices.Clone(d.Artifacts)
	shorten(&d, most)
	return &d
}

// shorten removes the earlier messages and outputs of a task until it has at most the given number
// of bytes. The last message stays.
func shorten(d *protocol.Task, most int) {
	for sizeOf(d) > most && (len(d.History) > 1 || len(d.Artifacts) > 0) {
		d.History = d.History[len(d.History)/2:]
		d.Artifacts = d.Artifacts[(len(d.Artifacts)+1)/2:]
	}
}

// saying returns the model's pending text as a message, none if it is empty. The caller holds mu.
func (t *task) saying() []*protocol.Message {
	if t.said == "" {
		return nil
	}
	return []*protocol.Message{t.says(protocol.TextPart{Text: text.Shorten(t.said, mostMessage)})}
}

// flush adds the model's pending text to the history. The caller holds mu.
func (t *task) flush() {
	t.record.Task.History, t.said = append(t.record.Task.History, t.saying()...), ""
}

// status sets and records the state of the task. The caller holds mu.
func (t *task) status(state protocol.TaskState, said *protocol.Message, asked *pending) error {
	t.flush()
	if h := t.record.Task.History; said == nil && state == protocol.TaskStateInputRequired &&
		len(h) > 0 && h[len(h)-1].Role == protocol.MessageRoleAgent {
		said = h[len(h)-1] // the model's answer
	}
	t.record.Task.Status = protocol.TaskStatus{State: state, Message: said, Timestamp: new(time.Now().UTC())}
	t.record.Pending = asked
	t.asks.Store(asked != nil)
	if !t.server.touch(t) { // it was forgotten in the meantime
		return faultf(taskNotFound, "there is no task %s", t.record.Task.ID)
	}
	shorten(&t.record.Task, mostRecord)
	if err := t.server.store.save(t.record); err != nil {
		return faultf(mcp.INTERNAL_ERROR, "the task could not be kept: %s", t.server.Redact(err.Error()))
	}
	return nil
}

// update sends all readers a change of the task. Final says that no more events follow. The caller
// holds mu.
func (t *task) update(kind string, said *protocol.Message, final bool, more map[string]any) {
	ev := protocol.NewStatusUpdateEvent(&t.record.Task, t.record.Task.Status.State, said)
	ev.Final = final
	ev.Metadata = map[string]any{"coderAgent": map[string]any{"kind": kind}}
	if talk := t.openSession.Load(); talk != nil {
		ev.Metadata["model"] = talk.Model()
	}
	if final && t.used.Sum() > 0 {
		ev.Metadata["usageMetadata"] = usageData(t.used)
	}
	maps.Copy(ev.Metadata, more)
	t.publish(ev)
	if final {
		t.endStreams(func(*stream) bool { return true })
	}
}

// usageData returns the tokens of a request, in the form of the model's API.
func usageData(u engine.Usage) map[string]any {
	return map[string]any{"promptTokenCount": u.Prompt, "candidatesTokenCount": u.Output,
		"thoughtsTokenCount": u.Thoughts, "cachedContentTokenCount": u.Cached,
		"toolUsePromptTokenCount": u.ToolUse, "totalTokenCount": u.Sum()}
}

// publish sends an event to all readers. It does not wait: it disconnects a reader that is too far
// behind. The caller holds mu.
func (t *task) publish(ev protocol.Event) {
	t.endStreams(func(st *stream) bool {
		select {
		case st.events <- ev:
			return false
		default:
			return true
		}
	})
}

// says returns a message of the agent.
func (t *task) says(parts ...protocol.Part) *protocol.Message {
	return protocol.NewMessageForTask(protocol.MessageRoleAgent, &t.record.Task, parts...)
}

// message returns a message of the agent with a text.
func (t *task) message(words string) *protocol.Message {
	return t.says(protocol.TextPart{Text: t.server.plain(words)})
}

// A stream has the events of a task for one client. Events is closed after the last event, or when
// the client disconnects or is disconnected.
type stream struct {
	ctx    context.Context // ends with the client's request
	events chan protocol.Event
}

// farBehind is how many unread events of a reader make a turn wait. While the turn waits, as many
// more events fit.
const farBehind = 64

// join adds a reader, until ctx is over. The caller holds mu.
func (t *task) join(ctx context.Context) *stream {
	st := &stream{ctx, make(chan protocol.Event, 2*farBehind)}
	t.streams = append(t.streams, st)
	context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.endStreams(func(one *stream) bool { return one == st })
	})
	return st
}

// endStreams ends the streams for which the function returns true. The caller holds mu.
func (t *task) endStreams(which func(*stream) bool) {
	t.streams = slices.DeleteFunc(t.streams, func(st *stream) bool {
		gone := which(st)
		if gone {
			close(st.events)
		}
		return gone
	})
}

// follow adds a reader to an existing task. The reader gets the task's state, and the open question
// unless the task works.
func (t *task) follow(ctx context.Context) *stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	st, asks := t.join(ctx), t.asks.Load()
	st.events <- t.document(nil, mostSnapshot)
	if asks {
		t.update(kindConfirm, t.record.Task.Status.Message, false, nil)
	}
	if t.turn.Load() == nil || t.record.Task.Status.State != protocol.TaskStateWorking {
		t.update(kindState, nil, true, nil)
	}
	return st
}

var (
	errCanceled = errors.New("canceled by the client")
	errDenied   = errors.New("a call was denied by the client")
	errParked   = errors.New("too many tasks wait for an answer")
)

// cancel cancels the task.
func (t *task) cancel(ctx context.Context) (err error) {
	defer func() {
		if err == nil {
			t.hangUp()
		}
	}()
	t.mu.Lock()
	defer t.mu.Unlock()
	stopped := false
	for u := t.turn.Load(); u != nil; u = t.turn.Load() {
		u.stop(errCanceled)
		stopped = true
		if err := t.await(ctx, u); err != nil {
			return err
		}
	}
	switch state := t.record.Task.Status.State; {
	case stopped && state == protocol.TaskStateCanceled:
		return nil
	case state.Terminal():
		return faultf(notCancelable, "the task is over already: %s", state)
	}
	if err := t.status(protocol.TaskStateCanceled, nil, nil); err != nil {
		return err
	}
	t.update(kindState, nil, true, nil)
	return nil
}

// hangUp closes the conversation of an idle task. The caller does not hold mu, since the final
// hooks may be slow.
func (t *task) hangUp() {
	if talk := t.openSession.Swap(nil); talk != nil {
		talk.Close()
	}
}

// await waits for the end of a turn. The caller holds mu, and await unlocks mu while waiting.
func (t *task) await(ctx context.Context, u *turn) error {
	t.mu.Unlock()
	defer t.mu.Lock()
	select {
	case <-u.finished:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take handles a message: as the answer to a question, or as the start of work.
func (t *task) take(ctx context.Context, m clientMessage, along, fresh bool) (st *stream, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.turn.Load()
	for ; u != nil && (u.over || u.ctx.Err() != nil); u = t.turn.Load() {
		if err := t.await(ctx, u); err != nil {
			return nil, err
		}
	}
	state, asked, talk := t.record.Task.Status.State, t.record.Pending, t.openSession.Load()
	late := u != nil && asked == nil
	switch {
	case m.ContextID != "" && m.ContextID != t.record.Task.ContextID:
		return nil, faultf(mcp.INVALID_PARAMS, "the task has another contextId: %s",
			t.record.Task.ContextID)
	case slices.ContainsFunc(t.record.Task.History, func(one *protocol.Message) bool { return one.ID == m.ID }):
		return nil, faultf(mcp.INVALID_PARAMS,
			"the messageId %.100q was used in this task; tasks/get says what became of it", m.ID)
	case state.Terminal():
		return nil, faultf(mcp.INVALID_REQUEST,
			"the task is over: %s; without taskId a new task begins; with the same contextId it resumes the conversation", state)
	case m.answer != nil && (asked == nil || asked.CallID != m.answer.CallID):
		return nil, faultf(mcp.INVALID_PARAMS,
			"no call %.100q waits for an answer in this task", m.answer.CallID)
	case late && (talk == nil || talk.Hint == nil):
		return nil, faultf(unsupported,
			"the task is worked on; wait until it needs input, or cancel it")
	}
	if late {
		talk.Hint(m.words)
	}
	var r clientAnswer
	if asked != nil {
		if r, err = asked.react(m.words, m.answer); err != nil {
			return nil, err
		}
	}
	begins := u == nil
	if begins {
		if u, err = t.server.begin(t); err != nil {
			return nil, err
		}
		u.prompt, u.cutOff, u.first = m.words, asked, r
	}
	if along {
		st = t.join(ctx)
	}
	t.flush() // the model's text comes first
	m.TaskID, m.ContextID = t.record.Task.ID, t.record.Task.ContextID
	t.record.Task.History = append(t.record.Task.History, m.Message)
	if fresh && st != nil {
		st.events <- t.document(nil, mostSnapshot)
	}
	if err = t.status(protocol.TaskStateWorking, nil, nil); err != nil {
		t.endStreams(func(one *stream) bool { return one == st })
		if u.stop(err); begins { // otherwise the turn ends on its own
			t.turn.Store(nil)
			close(u.finished)
		}
		return nil, err
	}
	t.update(kindState, nil, false, nil)
	switch {
	case begins:
		t.server.group.Go(u.run)
	case asked != nil:
		u.answers <- r
	}
	return st, nil
}
