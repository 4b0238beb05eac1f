package repl

import (
	"cmp"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/repl/report"
)

// nested prints the events of an agent inside a call, with the agent's name. The agent's text is
// printed as output of the call.
func (p *Printer) nested(ev engine.NestedEvent) {
	agents, said := engine.Unnest(ev)
	name := p.turn.agents.name(ev.ID, ev.Agent)
	agents = output.EscapeLine(name + strings.TrimPrefix(agents, ev.Agent))
	c := p.turn.running.find(ev.ID)
	if c != nil {
		c.agent = output.EscapeLine(name)
	}
	if t, ok := said.(engine.Text); ok && c != nil {
		if c.speaker != agents {
			p.endAgentLine(c)
			p.output(c, agents+": ")
			c.speaker = agents
		}
		p.output(c, t.Delta)
		return
	}
	if c != nil {
		p.endAgentLine(c)
		if t, thinks := said.(engine.Thought); p.Thoughts && p.Detail == FullDetail {
			p.think(agents+": ", c.thinking.take(t.Delta, thinks))
		}
	}
	started, begins := said.(engine.CallStarted)
	if begins && started.Name == engine.ReportTool { // the call's result is the report
		return
	}
	title := func(in engine.Intent, name string) string {
		return output.EscapeLine(text.Shorten(cmp.Or(in.Title, name), longestTold))
	}
	if begins && c != nil && !started.Agreed && p.quiet(started.Name) && p.Detail == NormalDetail {
		p.turn.read(agents+": ", title(started.Intent, started.Name))
		return
	}
	tell := func(label output.Label, words string) {
		p.settle()
		p.title(label, agents+": "+words)
	}
	switch said := said.(type) {
	case engine.Output:
		if c != nil && said.Stage {
			c.stage = said.Delta
		} else if c != nil && p.Detail == FullDetail {
			p.output(c, said.Delta)
		}
	case engine.CallStateChanged:
		if said.State == engine.AwaitingApproval {
			p.settle() // the question comes next
		}
	case engine.CallStarted:
		if p.Detail != ShortDetail && !said.Agreed { // otherwise the question has named it
			tell(output.Tool, title(said.Intent, said.Name))
		}
	case engine.CallFinished:
		if said.Err != nil {
			tell(output.Result, title(said.Intent, said.Name)+": "+verdict(said))
		}
	case engine.Retry:
		tell(output.Warning, output.EscapeLine(report.RetryText(said)))
	case engine.Notice:
		tell(report.NoticeLabel(said), said.Text)
	}
}

// endAgentLine ends the line of an agent that prints inside a call.
func (p *Printer) endAgentLine(c *call) {
	if c.speaker != "" && c.out.part != "" {
		p.output(c, "\n")
	}
	c.speaker = ""
}
