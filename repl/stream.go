package repl

import (
	"encoding/json"
	"time"

	"gemline/engine"
	"gemline/repl/output"
)

// stream is the stream-json form: one record for each thing that happens, each
// written at once.
type stream struct {
	*core
	text   output.UTF8
	seq    int
	prompt string // of the user, not yet told
	id     string // of the prompt, if it has one
	begun  bool
	early  []engine.Notice // what was told before the run began
	warned []string        // all that was told
}

// A head begins every record.
type head struct {
	Type string `json:"type"`
	Time string `json:"timestamp"`
}

// A tail ends every record.
type tail struct {
	Invalid bool  `json:"invalid_utf8,omitempty"`
	Seq     int   `json:"seq"`
	Elapsed int64 `json:"elapsed_ms"`
}

type (
	initRecord struct {
		head
		Session string   `json:"session_id"`
		Model   string   `json:"model"`
		Version int      `json:"schema_version"`
		Program string   `json:"version,omitempty"`
		Dir     string   `json:"cwd,omitempty"`
		Mode    string   `json:"approval_mode,omitempty"`
		Talk    int      `json:"protocol_version,omitempty"` // of a conversation
		Sandbox *Sandbox `json:"sandbox,omitempty"`
		Unused  []Unused `json:"unused,omitempty"`
		tail
	}
	messageRecord struct {
		head
		Role    string `json:"role"`
		Content string `json:"content"`
		Delta   bool   `json:"delta,omitempty"`
		ID      string `json:"id,omitempty"` // of the line that said it
		tail
	}
	toolUseRecord struct {
		head
		Name       string `json:"tool_name"`
		ID         string `json:"tool_id"`
		Parameters any    `json:"parameters"`
		tail
	}
	toolResultRecord struct {
		head
		ID     string     `json:"tool_id"`
		Status string     `json:"status"`
		Output string     `json:"output"`
		Error  *callError `json:"error,omitempty"`
		Paths  []string   `json:"paths,omitempty"`
		Took   int64      `json:"duration_ms"`
		tail
	}
	errorRecord struct {
		head
		Severity string `json:"severity"`
		Message  string `json:"message"`
		Line     int    `json:"line,omitempty"` // of the input, if it is about one
		ID       string `json:"id,omitempty"`   // that the line names
		tail
	}
	retryRecord struct {
		head
		Attempt int    `json:"attempt"`
		Of      int    `json:"max_attempts"`
		Delay   int64  `json:"delay_ms"`
		Message string `json:"message"`
		Restart bool   `json:"restart"`
		tail
	}
	resultRecord struct {
		head
		Status   string          `json:"status"`
		Error    *failure        `json:"error,omitempty"`
		Stats    json.RawMessage `json:"stats"`
		Session  string          `json:"session_id"`
		Version  int             `json:"schema_version"`
		ExitCode int             `json:"exit_code"`
		Reason   string          `json:"termination_reason"`
		Denied   []denial        `json:"denied"`
		Warnings []string        `json:"warnings,omitempty"`
		Patch    *string         `json:"patch,omitempty"`
		Planned  *[]Planned      `json:"planned,omitempty"`
		Value    json.RawMessage `json:"structured_output,omitempty"`
		Code     *string         `json:"extracted,omitempty"`
		Sandbox  *Sandbox        `json:"sandbox,omitempty"`
		tail
	}
)

// A callError is why a call failed.
type callError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// record returns the beginning and the end of the next record.
func (s *stream) record(kind string, invalid bool) (head, tail) {
	at, elapsed := s.moment()
	t := tail{Invalid: invalid, Seq: s.seq, Elapsed: elapsed}
	s.seq++
	return head{kind, at}, t
}

// moment returns the time as records have it: that of the day, and the
// milliseconds since the run began, by a clock that never goes back.
func (c *core) moment() (at string, elapsed int64) {
	now := c.Now()
	return now.UTC().Format("2006-01-02T15:04:05.000Z"), max(0, now.Sub(c.began)).Milliseconds()
}

// put writes a record in one piece.
func (s *stream) put(record any) { s.write(append(marshal(record), '\n')) }

func (s *stream) begin(in Init) {
	model, invalid := output.Clean(in.Model)
	dir, worse := output.Clean(s.Dir)
	mode := ""
	if s.Mode != nil {
		mode = s.Mode()
	}
	h, t := s.record("init", invalid || worse)
	s.put(initRecord{h, output.Valid(s.Session), model, SchemaVersion, output.Valid(s.Version), dir, output.Valid(mode), in.Protocol, in.sandbox, s.unused(), t})
	s.begun, s.prompt = true, in.Prompt
	s.late()
}

// late tells what could not be told before, since the init comes first.
func (s *stream) late() {
	for _, n := range s.early {
		s.warning(n)
	}
	s.early = nil
}

func (s *stream) warning(n engine.Notice) {
	message, invalid := output.Clean(n.Text)
	h, t := s.record("error", invalid)
	s.put(errorRecord{head: h, Severity: "warning", Message: message, tail: t})
	s.warned = append(s.warned, message)
}

func (s *stream) event(ev engine.Event) {
	if n, ok := ev.(engine.Notice); ok && !s.begun {
		s.early = append(s.early, n)
		return
	}
	s.user()
	switch ev := ev.(type) {
	case engine.Text:
		s.say(s.text.Feed(ev.Delta))
	case engine.Requested:
		s.flush()
	case engine.Retry:
		s.retry(ev)
	case engine.Notice:
		s.flush()
		s.warning(ev)
	case engine.Called:
		s.called(ev)
	case engine.Finished:
		s.finished(ev)
	}
}

// user tells what the user said. That waits for the first event, since a
// prompt whose expansion fails was never said.
func (s *stream) user() {
	if s.prompt == "" {
		return
	}
	c := output.UTF8{Raw: true}
	content := c.All(s.prompt)
	s.prompt = ""
	h, t := s.record("message", c.Invalid())
	s.put(messageRecord{head: h, Role: "user", Content: content, ID: output.Valid(s.id), tail: t})
}

// say tells a piece of the answer.
func (s *stream) say(content string) {
	if content == "" {
		return
	}
	h, t := s.record("message", s.text.Invalid())
	s.put(messageRecord{head: h, Role: "assistant", Content: content, Delta: true, tail: t})
}

func (s *stream) flush() { s.say(s.text.Flush()) }

func (s *stream) retry(ev engine.Retry) {
	if ev.Restart {
		s.text.Flush()
		s.text.Invalid()
	} else {
		s.flush()
	}
	message, invalid := output.Clean(errorText(ev.Err))
	h, t := s.record("retry", invalid)
	s.put(retryRecord{h, ev.Attempt, ev.Of, ev.Delay.Milliseconds(), message, ev.Restart, t})
}

func (s *stream) called(ev engine.Called) {
	s.flush()
	args := ev.Args
	if args == nil {
		args = map[string]any{}
	}
	parameters, bad := sound(args)
	name, worse := output.Clean(ev.Name)
	id, worst := output.Clean(ev.ID)
	h, t := s.record("tool_use", bad || worse || worst)
	s.put(toolUseRecord{h, name, id, parameters, t})
}

func (s *stream) finished(ev engine.Finished) {
	s.flush()
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
	h, t := s.record("tool_result", invalid)
	s.put(toolResultRecord{h, id, string(status), shown, ce, paths, ev.Took.Milliseconds(), t})
}

func (s *stream) end(o Outcome) {
	s.late()
	s.flush()
	patch, planned := s.collected(o)
	value, code := s.demanded(o)
	h, t := s.record("result", false)
	took := time.Duration(t.Elapsed) * time.Millisecond
	r := resultRecord{h, status(o), fault(o), s.Tally.Flat(took), output.Valid(s.Session), SchemaVersion, o.ExitCode, output.Valid(o.Reason), s.denied, s.warned, patch, planned, value, code, nil, t}
	if s.begun {
		r.Sandbox = s.sandbox()
	}
	s.put(r)
}
