package repl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/output"
)

// Detail says how much of the model's work is printed beside its answers, questions and errors.
type Detail int

// The levels of detail.
const (
	NormalDetail Detail = iota // calls, their outcomes, and the first and last lines of their output
	ShortDetail                // none of these, apart from failures
	FullDetail                 // also arguments, and all output
)

// arguments prints the arguments of a call, at full detail.
func (p *Printer) arguments(ev engine.CallRequested) {
	if p.Detail != FullDetail {
		return
	}
	p.settle()
	p.say(output.Info, "%s is called with:", output.EscapeLine(ev.Name))
	for _, name := range slices.Sorted(maps.Keys(ev.Args)) {
		value, ok := ev.Args[name].(string)
		if !ok {
			b, _ := text.JSON(ev.Args[name], "") // it came as JSON
			value = string(b)
		}
		first, rest, several := strings.Cut(strings.TrimSuffix(value, "\n"), "\n")
		p.show(unstyled(output.EscapeLine(name) + ": " + first))
		if several {
			p.show(unstyled(strings.Split(rest, "\n")...))
		}
	}
}

// thought prints the model's reasoning, a line at a time.
func (p *Printer) thought(delta string) {
	if !p.Thoughts || p.Detail != FullDetail {
		return
	}
	p.tellReads()
	p.endAnswer()
	p.think("", p.turn.thinking.take(delta, true))
}

// A reasoning buffers reasoning of the model until its line is complete.
type reasoning string

// take adds a piece and returns the complete lines, for printing. If no more reasoning follows, it
// also returns the last line.
func (r *reasoning) take(piece string, more bool) (lines string) {
	all := string(*r) + piece
	n := len(all)
	if more {
		n = strings.LastIndexByte(all, '\n') + 1
	}
	*r = reasoning(all[n:])
	return all[:n]
}

// think prints lines of reasoning, behind the agent's name if who is not empty.
func (p *Printer) think(who, text string) {
	for l := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(l) != "" {
			p.settle()
			p.say(output.Progress, "%sthinking: %s", who, l)
		}
	}
}

// The limits of stored outputs that were not shown in full: their number, and their total bytes.
const (
	mostKept  = 100
	keptBytes = 16 << 20
)

// An Output is the full output of a call that was shown truncated.
type Output struct {
	Number int
	Title  string
	Text   string
}

// keptOutputs are the latest truncated outputs.
type keptOutputs struct {
	all      []Output
	numbered int // how many there were in all
}

// add stores the output of a call, and returns its number.
func (k *keptOutputs) add(c *call) int {
	text := c.out.full.String()
	if c.out.cut {
		text += fmt.Sprintf("\n(the first %d MB are remembered)\n", fullBytes>>20)
	}
	k.numbered++
	k.all = append(k.all, Output{Number: k.numbered, Title: c.title, Text: text})
	size := 0
	for _, o := range k.all {
		size += len(o.Text)
	}
	for len(k.all) > 1 && (len(k.all) > mostKept || size > keptBytes) {
		size -= len(k.all[0].Text)
		k.all = k.all[1:]
	}
	return k.numbered
}

// unshown stores an output that is not shown at all.
func (k *keptOutputs) unshown(c *call, ev engine.CallFinished) {
	if c.out.full.Len() == 0 {
		c.out.add(ev.Result.Display)
	}
	if strings.TrimSpace(c.out.full.String()) != "" {
		k.add(c)
	}
}

// Truncated returns the latest truncated outputs.
func (p *Printer) Truncated() []Output { return slices.Clone(p.kept.all) }
