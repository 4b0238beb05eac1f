package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/input"
)

// Once carries out a single prompt for a [Reporter].
type Once struct {
	Engine   *engine.Engine
	Expand   input.Processor
	Reporter Reporter
	Tally    *tally.Tally
	Session  string
	Now      func() time.Time

	// Ask, if not nil, stands in for the Run of the Engine.
	Ask func(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error]

	// FailOnDeny ends the run with [ErrDenied] when a rule denies a call.
	FailOnDeny bool

	// Done, if not nil, is called when all is written to Out, with whether
	// the run failed. The note is for the user.
	Done func(failed bool) (note string, err error)

	// Demand, if not nil, is what must come of the answer. The Reporter has
	// the same one.
	Demand *Demand
}

// A Prompt is what a one-shot run was given.
type Prompt struct {
	Text  string      // of the command line
	Piped string      // of standard input
	Media *genai.Part // of standard input, if it is no text

	// What Piped was before it was made UTF-8; what it is if not set.
	Bytes    int
	Encoding string
}

// String returns all of the text, as the user gave it. The model reads it with
// tags around what was piped in beside words.
func (p Prompt) String() string {
	if p.Piped != "" && p.Text != "" {
		return p.Piped + "\n\n" + p.Text
	}
	return p.Piped + p.Text
}

// block returns what was piped in as data that stands before a prompt.
func (p Prompt) block() string {
	return input.Block(p.Piped, cmp.Or(p.Bytes, len(p.Piped)), cmp.Or(p.Encoding, "utf-8")) + "\n\n"
}

// Empty reports whether there is nothing to ask.
func (p Prompt) Empty() bool {
	return p.Media == nil && strings.TrimSpace(p.Text) == "" && strings.TrimSpace(p.Piped) == ""
}

// errNoPrompt is the error of a run that was given nothing to ask.
var errNoPrompt = &input.Error{Message: "no prompt: give one with -p or as words, or pipe it in"}

// Run carries out p. Its error is that of the prompt's expansion, of
// [engine.Engine.Run], of a call that met a full disk, [ErrDenied], or an
// [*UnmetError]. The caller finishes the Reporter.
//
// What is piped in beside a prompt is data: no reference or command in it
// means anything.
func (o *Once) Run(ctx context.Context, p Prompt) error {
	if p.Empty() {
		return errNoPrompt
	}
	o.Tally.Start(o.Now())
	o.Reporter.Begin(Init{Session: o.Session, Model: o.Engine.Model(), Prompt: p.String()})
	parts, err := o.expand(ctx, p)
	if errors.Is(err, commands.ErrQuit) {
		parts, err = nil, nil // there is nothing left to do anyway
	}
	if err != nil {
		return err
	}
	if len(parts) == 0 && o.Demand != nil {
		return o.Demand.unmet([]string{"the prompt is a command, which has no answer"})
	}
	if len(parts) == 0 {
		return nil
	}
	err = o.run(ctx, parts)
	if err == nil && o.Demand != nil {
		err = o.meet(ctx)
	}
	o.Tally.End(err, o.Now())
	return err
}

func (o *Once) expand(ctx context.Context, p Prompt) ([]*genai.Part, error) {
	var parts []*genai.Part
	if words := p.Text; words != "" || p.Piped != "" {
		if words == "" {
			words = p.Piped
		}
		var err error
		parts, err = o.Expand(ctx, []*genai.Part{genai.NewPartFromText(words)})
		if err != nil || len(parts) == 0 {
			return nil, err
		}
	}
	if p.Piped != "" && p.Text != "" {
		if first := parts[0]; first.Text != "" {
			parts[0] = genai.NewPartFromText(p.block() + first.Text)
		} else {
			parts = append([]*genai.Part{genai.NewPartFromText(p.block())}, parts...)
		}
	}
	if p.Media != nil {
		parts = append(parts, p.Media)
	}
	return parts, nil
}

// run runs parts to the end, or until the calls of a message are over of which
// one met a full disk.
func (o *Once) run(ctx context.Context, parts []*genai.Part) error {
	var full error
	ask := o.Ask
	if ask == nil {
		ask = o.Engine.Run
	}
	for ev, err := range ask(ctx, parts...) {
		if err != nil {
			return err
		}
		if _, next := ev.(engine.Turn); next && full != nil {
			return full
		}
		o.Tally.Observe(ev, o.Now())
		o.Reporter.Event(ev)
		o.Demand.hear(ev)
		if err := ruledOut(ev); err != nil && o.FailOnDeny {
			return err
		}
		if f, ok := ev.(engine.Finished); ok && f.Err != nil && engine.ErrorType(f.Err) == engine.NoSpaceLeft {
			full = fmt.Errorf("%s: %w", f.Name, f.Err)
		}
	}
	return full
}

// Speaker returns a writer for what a slash command has to tell in a one-shot
// run: it becomes the answer, whatever the format is.
func Speaker(r Reporter) io.Writer { return speaker{r} }

type speaker struct{ Reporter }

func (s speaker) Write(b []byte) (int, error) {
	s.Event(engine.Text{Delta: string(b)})
	return len(b), nil
}

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
	Session  string        // for the record of a run that never began
	Version  string        // of the program; may be empty
	Dir      string        // the working directory; may be empty
	Mode     func() string // what runs unasked when the run begins; may be nil
	Tally    *tally.Tally  // the numbers of the run
	Now      func() time.Time
	Quiet    bool // nothing but errors on Err
	Raw      bool // escape sequences in the model's text stay

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
		return newReporter(c, &document{core: c, text: cleaner{raw: r.Raw}})
	case "stream-json":
		return newReporter(c, &stream{core: c, text: cleaner{raw: r.Raw}})
	}
	text := bare{core: c, text: cleaner{raw: r.Raw}}
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

// Begin implements [Reporter].
func (r *reporter) Begin(in Init) {
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
			fmt.Fprintf(r.Err, "hint: %s\n", oneLine(note))
		}
	}
	return r.err
}

// core is what all forms have in common.
type core struct {
	Report
	began  time.Time
	denied []denial
	err    error // the first of Out
}

// A denial is a call that was not made because of what the policy says, or
// because there was nobody to ask.
type denial struct {
	Tool  string `json:"tool"`
	ID    string `json:"tool_id"`
	Title string `json:"title,omitempty"`
	Why   string `json:"why"`
	Allow string `json:"allowed_by,omitempty"`
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
		fmt.Fprintf(c.Err, "warning: %s\n", oneLine(fmt.Sprintf(format, args...)))
	}
}

// complain tells the user how the run failed, in one line or a few.
func (c *core) complain(o Outcome) {
	const most = 12 // lines
	s := "error: "
	for i, l := range strings.SplitN(strings.TrimSpace(o.Message), "\n", most+1) {
		if l = oneLine(l); i < most && (l != "" || i == 0) {
			s += l + "\n"
		}
	}
	if o.Hint != "" {
		s += "hint: " + oneLine(o.Hint) + "\n"
	}
	io.WriteString(c.Err, s)
}

// notice tells the user what an event means beside the answer.
func (c *core) notice(ev engine.Event) {
	switch ev := ev.(type) {
	case engine.Notice:
		c.warn("%s", ev.Text)
	case engine.Retry:
		c.retry(ev)
	case engine.Finished:
		if ev.Err != nil {
			c.deny(ev)
			c.warn("%s: %s", what(ev), engine.DisplayError(ev.Err))
		}
	}
}

func what(ev engine.Finished) string {
	if ev.Intent.Title != "" {
		return oneLine(ev.Intent.Title)
	}
	return oneLine(ev.Name)
}

func (c *core) retry(ev engine.Retry) {
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
	c.warn("%s; %s", oneLine(errorText(ev.Err)), again)
}

func errorText(err error) string {
	if err == nil {
		return "the request failed"
	}
	return err.Error()
}

func (c *core) deny(ev engine.Finished) {
	d := denial{Tool: valid(ev.Name), ID: valid(ev.ID), Title: valid(ev.Intent.Title)}
	var ce *engine.CallError
	switch {
	case ev.Unasked != "":
		d.Why, d.Allow = "nobody could be asked", valid(ev.Unasked)
	case errors.As(ev.Err, &ce) && ce.Type == engine.PolicyViolation:
		d.Why = valid(engine.DisplayError(ev.Err))
	default:
		return
	}
	c.denied = append(c.denied, d)
}

// valid returns s as it can stand in a record.
func valid(s string) string {
	s, _ = whole(s)
	return s
}
