package repl

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"gemline/commands"
	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/markdown"
	"gemline/repl/output"
)

// A Printer shows the events of a session's turns.
type Printer struct {
	Out   *output.Writer
	Pace  Pace
	Tally *tally.Tally // counts what is printed; nil for none but the turn's own

	// Kind returns the kind of a tool, by which reads and searches are told
	// together. Nil means that all are told one by one.
	Kind func(name string) engine.Kind

	// Heard, if not nil, returns when something last came from the model's
	// server, be it nothing that is shown.
	Heard func() time.Time

	// Detail is how much is told of what the model does. With Thoughts, full
	// detail has its reasoning.
	Detail   Detail
	Thoughts bool

	// Keep stores the full text of an output that is shown in part, and
	// returns where. If it is nil or returns nothing, nothing is said of it.
	Keep func(name, text string) (where string)

	reader  *markdown.Renderer // of the answer, nil between answers
	held    []markdown.Span    // of the answer, not shown yet
	end     string             // the last bytes of it so far
	said    bool               // the answer has its label
	broken  bool               // a line of another kind stands inside the answer
	reads   []string           // titles of what was read or searched, not told yet
	running []call
	shown   int
	began   time.Time
	heard   time.Time // when the last event came, or what it announced is over

	thinking string            // the beginning of a line of reasoning
	kept     []commands.Output // not shown in full
	numbered int               // how many there were
}

// A call is one that runs.
type call struct {
	id, name, title string
	quiet           bool // told together with others
	out             excerpt
}

// Begin starts a turn.
func (p *Printer) Begin(now time.Time) {
	if p.Tally == nil {
		p.Tally = new(tally.Tally)
	}
	p.Tally.Start(now)
	p.began, p.heard = now, now
	p.endAnswer()
	p.running, p.reads, p.thinking = nil, nil, ""
}

// End ends a turn with its done line.
func (p *Printer) End(err error, now time.Time) {
	p.settle()
	p.Tally.End(err, now)
	state := ""
	switch {
	case errors.Is(err, errInterrupt):
		state = "cancelled, "
	case err != nil:
		state = "failed after "
	}
	p.say(output.Done, "%s%s", state, p.Tally.Span(now))
	p.running = nil
}

// Shown changes whenever something is shown.
func (p *Printer) Shown() int { return p.shown }

// Doing says in words what the turn waits for.
func (p *Printer) Doing() string {
	switch n := len(p.running); n {
	case 0:
		return "waiting for the model"
	case 1:
		return "running " + p.running[0].name
	default:
		return fmt.Sprintf("running %s and %d more", p.running[n-1].name, n-1)
	}
}

// longSilence is how long the model's server says nothing before that is told.
const longSilence = time.Minute

// Beat says that work goes on. An answer that has begun goes on below.
func (p *Printer) Beat(now time.Time) {
	p.tellReads()
	p.said, p.broken = false, p.reader != nil
	doing := p.Doing()
	if silence := p.silence(now); len(p.running) == 0 && silence >= longSilence {
		doing += ", nothing has come for " + tally.Duration(silence)
	}
	p.say(output.Progress, "%s, %s", tally.Duration(now.Sub(p.began)), doing)
}

// silence returns for how long nothing has come from the model's server.
func (p *Printer) silence(now time.Time) time.Duration {
	last := p.heard
	if p.Heard != nil {
		if t := p.Heard(); t.After(last) {
			last = t
		}
	}
	return now.Sub(last)
}

// Print shows ev.
func (p *Printer) Print(ev engine.Event, now time.Time) {
	p.Tally.Observe(ev, now)
	p.heard = now
	if r, ok := ev.(engine.Retry); ok {
		p.heard = now.Add(r.Delay)
	}
	if t, ok := ev.(engine.Thought); ok {
		p.thought(t.Delta)
		return
	}
	if p.thinking != "" {
		p.think(p.thinking)
		p.thinking = ""
	}
	switch ev := ev.(type) {
	case engine.Text:
		p.text(ev.Delta)
	case engine.State:
		if ev.State == engine.AwaitingApproval {
			p.settle() // the question comes next
		}
	case engine.Started:
		p.started(ev)
	case engine.Output:
		if c := p.find(ev.ID); c != nil {
			p.output(c, ev.Delta)
		}
	case engine.Finished:
		p.finished(ev)
	case engine.Retry:
		p.retry(ev)
	case engine.Notice:
		p.settle()
		p.say(output.Info, "%s", ev.Text)
	case engine.Turn:
		p.endAnswer() // the next one is another
	case engine.Called:
		p.arguments(ev)
	case engine.Answered, engine.Usage: // the tally counts it
	default:
		panic(fmt.Sprintf("repl: unknown event %T", ev))
	}
}

func (p *Printer) say(l output.Label, format string, args ...any) {
	p.shown++
	p.Out.Line(l, format, args...)
}

// settle shows everything that was held back, so that something else may be
// shown below.
func (p *Printer) settle() {
	p.tellReads()
	p.endAnswer()
	p.Out.Fresh()
}

func (p *Printer) started(ev engine.Started) {
	p.endAnswer()
	c := call{id: ev.ID, name: ev.Name, title: ev.Intent.Title, quiet: p.quiet(ev.Name)}
	if c.title == "" {
		c.title = ev.Name
	}
	c.out.whole = p.Detail == FullDetail
	if !c.quiet {
		p.settle()
		p.say(output.Tool, "%s", output.EscapeLine(c.title))
	}
	p.running = append(p.running, c)
}

// quiet reports whether calls of a tool are told together, or not at all.
func (p *Printer) quiet(name string) bool {
	if p.Detail != NormalDetail || p.Kind == nil {
		return p.Detail == ShortDetail
	}
	k := p.Kind(name)
	return k == engine.Read || k == engine.Search
}

func (p *Printer) find(id string) *call {
	for i := range p.running {
		if p.running[i].id == id {
			return &p.running[i]
		}
	}
	return nil
}

// tellReads tells of what was read and searched since it was told last.
func (p *Printer) tellReads() {
	switch n := len(p.reads); {
	case p.Detail == ShortDetail:
	case n == 1:
		p.say(output.Tool, "%s", p.reads[0])
	case n > 1:
		p.say(output.Tool, "%s", together(p.reads))
	}
	p.reads = nil
}

// together says in one line what several titles say, such as "read 14 files,
// 2 searches".
func together(titles []string) string {
	files := 0
	for _, t := range titles {
		if strings.HasPrefix(t, "read ") {
			files++
		}
	}
	others := len(titles) - files
	searches := fmt.Sprintf("%d searches", others)
	if others == 1 {
		searches = "1 search"
	}
	switch {
	case files == 0:
		return searches
	case others == 0:
		return fmt.Sprintf("read %d files", files)
	case files == 1:
		return "read 1 file, " + searches
	default:
		return fmt.Sprintf("read %d files, %s", files, searches)
	}
}

func (p *Printer) retry(ev engine.Retry) {
	p.settle()
	why := "the request failed"
	if ev.Err != nil {
		why = firstLine(ev.Err.Error())
	}
	again := "trying again in " + tally.Duration(ev.Delay)
	if ev.Of > 0 {
		again += fmt.Sprintf(", attempt %d of %d", ev.Attempt+1, ev.Of)
	}
	p.say(output.Warning, "%s; %s", output.EscapeLine(why), again)
	if ev.Restart {
		p.say(output.Warning, "the answer so far does not count, it begins again")
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
