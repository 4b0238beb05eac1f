package repl

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/repl/question"
)

// Of a long output, so many lines are shown from its beginning and its end.
const (
	firstLines = 20
	lastLines  = 10
	firstHeard = 5 // for a listener
	lastHeard  = 5
	fullBytes  = 1 << 20 // how much of an output is remembered for /show
)

// indent stands before the lines that a program printed.
const indent = "  "

// An excerpt takes in an output piece by piece: the first lines are shown as
// they come, the last ones at the end.
type excerpt struct {
	whole bool          // nothing is left out
	few   bool          // for a listener, who can't skip lines
	cut   bool          // full is not the whole output
	part  string        // the beginning of a line
	lines int           // whole ones so far
	tail  []output.Span // the last lines not shown
	diff  diff          // that it may hold
	full  strings.Builder
}

// add takes in a piece and returns the lines to be shown now.
func (e *excerpt) add(s string) (now []output.Span) {
	if e.full.Len() < fullBytes {
		n := min(len(s), fullBytes-e.full.Len())
		e.full.WriteString(s[:n])
		e.cut = n < len(s)
	} else if s != "" {
		e.cut = true
	}
	ls := strings.SplitAfter(e.part+s, "\n")
	e.part = ls[len(ls)-1]
	for _, l := range ls[:len(ls)-1] {
		if line, show := e.line(strings.TrimSuffix(l, "\n")); show {
			now = append(now, line)
		}
	}
	return now
}

// line takes in a line and says whether it is shown now.
func (e *excerpt) line(s string) (line output.Span, show bool) {
	e.lines++
	line = output.Span{Style: e.diff.style(s), Text: s}
	first, last := e.ends()
	if e.whole || e.lines <= first {
		return line, true
	}
	e.tail = append(e.tail, line)
	if len(e.tail) > last {
		e.tail = e.tail[1:]
	}
	return line, false
}

// end returns the last lines, and how many before them are left out.
func (e *excerpt) end() (left int, rest []output.Span) {
	if e.part != "" {
		s := e.part
		e.part = ""
		if line, show := e.line(s); show {
			return 0, []output.Span{line}
		}
	}
	first, _ := e.ends()
	return max(0, e.lines-first-len(e.tail)), e.tail
}

// ends returns how many lines are shown from the beginning and the end.
func (e *excerpt) ends() (first, last int) {
	if e.few {
		return firstHeard, lastHeard
	}
	return firstLines, lastLines
}

// output shows a piece of what a running call prints.
func (p *Printer) output(c *call, delta string) {
	lines := c.out.add(delta)
	if c.quiet && p.Detail == ShortDetail {
		return
	}
	p.endAnswer()
	p.show(lines)
}

// show shows lines.
func (p *Printer) show(lines []output.Span) {
	for _, l := range lines {
		p.shown++
		p.Out.Styled(l.Style, indent+strings.TrimSuffix(l.Text, "\r"))
	}
}

// unstyled returns lines in no style.
func unstyled(lines ...string) (all []output.Span) {
	for _, l := range lines {
		all = append(all, output.Span{Text: l})
	}
	return all
}

// finished tells how a call went.
func (p *Printer) finished(ev engine.CallFinished) {
	c := &call{name: ev.Name, title: text.Shorten(p.turn.agents.titled(ev.ID, cmp.Or(ev.Intent.Title,
		p.turn.called[ev.ID], ev.Name)), longestTold), quiet: p.quiet(ev.Name)}
	delete(p.turn.called, ev.ID)
	defer p.turn.agents.finish(ev.ID)
	p.turn.askedCalls = slices.DeleteFunc(p.turn.askedCalls, func(id string) bool { return id == ev.ID })
	c.out.whole, c.out.few = p.Detail == FullDetail, p.Spoken
	if running := p.turn.running.find(ev.ID); running != nil {
		c = running
		p.turn.running = slices.DeleteFunc(p.turn.running, func(r *call) bool { return r == c })
	} else if ev.Err != nil && !ev.Asked { // it never ran, and no line names it
		p.settle()
		p.title(output.Tool, output.EscapeLine(c.title))
		c.quiet = false
	}
	if c.quiet && c.agreed && ev.Err == nil && p.Detail != ShortDetail {
		p.kept.unshown(c, ev)
		p.say(output.Result, "ok")
		return
	}
	if c.quiet && ev.Err == nil {
		p.turn.read("", output.EscapeLine(c.title))
		p.kept.unshown(c, ev)
		return
	}
	p.settle()
	if c.quiet && !ev.Asked {
		p.title(output.Tool, output.EscapeLine(c.title))
	}
	if c.quiet && p.Detail == ShortDetail { // how it went is said, and where the rest is
		p.kept.unshown(c, ev)
		p.say(output.Result, "%s", verdict(ev))
		return
	}
	of := c.of()
	counted := len(ev.Result.Changes) > 0 && !strings.Contains(ev.Result.Display, "\n") // the verdict says the same
	proposed := ev.Asked && len(ev.Result.Changes) > 0                                  // the question has shown it
	if c.out.full.Len() == 0 && !proposed && ev.Err == nil && !counted {
		p.show(c.out.add(of + ev.Result.Display))
		if p.Spoken && ev.Result.Display != "" { // the name was just heard
			of = ""
		}
	}
	left, rest := c.out.end()
	if left > 0 {
		p.show(unstyled(fmt.Sprintf("(%s%s not shown; /show %d)", c.of(), text.Count(left, "line"), p.kept.add(c))))
	}
	p.show(rest)
	if c.agreed && p.Spoken { // the question has counted the lines, too
		ev.Result.Changes = nil
	}
	p.say(output.Result, "%s%s", of, verdict(ev))
}

// of says whose words follow, if an agent works in the call: others may speak in between.
func (c *call) of() string {
	if c.agent == "" {
		return ""
	}
	return c.agent + ": "
}

// verdict says in words how a call went.
func verdict(ev engine.CallFinished) string {
	if ev.Err == nil {
		return cmp.Or(output.EscapeLine(ev.Result.Verdict), "ok") + changed(ev.Result.Changes)
	}
	why := output.EscapeLine(firstLine(engine.DisplayError(ev.Err)))
	switch {
	case errors.Is(ev.Err, engine.ErrRefused):
		return "refused"
	case engine.Outcome(ev.Err) == engine.Cancelled, strings.HasPrefix(why, "denied"), strings.HasPrefix(why, "failed"):
		return why
	case strings.HasPrefix(why, "exit "), strings.HasPrefix(why, "signal "):
		return "failed " + why
	}
	return "failed: " + why
}

func changed(cs []engine.Change) string {
	added, removed := 0, 0
	for _, c := range cs {
		added, removed = added+c.Added, removed+c.Removed
	}
	if len(cs) == 0 {
		return ""
	}
	return ", " + question.CountLines(added, removed)
}
