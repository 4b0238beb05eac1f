package repl

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/output"
)

// A Reporter tells the world about a one-shot run. It may be used concurrently,
// so that a run that hangs can be finished by someone else.
type Reporter interface {
	// Begin says that the run begins. It is not called for a run that fails
	// before that.
	Begin(Init)

	// Event reports one event.
	Event(engine.Event)

	// Finish reports how the run ended and returns the first error of
	// writing to standard output. Only the first call reports anything, and
	// nothing is reported after it.
	Finish(Outcome) error
}

// Init is what is known when a run begins.
type Init struct {
	Session string
	Model   string
	Prompt  string // as the user gave it

	Protocol int // the version of the protocol of a conversation, 0 if there is none

	sandbox *Sandbox // for the forms that tell of it
}

// An Outcome is how a run ended. The zero Outcome is success.
type Outcome struct {
	Err        error // nil for success
	ExitCode   int
	Reason     string // completed, max_turns, cancelled, a signal's name, auth ...
	ErrorType  string // the class of Err
	Message    string // for the user; by default the text of Err
	Hint       string // what to do about it; may be empty
	HTTP       int    // the status the server answered with, 0 if it did not
	RetryAfter time.Duration
	Silent     bool // the user is told nothing of the failure on Err
	Hurry      bool // whoever is still writing, and can't, is not waited for; the user is told all the same
}

// failed reports whether o is a failure.
func (o Outcome) failed() bool { return o.Err != nil || o.ExitCode != 0 }

// complete returns o with its defaults filled in.
func (o Outcome) complete() Outcome {
	if o.Err != nil && o.Message == "" {
		o.Message = o.Err.Error()
	}
	switch {
	case !o.failed():
		o.Reason = or(o.Reason, "completed")
	case o.Err != nil && o.ExitCode == 0:
		o.ExitCode = 1
		fallthrough
	default:
		o.Reason = or(o.Reason, "error")
		o.ErrorType = or(o.ErrorType, "unknown")
		o.Message = or(o.Message, o.Reason)
	}
	return o
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// Report says where a [Reporter] reports to, and how.
type Report struct {
	Out, Err io.Writer
	Session  string          // for the record of a run that never began
	Version  string          // of the program; may be empty
	Dir      string          // the working directory; may be empty
	Mode     func() string   // what runs unasked when the run begins; may be nil
	Sandbox  func() *Sandbox // what confines commands, asked when the run begins and ends; may be nil
	Unused   func() []Unused // what the user has set up and is not in use yet; may be nil
	Tally    *tally.Tally    // the numbers of the run
	Now      func() time.Time
	Quiet    bool // nothing but errors on Err
	Raw      bool // escape sequences in the model's text stay
	Live     bool // text is written as it comes, though the answer may begin again

	// Collected, if not nil, says that the run changes nothing, and returns
	// what it would have done. It is called when the run is over.
	Collected func() Collected

	// Done, if not nil, is called when all is written to Out, with whether
	// the run failed. The note is for the user.
	Done func(failed bool) (note string, err error)

	// Demand, if not nil, is what must come of the answer: all that the text
	// format prints, and a field of the others.
	Demand *Demand

	// JSON, if not nil, is where JSON goes, while text goes to Out.
	JSON io.Writer

	// Broken, if not nil, is called with the first error of writing to Out,
	// and to JSON, so that the run can be stopped.
	Broken func(error)

	// Unwritten, if not nil, returns how a run ends whose last words could
	// not be written to Out.
	Unwritten func(error) Outcome
}

// A Sandbox is what confines the commands of a run.
type Sandbox struct {
	Name    string `json:"name"` // "none" if nothing does
	Step    string `json:"step"` // what of it is in force, or why nothing is
	Files   bool   `json:"files"`
	Network bool   `json:"network"`
}

// An Unused is how much there is of a feature that is not in use yet.
type Unused struct {
	Feature string `json:"feature"`
	Count   int    `json:"count"`
}

// unused returns what a record says of what is not in use yet.
func (r Report) unused() (list []Unused) {
	if r.Unused == nil {
		return nil
	}
	for _, u := range r.Unused() {
		list = append(list, Unused{output.Valid(u.Feature), u.Count})
	}
	return list
}

// sandbox returns what a record says of the sandbox, nil if nothing.
func (r Report) sandbox() *Sandbox {
	if r.Sandbox == nil {
		return nil
	}
	s := r.Sandbox()
	if s != nil {
		s = &Sandbox{output.Valid(s.Name), output.Valid(s.Step), s.Files, s.Network}
	}
	return s
}

// NewReporter returns the Reporter for an output format: text, json or
// stream-json. Anything else is text. With [Report.JSON] there are two: text,
// and json unless the format is stream-json.
func NewReporter(format string, r Report) Reporter {
	if r.JSON != nil {
		return newBoth(format, r)
	}
	c := &core{Report: r, began: r.Now(), denied: []denial{}}
	if c.Tally == nil {
		c.Tally = &tally.Tally{}
	}
	switch format {
	case "json":
		return newReporter(c, &document{core: c, text: output.UTF8{Raw: r.Raw}})
	case "stream-json":
		return newReporter(c, &stream{core: c, text: output.UTF8{Raw: r.Raw}})
	}
	text := bare{core: c, text: output.UTF8{Raw: r.Raw}}
	switch {
	case r.Collected != nil:
		return newReporter(c, newPatched(c))
	case r.Demand != nil:
		return newReporter(c, &sole{text})
	}
	return newReporter(c, &text)
}

// A form is the shape of a report. It is ended once.
type form interface {
	begin(Init)
	event(engine.Event)
	end(Outcome)
}

// A reporter sees to it that a form is ended once.
type reporter struct {
	*core
	turn chan struct{} // holds something while one of the methods is at work
	form form
	over bool
}

func newReporter(c *core, f form) *reporter {
	return &reporter{core: c, form: f, turn: make(chan struct{}, 1)}
}

func (r *reporter) lock() (unlock func()) {
	r.turn <- struct{}{}
	return func() { <-r.turn }
}

// Begin implements [Reporter]. What confines commands may have to be tried
// first; the run can be finished meanwhile.
func (r *reporter) Begin(in Init) {
	switch r.form.(type) {
	case *document, *stream:
		in.sandbox = r.sandbox()
	}
	defer r.lock()()
	if r.over {
		return
	}
	r.Session, r.began = or(in.Session, r.Session), r.Now()
	r.form.begin(in)
}

// Event implements [Reporter].
func (r *reporter) Event(ev engine.Event) {
	defer r.lock()()
	if r.over {
		return
	}
	r.form.event(ev)
	r.notice(ev)
}

// errHeldUp is the error of a report that somebody who reads nothing holds up.
var errHeldUp = errors.New("nobody reads what is written")

// heldUp is how long a report that is in a hurry waits for its turn.
const heldUp = 300 * time.Millisecond

// Finish implements [Reporter].
func (r *reporter) Finish(o Outcome) error {
	var patience <-chan time.Time
	if o.Hurry {
		patience = time.After(heldUp)
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-patience:
		if o.failed() && !o.Silent {
			r.complain(o.complete())
		}
		return errHeldUp
	}
	if !r.over {
		r.over = true
		o = o.complete()
		r.form.end(o)
		note := ""
		if r.Done != nil {
			var err error
			note, err = r.Done(o.failed() || o.Silent)
			r.err = cmp.Or(r.err, err)
		}
		if o.failed() && !o.Silent {
			r.complain(o)
		}
		if note != "" && !o.Silent {
			fmt.Fprintf(r.Err, "hint: %s\n", output.FirstLine(note))
		}
	}
	return r.err
}

// core is what all forms have in common.
type core struct {
	Report
	began  time.Time
	denied []denial
	called map[string]string // what calls are about that may never begin, by id
	err    error             // the first of Out
}

// A denial is a call that was not made because of what the policy says, or
// because there was nobody to ask.
type denial struct {
	Tool  string `json:"tool"`
	ID    string `json:"tool_id"`
	Title string `json:"title,omitempty"`
	Why   string `json:"why"`
	Allow string `json:"allowed_by,omitempty"`
	Rule  *rule  `json:"rule,omitempty"`
}

// A rule is what forbids a call, as a record names it.
type rule struct {
	File  string `json:"file"`
	Line  int    `json:"line,omitempty"`
	Tier  string `json:"tier"`
	About string `json:"about"`
}

// write writes b to Out, unless that has failed before.
func (c *core) write(b []byte) {
	if c.err != nil {
		return
	}
	if _, err := c.Out.Write(b); err != nil {
		c.err = err
		if c.Broken != nil {
			c.Broken(err)
		}
	}
}

// warn tells the user something beside the answer.
func (c *core) warn(format string, args ...any) {
	if !c.Quiet {
		fmt.Fprintf(c.Err, "warning: %s\n", output.FirstLine(fmt.Sprintf(format, args...)))
	}
}

// complain tells the user how the run failed, in one line or a few.
func (c *core) complain(o Outcome) {
	const most = 12 // lines
	s := "error: "
	for i, l := range strings.SplitN(strings.TrimSpace(o.Message), "\n", most+1) {
		if l = output.FirstLine(l); i < most && (l != "" || i == 0) {
			s += l + "\n"
		}
	}
	if o.Hint != "" {
		s += "hint: " + output.FirstLine(o.Hint) + "\n"
	}
	io.WriteString(c.Err, s)
}

// notice tells the user what an event means beside the answer.
func (c *core) notice(ev engine.Event) {
	switch ev := ev.(type) {
	case engine.Called:
		if c.called == nil {
			c.called = map[string]string{}
		}
		c.called[ev.ID] = about(ev)
	case engine.Notice:
		c.warn("%s", ev.Text)
	case engine.Retry:
		c.warn("%s", retryText(ev))
	case engine.Finished:
		title := output.FirstLine(or(ev.Intent.Title, or(c.called[ev.ID], ev.Name)))
		delete(c.called, ev.ID)
		if ev.Err != nil {
			c.deny(ev)
			why := engine.DisplayError(ev.Err)
			if ce := (*engine.CallError)(nil); errors.As(ev.Err, &ce) && ce.Lacked != "" {
				why += "; it probably needs " + output.FirstLine(ce.Lacked)
			}
			c.warn("%s: %s", title, why)
		}
	}
}

// retryText tells of a retry in one line.
func retryText(ev engine.Retry) string {
	again := "asking again"
	if ev.Delay > 0 {
		again += " in " + tally.Duration(ev.Delay)
	}
	if ev.Of > 0 {
		again += fmt.Sprintf(", attempt %d of %d", ev.Attempt+1, ev.Of)
	}
	if ev.Restart {
		again += "; the answer begins again"
	}
	return output.FirstLine(errorText(ev.Err)) + "; " + again
}

func errorText(err error) string {
	if err == nil {
		return "the request failed"
	}
	return err.Error()
}

func (c *core) deny(ev engine.Finished) {
	d := denial{Tool: output.Valid(ev.Name), ID: output.Valid(ev.ID), Title: output.Valid(ev.Intent.Title)}
	var ce *engine.CallError
	switch {
	case ev.Unasked != "":
		d.Why, d.Allow = "nobody could be asked", output.Valid(ev.Unasked)
	case errors.As(ev.Err, &ce) && ce.Type == engine.PolicyViolation:
		d.Why = output.Valid(engine.DisplayError(ev.Err))
	case ce != nil && ce.Lacked != "":
		d.Why, d.Allow = "it probably needs "+output.Valid(ce.Lacked), output.Valid(ce.Allow)
	default:
		return
	}
	if ce != nil && ce.Rule != nil {
		d.Rule = &rule{output.Valid(ce.Rule.File), ce.Rule.Line, output.Valid(ce.Rule.Tier), output.Valid(ce.Rule.About)}
	}
	c.denied = append(c.denied, d)
}
