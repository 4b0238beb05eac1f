package report

import (
	"bytes"
	"encoding/json"
	"strings"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/output"
)

// SchemaVersion is the version of the json and stream-json formats. Within a version, fields are
// only added.
const SchemaVersion = 1

// document is the json form: one object at the end.
type document struct {
	core     *core
	utf8     output.UTF8
	response strings.Builder // the text since the last request
	counts   bool
	invalid  bool
	warnings []string
	begun    bool
	cited    cited
}

func (d *document) begin(Init) { d.begun = true }

func (d *document) event(ev engine.Event) {
	d.cited.observe(ev)
	switch ev := ev.(type) {
	case engine.RequestStarted:
		d.reset()
	case engine.Text:
		d.response.WriteString(d.utf8.Feed(ev.Delta))
	case engine.Retry:
		if ev.Restart {
			d.reset()
		}
	case engine.AnswerFinished:
		d.counts = true
	case engine.Notice:
		if ev.Info {
			return
		}
		s, invalid := output.StripSequences(ev.Text)
		d.warnings = append(d.warnings, s)
		d.invalid = d.invalid || invalid
	}
}

func (d *document) reset() {
	d.utf8.Flush()
	d.utf8.Invalid()
	d.response.Reset()
	d.counts = false
}

func (d *document) end(o Outcome) {
	d.response.WriteString(d.utf8.Flush())
	if o.Failed() && !d.counts {
		d.reset()
	}
	at, elapsed := d.core.moment()
	var held *Sandbox
	if d.begun && !o.Hurry { // a run in a hurry does not wait for the sandbox
		held = d.core.sandbox()
	}
	patch, planned := d.core.collected(o)
	value, code := d.core.structured(o)
	b := marshal(struct {
		Session  string             `json:"session_id"`
		Response string             `json:"response"`
		Cited    []engine.Reference `json:"citations,omitempty"`
		Value    json.RawMessage    `json:"structured_output,omitempty"`
		Code     *string            `json:"extracted,omitempty"`
		Stats    *tally.Tally       `json:"stats"`
		Error    *Failure           `json:"error,omitempty"`
		Warnings []string           `json:"warnings,omitempty"`
		Unused   []UnusedFeature    `json:"unused,omitempty"`
		Sandbox  *Sandbox           `json:"sandbox,omitempty"`
		Version  int                `json:"schema_version"`
		Status   string             `json:"status"`
		ExitCode int                `json:"exit_code"`
		Reason   string             `json:"termination_reason"`
		Denied   []Denial           `json:"denied"`
		Check    *tally.Check       `json:"check,omitempty"`
		Patch    *string            `json:"patch,omitempty"`
		Planned  *[]PlannedCall     `json:"planned,omitempty"`
		Time     string             `json:"timestamp"`
		Elapsed  int64              `json:"elapsed_ms"`
		Invalid  bool               `json:"invalid_utf8,omitempty"`
	}{output.Valid(d.core.Session), d.response.String(), d.cited.list, value, code, d.core.Tally, FailureOf(o), d.warnings, d.core.unused(), held,
		SchemaVersion, status(o), o.ExitCode, output.Valid(o.Reason), d.core.denied, CheckOf(d.core.Tally), patch, planned, at, elapsed, d.invalid || d.utf8.Invalid()})
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		panic(err) // marshal always returns JSON
	}
	out.WriteByte('\n')
	d.core.write(out.Bytes())
}
