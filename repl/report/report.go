// Package report runs one prompt and reports the run to scripts, pipes and programs. A first
// caller makes a [Reporter] with [New] and calls [OneShot.Run].
//
// # One ending
//
// A Reporter reports the end of a run once, for its first caller, and nothing after that. So
// another goroutine can finish a run that hangs.
//
// # What counts
//
// Written text can't be taken back. So the text of a request is held until it
// is known to count, unless somebody watches it come.
//
// # Records
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

// A Reporter tells the world about a one-shot run. It may be used concurrently,
// so that a run that hangs can be finished by someone else.
type Reporter interface {
	// Begin reports the start of the run. A run that fails earlier does not
	// call it.
	Begin(Init)

	// Event reports one event.
	Event(engine.Event)

	// Finish reports how the run ended and returns the first error of
	// writing to standard output. Only the first call reports anything, and
	// nothing is reported after it.
	Finish(Outcome) error
}

// Init holds the facts known when a run begins.
type Init struct {
	Session string
	Model   string
	Prompt  string // as the user gave it

	Protocol int // the version of a conversation's protocol, 0 without one

	sandbox *Sandbox // for the forms that tell of it
}

// Config says where a [Reporter] reports to, and how.
type Config struct {
	Out, Err io.Writer
	RunInfo
	Session string       // for the record of a run that never began
	Tally   *tally.Tally // the numbers of the run
	Now     func() time.Time
	Quiet   bool // nothing but errors on Err
	Text    Text

	// DryRun, if not nil, says that the run changes nothing, and returns
	// the calls that it would have made. It is called when the run is over.
	DryRun func() DryRun

	// Done, if not nil, is called when all is written to Out, with whether
	// the run failed. The note is for the user.
	Done func(failed bool) (note string, err error)

	// Schema, if not nil, is what the answer must hold: all that the text
	// format prints, and a field of the others.
	Schema *OutputSchema

	// JSON, if not nil, is where JSON goes, while text goes to Out.
	JSON io.Writer

	// Broken, if not nil, is called with the first error of writing to Out,
	// and to JSON, so that the run can be stopped.
	Broken func(error)

	// Unwritten, if not nil, returns how a run ends whose last words could
	// not be written to Out.
	Unwritten func(error) Outcome
}

// Text says how the model's text is written.
type Text struct {
	Raw     bool // its escape sequences stay
	Uncited bool // what an answer rests on is not told beside it
	Live    bool // as it comes, though the answer may begin again
}

// RunInfo holds the facts about a run for records, beside its events. Each may be
// missing.
type RunInfo struct {
	Version string                 // of the program
	Dir     func() string          // the working directory
	Mode    func() string          // the approval mode when the run begins
	Sandbox func() *Sandbox        // what confines commands, asked when the run begins and ends
	Unused  func() []UnusedFeature // features that the user has set up and that are not in use yet
}

// A Sandbox is what confines the commands of a run.
type Sandbox struct {
	Name    string `json:"name"` // "none" if nothing does
	Step    string `json:"step"` // the confinement in force, or the reason for none
	Files   bool   `json:"files"`
	Network bool   `json:"network"`
}

// An UnusedFeature is a feature that is set up and not in use yet, with the number of its entries.
type UnusedFeature struct {
	Feature string `json:"feature"`
	Count   int    `json:"count"`
}

// unused returns the features of a record that are not in use yet.
func (f RunInfo) unused() []UnusedFeature {
	if f.Unused == nil {
		return nil
	}
	return f.Unused()
}

// sandbox returns what a record says of the sandbox, nil if nothing.
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

// New returns the Reporter for an output format: text, json or stream-json.
// Anything else is text. With [Config.JSON] there are two: text, and json unless
// the format is stream-json.
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
