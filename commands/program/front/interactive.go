package front

import (
	"context"
	"os"
	"slices"
	"time"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/policy"
	"gemline/repl"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/tools/ide"
)

// An interactive front end holds a session at a terminal.
type interactive struct {
	opts       *project.Options
	frontend   *frontend
	screen     *repl.Screen
	interrupts chan os.Signal // Ctrl-C that the line editor does not see
	typed      *input.Shell   // the commands that the user types
	companion  *ide.Client    // of the editor
	updates    updates        // of extensions
	complete   func(ctx context.Context, line string, at int) (int, []input.Candidate)
}

// cycle lists the approval modes that Shift-Tab goes through. Yolo is not among them: the user must
// name it.
var cycle = []policy.Mode{policy.Default, policy.AutoEdit, policy.Auto, policy.Plan}

// nextMode changes to the next approval mode that is allowed here, prints its name, and returns the
// prompt.
func (i *interactive) nextMode() string {
	at := slices.Index(cycle, i.frontend.session.Rules.Policy.Mode())
	for n := range cycle {
		if i.frontend.session.Rules.SetMode(cycle[(at+1+n)%len(cycle)]) == nil {
			break
		}
	}
	if said, err := i.frontend.session.Rules.ModeCommand(""); err == nil {
		i.screen.Console.Out.Line(output.Info, "%s", said)
	}
	return i.readyPrompt()
}

// readyPrompt returns the prompt, which names the approval mode unless it is default. Programs that
// wait for a prompt get the same prompt in all modes.
func (i *interactive) readyPrompt() string {
	switch {
	case i.typed.Mode():
		return output.Shell
	case i.screen.Console.Stable:
		return output.Ready
	}
	return output.ReadyIn(string(i.frontend.session.Rules.Policy.Mode()))
}

// show prints an event of a call outside of an answer.
func (i *interactive) show(ev engine.Event) {
	if _, ok := ev.(engine.CallRequested); ok {
		i.screen.Printer.Begin(time.Now())
	}
	i.screen.Printer.Print(ev, time.Now())
}
