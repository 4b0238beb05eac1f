package command

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/launch"
	"gemline/tools/mask"
	"gemline/tools/shell"
)

// Denied is a program that is not there for commands, because a rule denies it.
type Denied struct {
	mask.Mask
	Reason string // names the rule to the model
}

// says tells the model who has tried to run it.
func (d Denied) says() string {
	if d.Left != "" {
		return d.Program + " could not be run. " + d.Reason
	}
	return d.Program + " can't be run by any command. " + d.Reason
}

// unrun is what programs say that could not run another one.
var unrun = text.Pattern(`(?i)permission denied|\bEACCES\b|operation not permitted|not found|can'?t execute|cannot execute`)

// denials says which of the programs that are denied a command has tried to run, as
// far as its output tells, and by which rules they are.
func (env Tools) denials(o shell.Outcome) string {
	if env.Denied == nil || o.Output == "" {
		return ""
	}
	var said []string
	for _, d := range env.Denied() {
		if len(d.Files) == 0 {
			continue
		}
		names := []string{regexp.QuoteMeta(d.Program)}
		for _, path := range d.Files {
			names = append(names, regexp.QuoteMeta(path))
		}
		name, err := regexp.Compile(`(?i)(^|[^\w.-])(` + strings.Join(names, "|") + `)($|[^\w.-])`)
		if err != nil {
			continue
		}
		for line := range strings.Lines(launch.LastWords(o.Output)) {
			if unrun().MatchString(line) && name.MatchString(line) {
				said = append(said, d.says())
				break
			}
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "\n" + strings.Join(said, "\n")
}

// violation returns the result of a call as one that a rule denies, if the command has
// tried to run a program that is not there because of it. Of a command that went
// well for all that, only one that could not be read is suspected.
func (c shellCall) violation(r engine.Result, err error) (engine.Result, error) {
	if errors.Is(err, context.Canceled) || err == nil && c.read.Class != engine.Opaque {
		return r, err
	}
	said := c.env.denials(shell.Outcome{Output: r.Display})
	if said == "" {
		return r, err
	}
	r.Display = strings.TrimRight(r.Display, "\n") + "\ndenied by policy in part: " + strings.TrimSpace(said)
	return r, &engine.CallError{Type: engine.PolicyViolation,
		Message: "Tool execution denied by policy in part: what else the command holds may have run. " + r.Text,
		Display: "denied in part: " + strings.TrimSpace(said)}
}
