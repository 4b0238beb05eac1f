package repl

import (
	"cmp"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/repl/report"
)

// nested tells what an agent does inside a call, and which agent it is. What it
// says is shown as what the call prints.
func (p *Printer) nested(ev engine.Nested) {
	agents, said := engine.Source(ev)
	agents = output.EscapeLine(agents)
	c := p.turn.running.find(ev.ID)
	if c != nil {
		c.agent = output.EscapeLine(ev.Agent)
	}
	if t, ok := said.(engine.Text); ok && c != nil {
		if c.speaker != agents {
			p.hush(c)
			p.output(c, agents+": ")
			c.speaker = agents
		}
		p.output(c, t.Delta)
		return
	}
	if c != nil {
		p.hush(c)
	}
	tell := func(label output.Label, words string) {
		p.settle()
		p.say(label, "%s: %s", agents, words)
	}
	switch said := said.(type) {
	case engine.Thought:
		if c != nil && p.Thoughts && p.Detail == FullDetail {
			lines := strings.Split(c.thinking+said.Delta, "\n")
			c.thinking = lines[len(lines)-1]
			for _, l := range lines[:len(lines)-1] {
				tell(output.Progress, "thinking: "+output.EscapeLine(l))
			}
		}
	case engine.Output:
		if c != nil && p.Detail == FullDetail {
			p.output(c, said.Delta)
		}
	case engine.State:
		if said.State == engine.AwaitingApproval {
			p.settle() // the question comes next
		}
	case engine.Started:
		if p.Detail != ShortDetail && !said.Agreed { // else the question has named it
			tell(output.Tool, output.EscapeLine(text.Shorten(cmp.Or(said.Intent.Title, said.Name), longestTold)))
		}
	case engine.Finished:
		if said.Err != nil {
			tell(output.Result, output.EscapeLine(text.Shorten(cmp.Or(said.Intent.Title, said.Name),
				longestTold))+": "+verdict(said))
		}
	case engine.Retry:
		tell(output.Warning, output.EscapeLine(report.RetryText(said)))
	case engine.Notice:
		tell(report.NoticeLabel(said), said.Text)
	}
}

// hush ends the line of an agent that says something inside a call.
func (p *Printer) hush(c *call) {
	if c.speaker != "" && c.out.part != "" {
		p.output(c, "\n")
	}
	c.speaker = ""
}
