package report

import (
	"time"

	"gemline/engine"
	"gemline/repl/output"
)

// A Stream is the Reporter of the format stream-json, and of text beside it if
// there is a [Config.JSON]. Others than those of events can be added to its
// records.
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
	s.records = &Records{core: core, utf8: output.UTF8{Raw: c.Raw}}
	s.one = newReporter(core, s.records)
	return s.one
}

// Add has f add records, unless the report is over.
func (s *Stream) Add(f func(*Records)) {
	defer s.one.lock()()
	if !s.one.over {
		f(s.records)
	}
}

// Records is the stream-json form: one record for each thing that happens, each
// written at once.
type Records struct {
	*core
	utf8   output.UTF8
	seq    int
	prompt string // of the user, not yet told
	id     string // of the prompt, if it has one
	begun  bool
	early  []engine.Notice // what was told before the run began
	warned []string        // all that was told
}

// Next returns the beginning and the end of the next record.
func (r *Records) Next(kind string, invalid bool) (Head, Tail) {
	at, elapsed := r.moment()
	t := Tail{Invalid: invalid, Seq: r.seq, Elapsed: elapsed}
	r.seq++
	return Head{kind, at}, t
}

// moment returns the time as records have it: that of the day, and the
// milliseconds since the run began, by a clock that never goes back.
func (c *core) moment() (at string, elapsed int64) {
	now := c.Now()
	return now.UTC().Format("2006-01-02T15:04:05.000Z"), max(0, now.Sub(c.began)).Milliseconds()
}

// Put writes a record in one piece.
func (r *Records) Put(record any) { r.write(append(marshal(record), '\n')) }

// User notes what the user says, to be told when something follows from it.
func (r *Records) User(prompt, id string) { r.prompt, r.id = prompt, id }

// Denied returns the calls that were denied so far.
func (r *Records) Denied() []Denial { return r.denied }

func (r *Records) sandboxed() bool { return true }

func (r *Records) begin(in Init) {
	model, invalid := output.Clean(in.Model)
	dir, worse := output.Clean(r.Dir)
	mode := ""
	if r.Mode != nil {
		mode = r.Mode()
	}
	h, t := r.Next("init", invalid || worse)
	r.Put(initRecord{h, output.Valid(r.Session), model, SchemaVersion, output.Valid(r.Version), dir, output.Valid(mode), in.Protocol, in.sandbox, r.unused(), t})
	r.begun, r.prompt = true, in.Prompt
	r.late()
}

// late tells what could not be told before, since the init comes first.
func (r *Records) late() {
	for _, n := range r.early {
		r.warning(n)
	}
	r.early = nil
}

func (r *Records) warning(n engine.Notice) {
	message, invalid := output.Clean(n.Text)
	h, t := r.Next("error", invalid)
	r.Put(ErrorRecord{Head: h, Severity: "warning", Message: message, Tail: t})
	r.warned = append(r.warned, message)
}

func (r *Records) event(ev engine.Event) {
	if n, ok := ev.(engine.Notice); ok && !r.begun {
		r.early = append(r.early, n)
		return
	}
	r.user()
	switch ev := ev.(type) {
	case engine.Text:
		r.say(r.utf8.Feed(ev.Delta))
	case engine.Requested:
		r.Flush()
	case engine.Retry:
		r.retry(ev)
	case engine.Notice:
		r.Flush()
		r.warning(ev)
	case engine.Called:
		r.called(ev)
	case engine.Finished:
		r.finished(ev)
	}
}

// user tells what the user said. That waits for the first event, since a
// prompt whose expansion fails was never said.
func (r *Records) user() {
	if r.prompt == "" {
		return
	}
	c := output.UTF8{Raw: true}
	content := c.All(r.prompt)
	r.prompt = ""
	h, t := r.Next("message", c.Invalid())
	r.Put(messageRecord{Head: h, Role: "user", Content: content, ID: output.Valid(r.id), Tail: t})
}

// say tells a piece of the answer.
func (r *Records) say(content string) {
	if content == "" {
		return
	}
	h, t := r.Next("message", r.utf8.Invalid())
	r.Put(messageRecord{Head: h, Role: "assistant", Content: content, Delta: true, Tail: t})
}

// Flush tells what was held of the answer.
func (r *Records) Flush() { r.say(r.utf8.Flush()) }

func (r *Records) retry(ev engine.Retry) {
	if ev.Restart {
		r.utf8.Flush()
		r.utf8.Invalid()
	} else {
		r.Flush()
	}
	message, invalid := output.Clean(errorText(ev.Err))
	h, t := r.Next("retry", invalid)
	r.Put(retryRecord{h, ev.Attempt, ev.Of, ev.Delay.Milliseconds(), message, ev.Restart, t})
}

func (r *Records) called(ev engine.Called) {
	r.Flush()
	args := ev.Args
	if args == nil {
		args = map[string]any{}
	}
	parameters, bad := Value(args)
	name, worse := output.Clean(ev.Name)
	id, worst := output.Clean(ev.ID)
	h, t := r.Next("tool_use", bad || worse || worst)
	r.Put(toolUseRecord{h, name, id, parameters, t})
}

func (r *Records) finished(ev engine.Finished) {
	r.Flush()
	shown := ev.Result.Display
	var ce *callError
	var invalid bool
	if ev.Err != nil && shown == "" {
		shown = engine.DisplayError(ev.Err)
	}
	status := engine.Outcome(ev.Err)
	if status == engine.Failed {
		message, bad := output.Clean(ev.Err.Error())
		ce = &callError{output.Valid(engine.ErrorType(ev.Err)), message}
		invalid = bad
	}
	shown, bad := output.Clean(shown)
	id, worse := output.Clean(ev.ID)
	invalid = invalid || bad || worse
	paths := make([]string, len(ev.Intent.Paths))
	for i, p := range ev.Intent.Paths {
		paths[i], bad = output.Clean(p)
		invalid = invalid || bad
	}
	h, t := r.Next("tool_result", invalid)
	r.Put(toolResultRecord{h, id, string(status), shown, ce, paths, ev.Took.Milliseconds(), t})
}

func (r *Records) end(o Outcome) {
	r.late()
	r.Flush()
	patch, planned := r.collected(o)
	value, code := r.structured(o)
	h, t := r.Next("result", false)
	took := time.Duration(t.Elapsed) * time.Millisecond
	last := resultRecord{h, status(o), FailureOf(o), r.Tally.Flat(took), output.Valid(r.Session), SchemaVersion, o.ExitCode, output.Valid(o.Reason), r.denied, r.warned, patch, planned, value, code, nil, t}
	if r.begun {
		last.Sandbox = r.sandbox()
	}
	r.Put(last)
}
