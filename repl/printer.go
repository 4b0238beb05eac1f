package repl

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/repl/report"
)

// A Printer prints the events of a session's turns.
type Printer struct {
	Out     *output.Writer
	Answers Answers
	Tally   *tally.Tally // counts the printed events; nil for the turn's own counts only

	// Kind returns the kind of a tool. Reads and searches are printed together in one line. If Kind
	// is nil, each call is printed.
	Kind func(name string) engine.Kind

	// Heard, if not nil, returns the time of the last data from the model's server, printed or not.
	Heard func() time.Time

	// Hook, if not nil, returns the name of a hook that the turn waits for, "" if
	// there is none.
	Hook func() string

	// Files, if not nil, returns how many files the turn has changed. Known says that the number is
	// more reliable than the reports of tools.
	Files func() (n int, known bool)

	// Uncited hides the sources of an answer.
	Uncited bool

	// Spoken is for users who listen to the output.
	Spoken bool

	// Detail is how much of the model's work is printed. At full detail, Thoughts adds its
	// reasoning.
	Detail   Detail
	Thoughts bool

	turn  shownTurn
	kept  keptOutputs
	shown int // changes with each output
}

// A shownTurn is the state of the turn that a [Printer] shows.
type shownTurn struct {
	began      time.Time
	lastEvent  time.Time         // the time of the last event, or the end of the pause that it announced
	called     map[string]string // by id, titles of requested calls that have not begun
	running    calls
	askedCalls []string // ids of calls that were asked about and have not begun
	reads      []reads  // read-only calls that are not printed yet
	agents     agents
	thinking   reasoning
	doing      string // the activity in the last progress line
	beside     string // activity beside the conversation, "" if none is known
}

// A call is a running call of a tool.
type call struct {
	id, name, title string
	quiet           bool   // printed together with others
	agreed          bool   // its question is printed right above
	agent           string // the agent that works in it
	stage           string // its last progress message
	speaker         string // the agent in it that is printing
	thinking        reasoning
	out             excerpt
}

// Begin starts a turn.
func (p *Printer) Begin(now time.Time) {
	if p.Tally == nil {
		p.Tally = new(tally.Tally)
	}
	p.Tally.Start(now)
	p.endAnswer()
	p.turn = shownTurn{began: now, lastEvent: now, called: map[string]string{}}
}

// End ends a turn with its done line.
func (p *Printer) End(err error, now time.Time) {
	p.settle()
	p.Tally.End(err, now)
	if p.Files != nil {
		if n, known := p.Files(); known {
			p.Tally.Changed(n)
		}
	}
	state := ""
	switch {
	case errors.Is(err, errInterrupt):
		state = "cancelled, "
	case err != nil:
		state = "failed after "
	}
	span := p.Tally.Span(now)
	if p.Spoken && err == nil {
		span = span.Brief()
	}
	p.say(output.Done, "%s%s", state, span)
	p.turn.running = nil
}

// WaitingFor describes what the turn waits for.
func (p *Printer) WaitingFor() string {
	if p.Hook != nil {
		if name := p.Hook(); name != "" {
			return HookWait(name)
		}
	}
	return cmp.Or(p.turn.beside, p.turn.running.doing())
}

// forModel is the text if the turn waits only for the model.
const forModel = "waiting for the model"

// HookWait is the text if the turn waits for a hook, whose name may be empty.
func HookWait(name string) string {
	if name == "" {
		return "running hooks"
	}
	return "running the hook " + output.EscapeLine(name)
}

// calls are the running calls, as pointers, since their output must not be copied.
type calls []*call

// doing describes the running calls.
func (cs calls) doing() string {
	switch n := len(cs); n {
	case 0:
		return forModel
	case 1:
		return cs[0].doing()
	default:
		return fmt.Sprintf("%s, and %d more", cs[n-1].doing(), n-1)
	}
}

// find returns the running call of an id, nil if there is none.
func (cs calls) find(id string) *call {
	if i := slices.IndexFunc(cs, func(c *call) bool { return c.id == id }); i >= 0 {
		return cs[i]
	}
	return nil
}

// doing describes the activity of a call.
func (c *call) doing() string {
	const longest = 60 // characters
	title, runs := strings.CutPrefix(c.title, "run: ")
	said := output.EscapeLine(text.Shorten(title, longest))
	if runs {
		said = "running " + said
	}
	if c.stage != "" {
		said += ", " + output.EscapeLine(text.Shorten(strings.TrimSpace(c.stage), longest))
	}
	return said
}

// longSilence is the silence of the model's server after which a line reports it.
const longSilence = time.Minute

// Progress prints that work goes on. A running answer continues below.
func (p *Printer) Progress(now time.Time) {
	doing, last := p.WaitingFor(), p.turn.lastEvent
	if p.Heard != nil {
		if t := p.Heard(); t.After(last) {
			last = t
		}
	}
	took := tally.Duration(now.Sub(p.turn.began))
	silence := now.Sub(last)
	if p.Spoken && doing == p.turn.doing && silence < longSilence {
		p.aside(output.Progress, "%s", took)
		return
	}
	p.turn.doing = doing
	switch quiet := tally.Duration(silence); {
	case doing != forModel || silence < longSilence:
	case p.Spoken && quiet == took:
		doing = "nothing has come from the model"
	default:
		doing += ", nothing has come for " + quiet
	}
	p.aside(output.Progress, "%s, %s", took, doing)
}

// Print prints ev.
func (p *Printer) Print(ev engine.Event, now time.Time) {
	p.Tally.Observe(ev, now)
	p.turn.lastEvent = now
	_, said := engine.Unnest(ev)
	if r, ok := said.(engine.Retry); ok {
		p.turn.lastEvent = now.Add(r.Delay)
	}
	if t, ok := ev.(engine.Thought); ok {
		p.thought(t.Delta)
		return
	}
	p.think("", p.turn.thinking.take("", false))
	switch ev := ev.(type) {
	case engine.Text:
		p.text(ev.Delta)
	case engine.CallStateChanged:
		if ev.State == engine.AwaitingApproval {
			p.settle() // the question comes next
			p.turn.askedCalls = append(p.turn.askedCalls, ev.ID)
		}
	case engine.CallStarted:
		p.started(ev)
	case engine.Output:
		switch c := p.turn.running.find(ev.ID); {
		case c == nil:
		case ev.Stage: // the next progress line prints it
			c.stage = ev.Delta
		default:
			p.output(c, ev.Delta)
		}
	case engine.CallFinished:
		p.finished(ev)
	case engine.Retry:
		if ev.Resumed && !ev.Restart { // the answer continues below
			p.aside(output.Warning, "%s", output.EscapeLine(report.RetryText(ev)))
			break
		}
		p.settle()
		p.say(output.Warning, "%s", output.EscapeLine(report.RetryText(ev)))
	case engine.Notice:
		if p.settle(); ev.Cause == engine.ErrCompressing {
			p.turn.beside = ev.Cause.Error()
		}
		p.say(report.NoticeLabel(ev), "%s", ev.Text)
	case engine.RequestStarted:
		p.turn.beside = ""
		p.endAnswer() // the next text is another answer
	case engine.CallRequested:
		p.turn.called[ev.ID] = report.CallTitle(ev)
		p.turn.agents.called(ev)
		p.arguments(ev)
	case engine.Citations:
		if !p.Uncited {
			p.cited(ev.References)
		}
	case engine.CheckFinished:
		p.finished(engine.CallFinished{ID: ev.ID, Name: ev.ID, Err: ev.Err, Took: ev.Took})
	case engine.NestedEvent:
		p.nested(ev)
	case engine.AnswerFinished, engine.Usage: // the tally counts it
	default:
		panic(fmt.Sprintf("repl: unknown event %T", ev))
	}
}

// aside prints a line in the middle of a turn. A running answer continues below.
func (p *Printer) aside(l output.Label, format string, args ...any) {
	p.tellReads()
	p.Answers.interrupt()
	p.say(l, format, args...)
}

func (p *Printer) say(l output.Label, format string, args ...any) {
	p.shown++
	p.Out.Line(l, format, args...)
}

// title prints the title of a call.
func (p *Printer) title(l output.Label, title string) {
	words, code := titled(title)
	p.say(l, "%s%s", words, code)
}

// runs matches the words before a command in the title of a call.
var runs = text.Pattern(`^([^:]+: )*run( it| in [^:]+)*: `)

// titled splits a title into a command and the words before it.
func titled(title string) (words string, code output.Unbroken) {
	words = runs().FindString(title)
	if words == "" {
		return title, ""
	}
	return words, output.Unbroken(title[len(words):])
}

// settle prints all pending output, so that another message may follow.
func (p *Printer) settle() {
	p.tellReads()
	p.endAnswer()
	p.Out.Fresh()
}

func (p *Printer) started(ev engine.CallStarted) {
	p.endAnswer()
	c := &call{id: ev.ID, name: ev.Name, title: text.Shorten(p.turn.agents.titled(ev.ID, cmp.Or(ev.Intent.Title, ev.Name)),
		longestTold), quiet: p.quiet(ev.Name), agreed: ev.Agreed && p.turn.onlyAsked(ev.ID)}
	c.out.whole, c.out.few = p.Detail == FullDetail, p.Spoken
	if !c.quiet && !c.agreed { // otherwise the question has named it
		p.settle()
		p.title(output.Tool, output.EscapeLine(c.title))
	}
	p.turn.running = append(p.turn.running, c)
}

// onlyAsked reports whether the call of an id, which begins now, is the only call that was asked
// about. Its question is then the last output.
func (t *shownTurn) onlyAsked(id string) bool {
	others := slices.ContainsFunc(t.askedCalls, func(other string) bool { return other != id })
	t.askedCalls = slices.DeleteFunc(t.askedCalls, func(other string) bool { return other == id })
	return !others && len(t.running) == 0
}

// quiet reports whether calls of a tool are printed together, or not at all.
func (p *Printer) quiet(name string) bool {
	if p.Detail != NormalDetail || p.Kind == nil {
		return p.Detail == ShortDetail
	}
	k := p.Kind(name)
	return k == engine.Read || k == engine.Search
}

// tellReads prints a line about the reads and searches since the last such line.
func (p *Printer) tellReads() {
	for _, r := range p.turn.reads {
		if p.Detail != ShortDetail {
			p.say(output.Tool, "%s%s", r.of, summary(r.titles))
		}
	}
	p.turn.reads = nil
}

// reads are the titles of reads and searches, with their agent: "" is the model that the user talks
// to.
type reads struct {
	of     string
	titles []string
}

// read stores a read or a search, which is printed together with others.
func (t *shownTurn) read(of, title string) {
	i := slices.IndexFunc(t.reads, func(r reads) bool { return r.of == of })
	if i < 0 {
		i = len(t.reads)
		t.reads = append(t.reads, reads{of: of})
	}
	t.reads[i].titles = append(t.reads[i].titles, title)
}

// mostNamed is the most reads and searches that one line names.
const mostNamed = 3

// summary joins titles in one line: "read a.go, b.go; search x", or "read 14 files, 2 searches".
func summary(titles []string) string {
	var files, others []string
	for _, t := range titles {
		if file, ok := strings.CutPrefix(t, "read "); ok {
			files = append(files, file)
		} else {
			others = append(others, t)
		}
	}
	count := func(n int, one, many string) []string {
		switch n {
		case 0:
			return nil
		case 1:
			return []string{one}
		}
		return []string{fmt.Sprintf(many, n)}
	}
	if len(titles) > mostNamed {
		return strings.Join(append(count(len(files), "read 1 file", "read %d files"),
			count(len(others), "1 search", "%d searches")...), ", ")
	}
	if len(files) > 0 {
		others = append([]string{"read " + strings.Join(files, ", ")}, others...)
	}
	return strings.Join(others, "; ")
}

// longestTold is the longest title of a call, in characters.
const longestTold = 100

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
