package repl

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/output"
)

// An Asker puts the engine's questions to the user. It may be called on the
// goroutine of a turn or on the terminal's own.
type Asker struct {
	*Console

	// Edit lets the user change text in an editor, in a file of that name.
	// Nil offers no such choice.
	Edit func(ctx context.Context, name, text string) (string, error)

	desk desk   // of the turn that runs, nil between turns
	held string // what was said last of what holds commands
}

// Approve implements [engine.Approver]. Ctrl-C refuses and ends the Run.
func (a *Asker) Approve(ctx context.Context, p engine.Proposal) (answer engine.Answer, err error) {
	if a.desk == nil {
		return a.approve(ctx, p)
	}
	a.desk.do(func() { answer, err = a.approve(ctx, p) })
	return answer, err
}

func (a *Asker) approve(ctx context.Context, p engine.Proposal) (answer engine.Answer, err error) {
	if a.Shared {
		a.Out.Touched()
	}
	if qs := p.Intent.Questions; len(qs) > 0 {
		return a.answer(ctx, qs)
	}
	a.show(p)
	a.attention("permission", p.Intent.Title)
	p.Intent.Grants = lasting(p)
	edits := a.Edit != nil && p.Intent.Draft != nil
	first, again := a.choices(p.Intent, edits)
	ok, err := a.insist(ctx, first, again, "no", func(s string) (bool, string) {
		c, ok := parseChoice(s, p.Intent.Grants)
		switch {
		case !ok, c.key == 'e' && !edits, c.key == 'w' && p.Intent.Plan.Online == nil, c.key == 'a' && c.grant >= len(p.Intent.Grants):
			return false, fmt.Sprintf("%.100q is none of the choices; ? says what they mean", s)
		case c.key == 'a' && !slices.Contains(scopesOf(p.Intent.Grants[c.grant]), c.scope):
			return false, unkept(p.Intent.Grants[c.grant])
		case c.key == 'y':
			answer = engine.Allowed{}
		case c.key == 'w':
			answer = engine.Changed{Agreed: true, Args: p.Intent.Plan.Online}
		case c.key == 'a':
			answer = engine.Allowed{Scope: c.scope, Grant: p.Intent.Grants[c.grant]}
		case c.key == 'n':
			answer = engine.Refused{Note: c.note}
		case c.key == '?':
			a.explain(p, edits)
			return false, ""
		default:
			args := a.edit(ctx, p.Intent.Draft)
			answer = engine.Changed{Args: args}
			return args != nil, ""
		}
		return true, ""
	})
	if !ok || err != nil {
		return engine.Refused{}, err
	}
	return answer, nil
}

// show prints what is to be decided, in full.
func (a *Asker) show(p engine.Proposal) {
	in := p.Intent
	title := in.Title
	if title == "" {
		title = p.Tool.Name()
	}
	detail := strings.TrimSuffix(in.Detail, "\n")
	asked := false
	change, changes := changeOf(p)
	whole := detail != "" && (strings.Contains(detail, "\n") || !strings.HasSuffix(title, detail) || a.titleText(title) != title)
	switch {
	case changes:
		asked = a.propose(title, change)
	case whole && p.Tool.Kind != engine.Execute && !strings.Contains(detail, "\n"):
		a.Out.Line(output.Tool, "%s", a.titleText(detail))
	case whole:
		lines := strings.Count(detail, "\n") + 1
		a.Out.Line(output.Tool, "proposed %s, %s:", a.titleText(kindOf(p)), tally.Count(lines, "line"))
		var d diff
		for l := range strings.SplitSeq(output.Sanitize(detail), "\n") {
			a.Out.Styled(d.style(l), a.detailText(l))
		}
	}
	a.beware(in)
	if in.Secret != "" {
		a.Out.Line(output.Info, "%s may hold secrets", a.titleText(in.Secret))
	}
	if in.Plan.Failed == "" { // else it was told when the command was asked about first
		a.tell(in, whole)
	}
	a.limits(p)
	if asked {
		return
	}
	if title = a.titleText(title); whole {
		title = beginning(title, longestTitle)
	}
	a.Out.Line(output.Permission, "%s%s", title, a.titleText(beyond(in)))
}

// kindOf says in a word or two what a call that is shown whole is.
func kindOf(p engine.Proposal) string {
	switch p.Tool.Kind {
	case engine.Execute:
		return "command"
	case engine.Edit:
		return "change"
	}
	return "call of " + p.Tool.Name()
}

// beware warns of what does not look like what it is.
func (a *Asker) beware(in engine.Intent) {
	if hides(in.Title) || hides(in.Detail) {
		a.Out.Line(output.Warning, "control or invisible characters are shown as escapes")
	}
	if word := mixed(in.Title + "\n" + in.Detail); word != "" {
		a.Out.Line(output.Warning, "one word mixes letters of several alphabets: %s (%s)", output.EscapeLine(word), points(word))
	}
	for _, name := range programs(in) {
		if odd := points(name); odd != "" && !hides(name) {
			a.Out.Line(output.Warning, "%s", a.titleText("the name of a program is not plain ASCII: "+beginning(name, longestName)+" ("+odd+")"))
		}
	}
}

// So many characters name a call that is shown in full above, and a program.
const (
	longestTitle = 72
	longestName  = 40
)

// beginning returns the first n characters of s.
func beginning(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "..."
}

// beyond returns what the line that names a call says of the rights that it
// asks for.
func beyond(in engine.Intent) string {
	if in.Plan.Rights.None() {
		return ""
	}
	return ", with " + in.Plan.Rights.String()
}

// limits says what holds the programs that a call runs, if that was not said
// before, and why one that has failed is asked about again.
func (a *Asker) limits(p engine.Proposal) {
	in := p.Intent
	if p.Tool.Kind != engine.Execute {
		return
	}
	if len(in.Grants) > 0 && len(lasting(p)) == 0 {
		a.Out.Line(output.Warning, "%s", a.titleText("always is not offered: "+unwieldy(in.Detail)))
	}
	if held := "commands " + or(in.Plan.Held, unheld); held != a.held {
		a.held = held
		a.Out.Line(output.Info, "%s", a.titleText(held))
	}
	switch {
	case in.Plan.Failed != "" && len(in.Plan.Refused) > 0: // the question says what it needs
		a.list("the command failed; it could not write", in.Plan.Refused)
	case in.Plan.Failed != "":
		a.Out.Line(output.Info, "%s", a.titleText("the command failed; it probably needs "+in.Plan.Failed))
	}
}

// unheld is what commands are that nothing confines.
const unheld = "are not confined: they run with all your rights"

// A command of more than this is not taken in at a glance.
const (
	glanceLines = 40
	glanceChars = 4000
)

// unwieldy says why a command is not to be allowed for longer than once by
// somebody who looks at it: it is long, or does not look like what it is. It
// returns "" of other commands.
func unwieldy(command string) string {
	switch lines, chars := strings.Count(command, "\n")+1, utf8.RuneCountInString(command); {
	case hides(command):
		return "the command holds characters that can't be seen"
	case output.Sanitize(command) != command:
		return "the command holds long blanks or look-alike characters"
	case lines > glanceLines:
		return fmt.Sprintf("the command has %d lines", lines)
	case chars > glanceChars:
		return fmt.Sprintf("the command has %d characters", chars)
	}
	return ""
}

// lasting returns what "always" may mean for a call.
func lasting(p engine.Proposal) []engine.Grant {
	if p.Tool.Kind == engine.Execute && unwieldy(p.Intent.Detail) != "" {
		return nil
	}
	return p.Intent.Grants
}

// tell says what a call would run beyond what its title says. Of a plain
// command on one line that is nothing but what stands there.
func (a *Asker) tell(in engine.Intent, whole bool) {
	names, sets := programs(in), settings(in)
	inside := func(c engine.Command) bool { return c.Inside != "" }
	evident := in.Plan.Class == engine.Plain && !whole && !slices.ContainsFunc(in.Plan.Commands, inside)
	if len(sets) > 0 || len(in.Plan.Commands) > 1 && !evident {
		a.list("the command runs", names)
	}
	a.list("the command sets", sets)
	if !evident {
		a.list("the command writes", in.Plan.Writes)
	}
	if in.Plan.Class == engine.Opaque && in.Plan.Why != "" {
		why := in.Plan.Why
		if does, ok := strings.CutPrefix(why, "it "); ok {
			why = "the command " + does
		}
		a.Out.Line(output.Warning, "%s", a.titleText(why))
	}
}

// list prints what a call does, on a line.
func (a *Asker) list(what string, all []string) {
	if len(all) > 0 {
		a.Out.Line(output.Info, "%s: %s", what, a.titleText(strings.Join(all, ", ")))
	}
}

// programs returns the names of the programs that a call would run, each once.
// A name that is not known is as it is written.
func programs(in engine.Intent) []string {
	var names []string
	for _, c := range in.Plan.Commands {
		if name, _ := c.Program(); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// settings returns what a call would set in the environment, as NAME=value.
func settings(in engine.Intent) []string {
	var all []string
	for _, c := range in.Plan.Commands {
		all = append(all, c.Env...)
		switch name, _ := c.Program(); name {
		case "export", "declare", "local", "readonly", "typeset":
			for _, w := range c.Argv[1:] {
				if strings.Contains(w.Text, "=") {
					all = append(all, w.Text)
				}
			}
		}
	}
	return all
}

// edit lets the user change d and returns the arguments of the changed call,
// or nil if there are none.
func (a *Asker) edit(ctx context.Context, d *engine.Draft) map[string]any {
	var text string
	var err error
	a.Terminal.Lend(func() { text, err = a.Edit(ctx, d.Name, d.Text) })
	select {
	case <-a.Interrupts: // it was meant for the editor
	default:
	}
	switch {
	case err != nil:
		a.Out.Line(output.Failure, "%v", err)
	case text == d.Text:
		a.Out.Line(output.Info, "nothing was changed")
	default:
		return d.Args(text)
	}
	return nil
}
