// Package report runs one prompt and reports the run to scripts, pipes and programs. A first
// caller makes a [Reporter] with [New] and calls [OneShot.Run].
//
// # The end is reported once
//
// A Reporter reports only the first end of a run, and nothing after it. So another goroutine can
// finish a run that hangs.
//
// # Only final text is written
//
// Written text can't be removed. So the text of a request is held until the request can no longer
// be restarted, unless the report is live.
//
// # Records are always valid
//
// A record is valid UTF-8 and valid JSON, whatever a model, a tool or a file has
// said. It has a type, a number and two times, and a schema describes it.
package report

import (
	"io"
	"time"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/output"
)

// A Reporter reports a one-shot run. It is safe for concurrent use, so that another goroutine can
// finish a run that hangs.
type Reporter interface {
	// Begin reports the start of the run. A run that fails earlier does not
	// call it.
	Begin(Init)

	// Event reports one event.
	Event(engine.Event)

	// Finish reports the end of the run, and returns the first error of writing to standard output.
	// Only the first call has an effect; nothing is reported after it.
	Finish(Outcome) error
}

// Init holds the facts at the start of a run.
type Init struct {
	Session string
	Model   string
	Prompt  string // as the user gave it

	Protocol int // the version of a conversation's protocol, 0 without one

	sandbox *Sandbox // for the formats with it
}

// Config is the configuration of a [Reporter].
type Config struct {
	Out, Err io.Writer
	RunInfo
	Session string       // for the record of a run that never began
	Tally   *tally.Tally // the numbers of the run
	Now     func() time.Time
	Quiet   bool // Err gets only errors
	Text    Text

	// DryRun, if not nil, says that the run changes nothing, and returns its planned changes. It is
	// called at the end of the run.
	DryRun func() DryRun

	// Done, if not nil, is called after the last write to Out, with whether the run failed. Note is
	// for the user.
	Done func(failed bool) (note string, err error)

	// Schema, if not nil, is the schema of the answer. The text format prints only the value or
	// code; the other formats have a field for it.
	Schema *OutputSchema

	// JSON, if not nil, gets JSON, while Out gets text.
	JSON io.Writer

	// Broken, if not nil, is called with the first write error of Out, and of JSON, so that the run
	// can be stopped.
	Broken func(error)

	// Unwritten, if not nil, returns the outcome of a run whose last output could not be written to
	// Out.
	Unwritten func(error) Outcome
}

// Text says how the model's text is printed.
type Text struct {
	Raw     bool // preserve its escape sequences
	Uncited bool // do not print the sources of an answer
	Live    bool // print it at once, though the answer may restart
}

// RunInfo holds facts about a run for records. Each may be missing.
type RunInfo struct {
	Version string                 // of the program
	Dir     func() string          // the working directory
	Mode    func() string          // the approval mode when the run begins
	Sandbox func() *Sandbox        // describes the sandbox of commands, at the start and the end of the run
	Unused  func() []UnusedFeature // configured features without an effect yet
}

// A Sandbox describes the sandbox of a run's commands.
type Sandbox struct {
	Name    string `json:"name"` // "none" without a sandbox
	Step    string `json:"step"` // the confinement in force, or the reason for none
	Files   bool   `json:"files"`
	Network bool   `json:"network"`
}

// An UnusedFeature is a configured feature without an effect yet, with the number of its entries.
type UnusedFeature struct {
	Feature string `json:"feature"`
	Count   int    `json:"count"`
}

// unused returns the configured features without an effect yet, for a record.
func (f RunInfo) unused() []UnusedFeature {
	if f.Unused == nil {
		return nil
	}
	return f.Unused()
}

// sandbox returns the sandbox for a record, nil if unknown.
func (f RunInfo) sandbox() *Sandbox {
	if f.Sandbox == nil {
		return nil
	}
	s := f.Sandbox()
	if s != nil {
		s = &Sandbox{output.Valid(s.Name), output.Valid(s.Step), s.Files, s.Network}
	}
	return s
}

// New returns the Reporter for an output format: text, json or stream-json; text for anything else.
// With [Config.JSON] there are two: text, and json unless the format is stream-json.
func New(format string, c Config) Reporter {
	switch {
	case format == "stream-json":
		return NewStream(c)
	case c.JSON != nil:
		return newTee(c, func(c Config) Reporter { return New("json", c) })
	}
	one := newCore(c)
	switch {
	case format == "json":
		return newReporter(one, &document{core: one, utf8: output.UTF8{Raw: c.Text.Raw}})
	case c.DryRun != nil:
		return newReporter(one, newPatch(one))
	case c.Schema != nil:
		return newReporter(one, &extracted{text: newText(one)})
	}
	t := newText(one)
	return newReporter(one, &t)
}
