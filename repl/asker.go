package repl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/internal/turn"
	"gemline/repl/output"
	"gemline/repl/question"
)

// An Asker asks the user for the engine's decisions. It is called on the goroutine of a turn or of
// the terminal.
type Asker struct {
	Console *Console

	// Edit lets the user change text in an editor, in a file with the given name. If it is nil,
	// there is no such choice.
	Edit func(ctx context.Context, name, text string) (string, error)

	// Home is the user's directory, which paths are shown relative to.
	Home string

	desk  turn.Desk                    // of the running turn, nil between turns
	agent func(engine.Proposal) string // returns the printed name of the asking agent
	usual string                       // the last printed [question.Fact] of the usual kind
}

// Approve implements [engine.Approver]. Ctrl-C refuses and ends the Run.
func (a *Asker) Approve(ctx context.Context, p engine.Proposal) (answer engine.Answer, err error) {
	a.desk.Do(func() { answer, err = a.approve(ctx, p) })
	return answer, err
}

func (a *Asker) approve(ctx context.Context, p engine.Proposal) (answer engine.Answer, err error) {
	if a.Console.Interleaved {
		a.Console.Out.Touched()
	}
	if a.agent != nil {
		p.Agent = a.agent(p)
	}
	if qs := p.Intent.Questions; len(qs) > 0 {
		label := output.Gemini
		if p.Tool.Server != "" { // the server asks, not the model
			label = output.Permission
		}
		return a.answer(ctx, label, qs)
	}
	a.show(p)
	a.Console.Notifier.Notify(Alert{Event: "permission", Text: p.Intent.Title})
	p.Intent.Grants = question.Grants(p)
	edits := a.Edit != nil && p.Intent.Draft != nil && !a.Console.Sharing.IsLeft()
	first, again := a.choices(p.Intent, edits)
	ok, err := a.Console.insist(ctx, first, again, "no", func(s string) (ok bool, problem string) {
		c, ok := parseAnswer(s, p.Intent.Grants)
		none := fmt.Sprintf("%.100q is none of the choices; ? explains them", s)
		switch {
		case !ok, c.key == 'e' && !edits, c.key == 'a' && c.grant >= len(p.Intent.Grants):
			return false, none
		case c.key == 'y':
			answer = engine.Allowed{}
		case c.key == 'w':
			if answer, ok = question.WithNetwork(p); !ok {
				return false, none
			}
		case c.key == 'r':
			if answer, ok = question.ReadOnly(p); !ok {
				return false, none
			}
		case c.key == 'a':
			answer, problem = question.Always(p.Intent.Grants[c.grant], c.scope)
			return problem == "", problem
		case c.key == 'n':
			answer = engine.Refused{Note: c.note}
		case c.key == '?':
			a.explain(p, edits)
			return false, ""
		case a.Console.Sharing.IsAway():
			return false, "an editor needs the session's own terminal"
		default:
			args := a.edit(ctx, p.Intent.Draft)
			answer = engine.Changed{Args: args}
			return args != nil, ""
		}
		return true, ""
	})
	if how := AnsweredElsewhere(""); errors.As(err, &how) {
		a.Console.Out.Line(output.Info, "%s", titleText(a.Console.Out, how.Error()))
	}
	if !ok || err != nil {
		return engine.Refused{}, err
	}
	return answer, nil
}

// An AnsweredElsewhere is the cause of a context that ends because a question was answered
// elsewhere. Its text names the place and the answer.
type AnsweredElsewhere string

// ignoreAnsweredElsewhere returns a context that ends with ctx, but not for an answer elsewhere.
// Such an answer must not close an editor in which the user types.
func ignoreAnsweredElsewhere(ctx context.Context) (_ context.Context, end func()) {
	here, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if how := AnsweredElsewhere(""); !errors.As(context.Cause(ctx), &how) {
			cancel(context.Cause(ctx))
		}
	})
	return here, func() { stop(); cancel(nil) }
}

// AnsweredElsewhere returns the error of a question that was answered elsewhere.
func (a *Asker) AnsweredElsewhere(how string) error { return AnsweredElsewhere(how) }

// Changed reports that the proposed change was edited elsewhere, and prints its present form,
// unless p is nil.
func (a *Asker) Changed(how string, p *engine.Proposal) {
	a.desk.Do(func() {
		if how != "" {
			a.Console.Out.Line(output.Info, "%s", titleText(a.Console.Out, how))
		}
		if p == nil {
			return
		}
		if c, ok := question.ChangeOf(*p); ok {
			said, lines := a.lines(question.Title(*p)+", as it was changed", c)
			a.change(output.Tool, said, lines)
		}
	})
}

// Error returns the text.
func (e AnsweredElsewhere) Error() string { return string(e) }

// show prints the proposal in full.
func (a *Asker) show(p engine.Proposal) {
	title := question.Title(p)
	detail := strings.TrimSuffix(p.Intent.Detail, "\n")
	asked := false
	change, changes := question.ChangeOf(p)
	whole := detail != "" && (strings.Contains(detail, "\n") || !strings.HasSuffix(title, detail) ||
		titleText(a.Console.Out, title) != title)
	switch {
	case changes:
		asked = a.propose(p, change)
	case whole && p.Tool.Kind != engine.Execute && !strings.Contains(detail, "\n"):
		a.Console.Out.Line(output.Tool, "%s", titleText(a.Console.Out, detail))
	case whole:
		lines := strings.Count(detail, "\n") + 1
		a.Console.Out.Line(output.Tool, "proposed %s, %s:", titleText(a.Console.Out, question.Kind(p)), text.Count(lines, "line"))
		var d diff
		for l := range strings.SplitSeq(output.Sanitize(detail), "\n") {
			a.Console.Out.Styled(d.style(l), detailText(a.Console.Out, l))
		}
	}
	it, known := question.ConfirmTitle(p, a.Home)
	reads := known && question.ReadsSecret(p)
	if reads && !whole {
		words, code := titled(titleText(a.Console.Out, title))
		a.Console.Out.Line(output.Tool, "%s%s", words, code)
	}
	for _, f := range question.Facts(p, whole) {
		if f.Usual && f.Text == a.usual || f.Failed && known {
			continue
		}
		if f.Usual {
			a.usual = f.Text
		}
		a.Console.Out.Line(f.Label, "%s", titleText(a.Console.Out, f.Text))
	}
	if asked {
		return
	}
	if title = titleText(a.Console.Out, title); whole {
		title = text.Shorten(title, longestTitle)
	}
	rights := titleText(a.Console.Out, question.Rights(p))
	switch {
	case !known:
	case p.Intent.Plan.Failure.Reason != "", reads: // the call has just run, or its text is printed above
		title, rights = titleText(a.Console.Out, it), ""
	case whole: // its text is printed above
		title, rights = titleText(a.Console.Out, it), rights+"?"
	}
	words, code := titled(title)
	a.Console.Out.Line(output.Permission, "%s%s%s", words, code, rights)
}

// longestTitle is the longest title, in characters, of a call that is printed in full above.
const longestTitle = 72

// mostAtOnce is the most lines of a change between the proposal's title and the choices. After a
// longer change, the title is repeated.
const mostAtOnce = 16

// propose prints a change of a file, and reports whether the question stands above the change. For
// a long change, the caller prints the question below.
func (a *Asker) propose(p engine.Proposal, c question.Change) (asked bool) {
	said, lines := a.lines(question.Title(p), c)
	label := output.Permission
	if asked = len(lines) <= mostAtOnce; !asked {
		label, said = output.Tool, "proposed: "+said
	}
	a.change(label, said, lines)
	return asked
}

// lines returns a summary of a change, and its lines.
func (a *Asker) lines(name string, c question.Change) (said string, lines []string) {
	said = titleText(a.Console.Out, name+": "+c.Count())
	if a.Console.Spoken {
		if in := c.Function(); in != "" {
			said += titleText(a.Console.Out, ", in "+in)
		}
		return said, spoken(c)
	}
	text, from := c.Unified(a.Console.Short)
	if lines = strings.Split(text, "\n"); from > 1 {
		said += fmt.Sprintf(", from line %d", from)
	}
	return said, lines
}

// spoken returns a change in words. It has an unchanged line around the change only if no function
// name tells the place. The answer ? reads more lines.
func spoken(c question.Change) []string {
	if c.Function() != "" {
		return c.Around(0).Spoken()
	}
	return c.Around(1).Spoken()
}

// change prints a change below a line about it.
func (a *Asker) change(label output.Label, said string, lines []string) {
	a.Console.Out.Line(label, "%s", said)
	for _, l := range lines {
		a.Console.Out.Styled(styleOf(l), detailText(a.Console.Out, l))
	}
}

// edit lets the user change d and returns the arguments of the changed call,
// or nil if there are none.
func (a *Asker) edit(ctx context.Context, d *engine.Draft) map[string]any {
	var text string
	var err error
	ctx, end := ignoreAnsweredElsewhere(ctx)
	defer end()
	a.Console.Terminal.Lend(func() { text, err = a.Edit(ctx, d.Name, d.Text) })
	select {
	case <-a.Console.Interrupts: // Ctrl-C was meant for the editor
	default:
	}
	switch {
	case err != nil:
		a.Console.Out.Line(output.Failure, "%v", err)
	case text == d.Text:
		a.Console.Out.Line(output.Info, "nothing was changed")
	default:
		return d.Args(text)
	}
	return nil
}
