package repl

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gemline/repl/output"
	"gemline/repl/question"
)

// Consent asks whether commands of a folder may run, and shows them in full. An answer that is no
// choice means [question.NotThisTime]. Ctrl-C and the end of the input are errors.
func (c *Console) Consent(ctx context.Context, folder string, wishes []question.ConsentItem) (question.Consent, error) {
	c.Out.Line(output.Permission, "%s", question.ConsentTitle(folder, wishes))
	if showItems(c.Out, folder, wishes) {
		c.Out.Line(output.Warning, "control or invisible characters are shown as escapes")
	}
	return choose(ctx, c, question.ConsentOptions(wishes), nil)
}

// showItems shows the programs of a folder, and reports whether it escaped characters in them.
func showItems(out *output.Writer, folder string, wishes []question.ConsentItem) (hidden bool) {
	shown := map[string]bool{}
	for _, w := range wishes {
		showItem(out, w.Title+":", w.Command)
		hidden = hidden || output.NeedsEscape(w.Command)
		if w.Only != "" {
			out.Styled(output.Normal, indent+indent+titleText(out, "(confined in any case: "+w.Only+")"))
		}
		w.Files = slices.DeleteFunc(slices.Clone(w.Files), func(name string) bool {
			again := shown[name]
			shown[name] = true
			return again
		})
		for _, s := range w.Scripts(folder) {
			switch {
			case s.Err != nil:
				out.Line(output.Warning, "%s can't be read: %v", output.EscapeLine(s.Path), s.Err)
			case s.Long():
				out.Item(output.Normal, indent+titleText(out, fmt.Sprintf("file %s has %d lines; read it before you agree", s.Path, s.Lines)))
			default:
				showItem(out, "file "+s.Path+":", s.Text)
				hidden = hidden || output.NeedsEscape(s.Text)
			}
		}
	}
	return hidden
}

// choose asks for an option. Help, if not nil, prints the help for ?. An empty or an invalid answer
// selects the option without a key.
func choose[T any](ctx context.Context, c *Console, options []question.Option[T], help func()) (answer T, err error) {
	m := Menu{Enter: "not now", Help: help}
	var answers []T
	for _, o := range options {
		if n, err := strconv.Atoi(o.Key); err == nil {
			m.Choices = append(m.Choices, question.MenuItem{Number: n, Name: o.Name, Text: o.Text})
			answers = append(answers, o.Answer)
		}
	}
	at, err := c.menu(ctx, m, map[string]string{"y": "1", "yes": "1", "n": "", "no": ""})
	if err != nil {
		c.Out.Fresh()
	}
	switch {
	case err == io.EOF:
		return answer, &unansweredError{err}
	case err != nil:
		return answer, c.unanswered(err, "")
	case at >= 0:
		answer = answers[at]
	}
	return answer, nil
}

// showItem shows a text from the folder below a title.
func showItem(out *output.Writer, title, text string) {
	out.Item(output.Normal, indent+titleText(out, title))
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		out.Styled(output.Normal, indent+indent+titleText(out, l))
	}
}
