package report

import (
	"io"
	"strings"

	"gemline/engine"
	"gemline/repl/output"
)

// DryRun holds the changes that a dry run would have made.
type DryRun struct {
	Patch string // in git's format

	// Planned lists the calls that would have run, in order; nil in a run that collects only a
	// patch.
	Planned []PlannedCall
}

// PlannedCall is a call that was not carried out.
type PlannedCall struct {
	Tool  string         `json:"tool"`
	Title string         `json:"title"`
	Args  map[string]any `json:"args"`
}

// patch is the text form of a run that collects edits. It prints only the patch; the model's text
// goes to standard error. It prints nothing if the run fails, since half of a change may be worse
// than none.
type patch struct {
	core *core
	silentStart
	text *textForm // the words
}

func newPatch(c *core) *patch {
	aside := *c
	aside.Out, aside.Broken, aside.Text.Live = c.Err, nil, true
	if c.Quiet {
		aside.Out = io.Discard
	}
	words := newText(&aside)
	return &patch{core: c, text: &words}
}

func (p *patch) event(ev engine.Event) {
	p.text.event(ev)
	if _, again := ev.(engine.Retry); again {
		p.text.line() // the notice of a retry gets a separate line
	}
}

func (p *patch) end(o Outcome) {
	p.text.end(o)
	patch, planned := p.core.collected(o)
	if o.Failed() {
		if patch != nil && *patch != "" && !o.Silent {
			p.core.warn("the patch so far is not printed, since the run did not end well; --json has it")
		}
		return
	}
	var out strings.Builder
	if planned != nil {
		for _, call := range *planned {
			out.WriteString("would " + output.Visible(output.BlankControls(call.Title)) + "\n")
		}
		if out.Len() > 0 && *patch != "" {
			out.WriteByte('\n')
		}
	}
	out.WriteString(*patch)
	switch {
	case out.Len() > 0:
		p.core.write([]byte(out.String()))
	case planned != nil:
		p.core.warn("nothing would be done")
	default:
		p.core.warn("no file was edited, so there is no patch")
	}
}

// collected returns the patch and the planned calls for a record; nil in other runs, or after a
// panic.
func (c *core) collected(o Outcome) (patch *string, planned *[]PlannedCall) {
	if c.DryRun == nil || o.Reason == "internal" {
		return nil, nil
	}
	found := c.DryRun()
	if found.Planned == nil {
		return &found.Patch, nil
	}
	all := []PlannedCall{}
	for _, call := range found.Planned {
		args, _ := value(call.Args)
		if call.Args == nil {
			args = map[string]any{}
		}
		all = append(all, PlannedCall{Tool: output.Valid(call.Tool), Title: output.Valid(call.Title),
			Args: args.(map[string]any)})
	}
	return &found.Patch, &all
}
