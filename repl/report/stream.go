package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/output"
)

// A Stream is the Reporter of the format stream-json, with text beside it if there is a
// [Config.JSON]. Callers can add records.
type Stream struct {
	Reporter
	one     *reporter
	records *Records
}

// NewStream returns a Stream.
func NewStream(c Config) *Stream {
	s := &Stream{}
	if c.JSON != nil {
		s.Reporter = newTee(c, s.open)
	} else {
		s.Reporter = s.open(c)
	}
	return s
}

// open begins the records.
func (s *Stream) open(c Config) Reporter {
	core := newCore(c)
	s.records = &Records{core: core, utf8: output.UTF8{Raw: c.Text.Raw}}
	s.one = newReporter(core, s.records)
	return s.one
}

// Add lets f add records, unless the report has ended.
func (s *Stream) Add(f func(*Records)) {
	defer s.one.lock()()
	if !s.one.over {
		f(s.records)
	}
}

// Records is the stream-json form: one record for each event, written at once.
type Records struct {
	core    *core
	utf8    output.UTF8
	seq     int
	invalid bool   // bytes of the next record were escaped
	prompt  string // of the user, not written yet
	id      string // of the prompt, if it has one
	begun   bool
	talks   bool            // set for a client program, whose user must see all messages for people
	early   []engine.Notice // notices before the run began
	open    []open          // calls of agents
	warned  []string        // all printed warnings
	cited   cited
}

// moment returns the time for records: the time of day, and the milliseconds since the start of the
// run, by a monotonic clock.
func (c *core) moment() (at string, elapsed int64) {
	now := c.Now()
	return text.Timestamp(now), max(0, now.Sub(c.began)).Milliseconds()
}

// In sets the session of later records, unless session is empty, and returns it.
func (r *Records) In(session string) string {
	r.core.Session = cmp.Or(session, r.core.Session)
	return r.core.Session
}

// Put writes a record of a kind in one write: the common fields, and the fields of body.
func (r *Records) Put(kind string, body any) {
	at, elapsed := r.core.moment()
	r.put(kind, at, elapsed, body)
}

func (r *Records) put(kind, at string, elapsed int64, body any) {
	fields := marshal(body)
	b := make([]byte, 0, len(fields)+160) // with room for the common fields
	b = append(append(append(append(b, `{"type":"`...), kind...), `","timestamp":"`...), at...)
	b = append(append(append(b, `",`...), fields[1:len(fields)-1]...), ',')
	if r.invalid {
		b = append(b, `"invalid_utf8":true,`...)
	}
	r.core.write(fmt.Appendf(b, "\"seq\":%d,\"elapsed_ms\":%d}\n", r.seq, elapsed))
	r.seq++
	r.invalid = false
}

// Text returns s in valid form for the next record, which notes whether bytes were escaped.
func (r *Records) Text(s string) string {
	s, invalid := output.StripSequences(s)
	r.invalid = r.invalid || invalid
	return s
}

// Args returns the arguments of a call in the form of [Records.Text].
func (r *Records) Args(args map[string]any) any {
	if args == nil {
		args = map[string]any{}
	}
	v, invalid := value(args)
	r.invalid = r.invalid || invalid
	return v
}

// User stores the user's prompt, which is written with the next event.
func (r *Records) User(prompt, id string) { r.prompt, r.id = prompt, id }

// TakeCitations returns and removes the sources of the last answer: the next turn may have none.
func (r *Records) TakeCitations() []engine.Reference {
	list := r.cited.list
	r.cited.list = nil
	return list
}

// Denied returns the calls that were denied so far, including the call for which err ended a turn.
func (r *Records) Denied(err error) []Denial {
	r.core.denyAsked(err)
	return r.core.denied
}

func (r *Records) begin(in Init) {
	said := func(ask func() string) string {
		if ask == nil {
			return ""
		}
		return ask()
	}
	r.Put("init", initRecord{output.Valid(r.core.Session), r.Text(in.Model), SchemaVersion,
		output.Valid(r.core.Version), r.Text(said(r.core.Dir)),
		output.Valid(said(r.core.Mode)), in.Protocol, in.sandbox, r.core.unused()})
	r.begun, r.talks, r.prompt = true, in.Protocol > 0, in.Prompt
	r.late()
}

// late writes the events that had to wait for the init record.
func (r *Records) late() {
	for _, n := range r.early {
		r.tellNotice(n)
	}
	r.early = nil
}

func (r *Records) tellNotice(n engine.Notice) {
	if n.Info && !r.talks {
		return
	}
	severity, message := string(NoticeLabel(n)), r.Text(n.Text)
	r.Put("error", ErrorRecord{Severity: severity, Message: message})
	if !n.Info {
		r.warned = append(r.warned, message)
	}
}

func (r *Records) event(ev engine.Event) {
	n, ok := ev.(engine.Notice)
	if ok && !r.begun {
		r.early = append(r.early, n)
		return
	}
	if ok && n.Info && !r.talks {
		return
	}
	r.user()
	r.cited.observe(ev)
	switch ev := ev.(type) {
	case engine.Text:
		r.say(r.utf8.Feed(ev.Delta))
	case engine.RequestStarted:
		r.Flush()
	case engine.Retry:
		r.retry(ev)
	case engine.Notice:
		r.Flush()
		r.tellNotice(ev)
	case engine.CallRequested, engine.CallFinished, engine.NestedEvent:
		r.call(ev, caller{})
	}
}

// A caller is an agent that makes a call, with the call that runs the agent. It is zero for the
// model that the user talks to.
type caller struct {
	Agent  string `json:"agent,omitempty"`
	Parent string `json:"parent_tool_id,omitempty"`
	calls  string // the ids of all enclosing calls
}

// An open call is an agent's unfinished call.
type open struct {
	id string
	by caller
}

// call writes a record about a call.
func (r *Records) call(ev engine.Event, by caller) {
	switch ev := ev.(type) {
	case engine.NestedEvent:
		agents := ev.Agent
		if by.Agent != "" {
			agents = by.Agent + " > " + agents
		}
		r.call(ev.Event, caller{agents, ev.ID, by.calls + ev.ID + "/"})
	case engine.CallRequested:
		r.called(ev, by)
		if by.Parent != "" {
			r.open = append(r.open, open{ev.ID, by})
		}
	case engine.CallFinished:
		// An agent that reaches its time limit leaves unfinished calls, which end with it.
		for _, o := range slices.Clone(r.open) {
			if o.by.calls == by.calls+ev.ID+"/" && slices.Contains(r.open, o) {
				r.call(engine.CallFinished{ID: o.id, Err: context.Canceled}, o.by)
			}
		}
		r.open = slices.DeleteFunc(r.open, func(o open) bool { return o.id == ev.ID && o.by == by })
		r.finished(ev, by)
	}
}

// user writes the user's prompt. It waits for the first event, since a prompt whose expansion fails
// is never sent.
func (r *Records) user() {
	if r.prompt == "" {
		return
	}
	c := output.UTF8{Raw: true}
	content := c.All(r.prompt)
	r.prompt = ""
	r.invalid = c.Invalid()
	r.Put("message", messageRecord{Role: "user", Content: content, ID: output.Valid(r.id)})
}

// say writes a piece of the answer.
func (r *Records) say(content string) {
	if content == "" {
		return
	}
	r.invalid = r.utf8.Invalid()
	r.Put("message", messageRecord{Role: "assistant", Content: content, Delta: true})
}

// Flush writes the held text of the answer.
func (r *Records) Flush() { r.say(r.utf8.Flush()) }

func (r *Records) retry(ev engine.Retry) {
	if ev.Restart {
		r.utf8.Flush()
		r.utf8.Invalid()
	} else {
		r.Flush()
	}
	r.Put("retry", retryRecord{ev.Attempt, ev.MaxAttempts, ev.Delay.Milliseconds(),
		r.Text(errorText(ev.Err)), ev.Restart, ev.Model})
}

// by returns the caller for a record.
func (r *Records) by(c caller) caller {
	return caller{Agent: r.Text(c.Agent), Parent: r.Text(c.Parent)}
}

func (r *Records) called(ev engine.CallRequested, by caller) {
	r.Flush()
	r.Put("tool_use", toolUseRecord{r.Text(ev.Name), r.Text(ev.ID), r.by(by), r.Args(ev.Args)})
}

func (r *Records) finished(ev engine.CallFinished, by caller) {
	r.Flush()
	shown := ev.Result.Display
	var ce *callError
	if ev.Err != nil && shown == "" {
		shown = engine.DisplayError(ev.Err)
	}
	status := engine.Outcome(ev.Err)
	if status == engine.Failed {
		ce = &callError{output.Valid(engine.ErrorType(ev.Err)), r.Text(ev.Err.Error())}
	}
	paths := make([]string, len(ev.Intent.Paths))
	for i, p := range ev.Intent.Paths {
		paths[i] = r.Text(p)
	}
	r.Put("tool_result", toolResultRecord{r.Text(ev.ID), r.by(by), string(status), r.Text(shown),
		ce, paths, ev.Took.Milliseconds()})
}

func (r *Records) end(o Outcome) {
	r.late()
	r.Flush()
	patch, planned := r.core.collected(o)
	value, code := r.core.structured(o)
	at, elapsed := r.core.moment()
	took := time.Duration(elapsed) * time.Millisecond
	last := resultRecord{status(o), FailureOf(o), r.core.Tally.Flat(took), output.Valid(r.core.Session),
		SchemaVersion, o.ExitCode, output.Valid(o.Reason), r.core.denied, r.warned, patch, planned, value, code, nil, CheckOf(r.core.Tally), r.cited.list}
	if r.begun {
		last.Sandbox = r.core.sandbox()
	}
	r.put("result", at, elapsed, last)
}
