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

// Number of lines of a long output that are shown, from its beginning and its end.
const (
	firstLines = 20
	lastLines  = 10
	firstHeard = 5 // for users who listen
	lastHeard  = 5
	fullBytes  = 1 << 20 // bytes of an output that are stored for /show
)

// indent stands before the lines of a program's output.
const indent = "  "

// An excerpt collects an output: its first lines are shown at once, its last lines at the end.
type excerpt struct {
	whole bool          // nothing is left out
	few   bool          // for users who listen and can't skip lines
	cut   bool          // full is not the whole output
	part  string        // the beginning of a line
	lines int           // complete lines
	tail  []output.Span // the last lines not shown
	diff  diff          // in the output, if any
	full  strings.Builder
}

// add adds a piece and returns the lines to show now.
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

// line adds a line and reports whether to show it now.
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

// end returns the last lines, and how many lines before them are left out.
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

// ends returns how many lines to show from the beginning and the end.
func (e *excerpt) ends() (first, last int) {
	if e.few {
		return firstHeard, lastHeard
	}
	return firstLines, lastLines
}

// output prints a piece of a running call's output.
func (p *Printer) output(c *call, delta string) {
	lines := c.out.add(delta)
	if c.quiet && p.Detail == ShortDetail {
		return
	}
	p.endAnswer()
	p.show(lines)
}

// show prints lines.
func (p *Printer) show(lines []output.Span) {
	for _, l := range lines {
		p.shown++
		p.Out.Styled(l.Style, indent+strings.TrimSuffix(l.Text, "\r"))
	}
}

// unstyled returns lines without a style.
func unstyled(lines ...string) (all []output.Span) {
	for _, l := range lines {
		all = append(all, output.Span{Text: l})
	}
	return all
}

// finished prints the outcome of a call.
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
	} else if ev.Err != nil && !ev.Asked { // it never ran, so no line names it yet
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
	if c.quiet && p.Detail == ShortDetail { // only the outcome is printed, and /show has the output
		p.kept.unshown(c, ev)
		p.say(output.Result, "%s", verdict(ev))
		return
	}
	of := c.of()
	counted := len(ev.Result.Changes) > 0 && !strings.Contains(ev.Result.Display, "\n") // the verdict says the same
	proposed := ev.Asked && len(ev.Result.Changes) > 0                                  // the question has shown the changes
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
	if c.agreed && p.Spoken { // the question has also counted the lines
		ev.Result.Changes = nil
	}
	p.say(output.Result, "%s%s", of, verdict(ev))
}

// of returns the agent that works in the call, and a colon: another agent may print in between. It
// returns "" without an agent.
func (c *call) of() string {
	if c.agent == "" {
		return ""
	}
	return c.agent + ": "
}

// verdict describes the outcome of a call.
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
