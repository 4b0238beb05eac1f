package repl

import (
	"bytes"
	"encoding/json"
	"strings"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/output"
)

// SchemaVersion is the version of what the json and stream-json formats write.
// Within a version, fields are only ever added.
const SchemaVersion = 1

// document is the json form: one object at the end.
type document struct {
	*core
	text     output.UTF8
	response strings.Builder // of the last turn
	counts   bool
	invalid  bool
	warnings []string
	held     *Sandbox
}

func (d *document) begin(in Init) { d.held = in.sandbox }

func (d *document) event(ev engine.Event) {
	switch ev := ev.(type) {
	case engine.Requested:
		d.reset()
	case engine.Text:
		d.response.WriteString(d.text.Feed(ev.Delta))
	case engine.Retry:
		if ev.Restart {
			d.reset()
		}
	case engine.Answered:
		d.counts = true
	case engine.Notice:
		s, invalid := output.Clean(ev.Text)
		d.warnings = append(d.warnings, s)
		d.invalid = d.invalid || invalid
	}
}

func (d *document) reset() {
	d.text.Flush()
	d.text.Invalid()
	d.response.Reset()
	d.counts = false
}

// failure is the "error" of a document or of the last record of a stream.
type failure struct {
	Type       string `json:"type"`
	Message    string `json:"message"`
	Code       int    `json:"code,omitempty"`
	HTTP       int    `json:"http_status,omitempty"`
	Hint       string `json:"hint,omitempty"`
	RetryAfter int64  `json:"retry_after_ms,omitempty"`
}

func fault(o Outcome) *failure {
	if !o.failed() {
		return nil
	}
	return &failure{Type: output.Valid(o.ErrorType), Message: output.Valid(o.Message), Code: o.ExitCode, HTTP: o.HTTP,
		Hint: output.Valid(o.Hint), RetryAfter: o.RetryAfter.Milliseconds()}
}

// status is the "status" of how a run ended.
func status(o Outcome) string {
	if o.failed() {
		return "error"
	}
	return "success"
}

func (d *document) end(o Outcome) {
	d.response.WriteString(d.text.Flush())
	if o.failed() && !d.counts {
		d.reset()
	}
	at, elapsed := d.moment()
	if d.held != nil { // by now more may be known
		d.held = d.sandbox()
	}
	patch, planned := d.collected(o)
	value, code := d.demanded(o)
	b := marshal(struct {
		Session  string          `json:"session_id"`
		Response string          `json:"response"`
		Value    json.RawMessage `json:"structured_output,omitempty"`
		Code     *string         `json:"extracted,omitempty"`
		Stats    *tally.Tally    `json:"stats"`
		Error    *failure        `json:"error,omitempty"`
		Warnings []string        `json:"warnings,omitempty"`
		Unused   []Unused        `json:"unused,omitempty"`
		Sandbox  *Sandbox        `json:"sandbox,omitempty"`
		Version  int             `json:"schema_version"`
		Status   string          `json:"status"`
		ExitCode int             `json:"exit_code"`
		Reason   string          `json:"termination_reason"`
		Denied   []denial        `json:"denied"`
		Patch    *string         `json:"patch,omitempty"`
		Planned  *[]Planned      `json:"planned,omitempty"`
		Time     string          `json:"timestamp"`
		Elapsed  int64           `json:"elapsed_ms"`
		Invalid  bool            `json:"invalid_utf8,omitempty"`
	}{output.Valid(d.Session), d.response.String(), value, code, d.Tally, fault(o), d.warnings, d.unused(), d.held,
		SchemaVersion, status(o), o.ExitCode, output.Valid(o.Reason), d.denied, patch, planned, at, elapsed, d.invalid || d.text.Invalid()})
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		panic(err) // marshal returns JSON
	}
	out.WriteByte('\n')
	d.write(out.Bytes())
}
