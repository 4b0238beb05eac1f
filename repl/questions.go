package repl

import (
	"context"
	"fmt"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/repl/question"
)

// answer asks the user the questions of a call, in order.
func (a *Asker) answer(ctx context.Context, label output.Label, qs []engine.Question) (engine.Answer, error) {
	replies := make([]string, len(qs))
	for i, q := range qs {
		a.pose(label, q, i, len(qs))
		if i == 0 {
			a.Console.Notifier.Notify(Alert{Event: "question", Text: text.Words(q.Text)})
		}
		reply, ok, err := a.reply(ctx, q, func() { a.guide(q); a.pose(label, q, i, len(qs)) })
		if !ok || err != nil {
			return engine.Refused{}, err
		}
		replies[i] = reply
	}
	return engine.Replied{Replies: replies}, nil
}

// pose prints a whole question.
func (a *Asker) pose(label output.Label, q engine.Question, i, n int) {
	head := "question"
	if n > 1 {
		head = fmt.Sprintf("question %d of %d", i+1, n)
	}
	if h := text.Words(q.Header); h != "" {
		head += ", " + h
	}
	a.Console.Out.Line(label, "%s: %s", head, q.Text)
	switch {
	case q.Hint != "" && q.Kind == engine.FreeText:
		a.Console.Out.Item(output.Normal, indent+"such as: "+text.Words(q.Hint))
	case q.Kind == engine.MultipleChoice:
		several := ""
		if q.Multi {
			several = ", of which several may be chosen"
		}
		m := menu(q)
		a.Console.Out.Line(output.Info, "%s%s", text.Count(len(m.Choices), "choice"), several)
		m.list(a.Console.Out)
	}
}

// guide says how to answer q.
func (a *Asker) guide(q engine.Question) {
	how, own := "the number of a choice, or how it begins", ""
	if q.Multi {
		how = "the numbers of choices, or how they begin, with commas between"
	}
	if !q.Closed {
		own = fmt.Sprintf("; %d and words answers in your own", len(q.Options)+1)
	}
	switch {
	case q.Kind == engine.FreeText:
		a.Console.Out.Line(output.Info, "your text is the answer; a backslash at the end of a line continues it on the next line")
	case q.Kind == engine.YesNo:
		a.Console.Out.Line(output.Info, "y or yes, n or no")
	default:
		a.Console.Out.Line(output.Info, "%s%s", how, own)
	}
	a.Console.Out.Line(output.Info, "Enter alone leaves this question open, Ctrl-D leaves all of them open, Ctrl-C stops the turn")
}

// noAnswer is the meaning of invalid input.
const noAnswer = "no answer to any question"

// reply returns the answer to one question, "" if the user leaves it open, and whether the user
// continues.
func (a *Asker) reply(ctx context.Context, q engine.Question, explain func()) (reply string, ok bool, err error) {
	var sel selection
	ok, err = a.Console.insist(ctx, prompt(q), prompt(q), noAnswer, func(s string) (ok bool, problem string) {
		s = strings.TrimSpace(s)
		switch {
		case s == "?":
			explain()
			return false, ""
		case s == "":
		case q.Kind == engine.FreeText:
			reply = s
		case q.Kind == engine.YesNo:
			reply, problem = question.YesNo(s)
		default:
			sel, problem = selected(s, q)
		}
		return problem == "", problem
	})
	if !ok || err != nil {
		return "", false, err
	}
	if q.Kind == engine.FreeText {
		return a.Console.continued(ctx, reply)
	}
	if q.Kind != engine.MultipleChoice {
		return reply, true, nil
	}
	return a.chosen(ctx, q, sel)
}

// menu returns the choices of a question. The last is an answer in the user's own words,
// unless the question is closed.
func menu(q engine.Question) Menu {
	m := Menu{Several: q.Multi, Enter: "none", Help: func() {}}
	for _, o := range q.Options {
		m.Choices = append(m.Choices, question.MenuItem{Text: strings.TrimSuffix(o.Label+": "+o.Description, ": ")})
	}
	if !q.Closed {
		m.Choices = append(m.Choices, question.MenuItem{Text: other})
	}
	return m
}

// prompt returns the end of a question. It differs from the end of an approval.
func prompt(q engine.Question) string {
	switch m := menu(q); q.Kind {
	case engine.MultipleChoice:
		return m.prompt()
	case engine.YesNo:
		return m.end("answer y or n")
	default:
		return m.end("answer in words")
	}
}

// chosen returns the reply that sel stands for. It asks for own words that sel lacks.
func (a *Asker) chosen(ctx context.Context, q engine.Question, sel selection) (reply string, ok bool, err error) {
	if sel.own && sel.words == "" {
		const question = "in your own words, Enter for none: "
		ok, err := a.Console.insist(ctx, question, question, noAnswer, func(s string) (bool, string) {
			sel.words = strings.TrimSpace(s)
			return true, ""
		})
		if !ok || err != nil {
			return "", false, err
		}
	}
	if sel.words, ok, err = a.Console.continued(ctx, sel.words); !ok || err != nil {
		return "", false, err
	}
	var parts []string
	for _, i := range sel.at {
		parts = append(parts, q.Options[i].Label)
	}
	if sel.words != "" {
		parts = append(parts, sel.words)
	}
	return strings.Join(parts, ", "), true, nil
}

// span names the numbers of n choices.
func span(n int) string {
	if n == 1 {
		return "1"
	}
	return fmt.Sprintf("1 to %d", n)
}
