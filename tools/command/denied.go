package command

import (
	"regexp"
	"strings"

	"gemline/engine/text"
	"gemline/tools/launch"
	"gemline/tools/mask"
	"gemline/tools/shell"
)

// DeniedProgram is a program that is hidden from commands, because a rule denies it.
type DeniedProgram struct {
	mask.Mask
	Reason string // names the rule to the model
}

// message tells the model that its command tried to run the program.
func (d DeniedProgram) message() string {
	if d.WhyRunnable != "" {
		return d.Program + " could not be run. " + d.Reason
	}
	return d.Program + " can't be run by any command. " + d.Reason
}

// execFailure matches messages of programs that could not run another program.
var execFailure = text.Pattern(`(?i)permission denied|\bEACCES\b|operation not permitted|not found|can'?t execute|cannot execute`)

// denials describes the denied programs that a command has tried to run, by its output, and
// the rules that deny them.
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
		for line := range strings.Lines(launch.OutputEnd(o.Output)) {
			if execFailure().MatchString(line) && name.MatchString(line) {
				said = append(said, d.message())
				break
			}
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "\n" + strings.Join(said, "\n")
}
