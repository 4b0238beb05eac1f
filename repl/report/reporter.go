package report

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

// A form is the format of a report. It ends once.
type form interface {
	begin(Init)
	event(engine.Event) // including events of agents
	end(Outcome)
}

// A reporter ensures that a form ends once.
type reporter struct {
	core *core
	busy chan struct{} // full while a method runs
	form form
	over bool
}

func newReporter(c *core, f form) *reporter {
	return &reporter{core: c, form: f, busy: make(chan struct{}, 1)}
}

func (r *reporter) lock() (unlock func()) {
	r.busy <- struct{}{}
	return func() { <-r.busy }
}

// Begin implements [Reporter]. It may have to wait for the trial of a sandbox; the run can be
// finished meanwhile.
func (r *reporter) Begin(in Init) {
	if _, tells := r.form.(*Records); tells {
		in.sandbox = r.core.sandbox()
	}
	defer r.lock()()
	if r.over {
		return
	}
	r.core.Session, r.core.began = cmp.Or(in.Session, r.core.Session), r.core.Now()
	r.form.begin(in)
}

// Event implements [Reporter].
func (r *reporter) Event(ev engine.Event) {
	defer r.lock()()
	if r.over {
		return
	}
	agents, said := engine.Unnest(ev)
	if agents == "" {
		r.form.event(ev)
		r.core.notice("", ev)
		return
	}
	// An agent's text belongs to its call. Forms that print calls get the agent's calls, and its
	// failures are printed.
	switch said := said.(type) {
	case engine.CallRequested:
		r.form.event(ev)
	case engine.Notice:
		said.Text = agents + ": " + said.Text
		r.form.event(said)
		r.core.notice("", said)
	case engine.Retry:
		r.core.warn("%s: %s", agents, RetryText(said))
	case engine.CallFinished:
		r.form.event(ev)
		r.core.notice(agents, said)
	}
}

// errHeldUp is the error of a report that a blocked reader delays.
var errHeldUp = errors.New("nobody reads the output")

// heldUp is how long a report in a hurry waits for its turn.
const heldUp = 300 * time.Millisecond

// Finish implements [Reporter].
func (r *reporter) Finish(o Outcome) error {
	var patience <-chan time.Time
	if o.Hurry {
		patience = time.After(heldUp)
	}
	select {
	case r.busy <- struct{}{}:
		defer func() { <-r.busy }()
	case <-patience:
		if o.Failed() && !o.Silent {
			r.core.complain(o.Complete())
		}
		return errHeldUp
	}
	if !r.over {
		r.over = true
		o = o.Complete()
		r.core.denyAsked(o.Err)
		r.form.end(o)
		note := ""
		if r.core.Done != nil {
			var err error
			note, err = r.core.Done(o.Failed() || o.Silent)
			r.core.err = cmp.Or(r.core.err, err)
		}
		if o.Failed() && !o.Silent {
			r.core.complain(o)
		}
		if note != "" && !o.Silent {
			fmt.Fprintf(r.core.Err, "hint: %s\n", output.FirstLine(note))
		}
	}
	return r.core.err
}

// core holds the common parts of all forms.
type core struct {
	Config
	began  time.Time
	denied []Denial
	called map[string]string // titles of requested calls, which may never begin, by id
	err    error             // the first of Out
}

func newCore(c Config) *core {
	if c.Tally == nil {
		c.Tally = &tally.Tally{}
	}
	return &core{Config: c, began: c.Now(), denied: []Denial{}}
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

// warn prints a warning beside the answer.
func (c *core) warn(format string, args ...any) {
	c.tell(output.Warning, fmt.Sprintf(format, args...))
}

func (c *core) tell(l output.Label, text string) {
	if !c.Quiet {
		fmt.Fprintf(c.Err, "%s: %s\n", l, output.FirstLine(text))
	}
}

// NoticeLabel returns the label of a notice.
func NoticeLabel(n engine.Notice) output.Label {
	if n.Info {
		return output.Info
	}
	return output.Warning
}

// complain prints the error of the run, in one or a few lines.
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

// notice prints the notice of an event, beside the answer. The event comes from an agent or, if
// agent is "", from the conversation.
func (c *core) notice(agent string, ev engine.Event) {
	switch ev := ev.(type) {
	case engine.CallRequested:
		if c.called == nil {
			c.called = map[string]string{}
		}
		c.called[ev.ID] = CallTitle(ev)
	case engine.Notice:
		c.tell(NoticeLabel(ev), ev.Text)
	case engine.Retry:
		c.warn("%s", RetryText(ev))
	case engine.CheckFinished:
		if ev.Err != nil {
			c.warn("check: %s: %s", output.FirstLine(ev.Command), engine.DisplayError(ev.Err))
		}
	case engine.CallFinished:
		title := cmp.Or(ev.Intent.Title, cmp.Or(c.called[ev.ID], ev.Name))
		if agent != "" { // its calls have separate ids
			title = agent + ": " + cmp.Or(ev.Intent.Title, ev.Name)
		} else {
			delete(c.called, ev.ID)
		}
		title = output.FirstLine(title)
		// The caller that cancels a call reports it.
		if ev.Err != nil && engine.Outcome(ev.Err) != engine.Cancelled {
			c.deny(agent, ev)
			why := engine.DisplayError(ev.Err)
			if ce := (*engine.CallError)(nil); errors.As(ev.Err, &ce) && ce.MissingRights != "" {
				why += "; " + output.FirstLine(ce.MissingRights)
			}
			c.warn("%s: %s", title, why)
		}
	}
}
