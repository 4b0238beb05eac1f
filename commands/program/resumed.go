package program

import (
	"context"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/engine/journal"
	"gemline/engine/tally"
	"gemline/repl/output"
)

// welcome tells whoever comes back to a session where it stands: what it is
// about, what was under way when it ended, and what was said last.
func (i *interactive) welcome(ctx context.Context, out *output.Writer, show *commands.Screen) {
	if i.past == nil {
		return
	}
	defer func() { i.past = nil }()
	said := commands.Exchanges(i.past.History)
	out.Line(output.Info, "resumed: %s (%s, %s)", output.EscapeLine(i.past.Title), strings.ToLower(journal.Ago(i.past.Updated, time.Now())), tally.Count(len(said), "turn"))
	if len(said) == 0 {
		return
	}
	const most = 3 // calls
	for n, fc := range i.past.Interrupted {
		if n == most {
			out.Line(output.Warning, "and %s more", tally.Count(len(i.past.Interrupted)-most, "interrupted call"))
			break
		}
		out.Line(output.Warning, "interrupted, outcome unknown: %s", output.EscapeLine(i.titleOf(ctx, fc)))
	}
	last := said[len(said)-1]
	question, whole := shortened(last.Question, 160, 1)
	answer, also := shortened(last.Answer, 320, 3)
	show.Asked(question)
	switch {
	case answer != "":
		show.Answer(answer)
	case len(i.past.Interrupted) == 0:
		out.Line(output.Warning, "no answer to that was recorded")
	}
	if !whole || !also || len(said) > 1 {
		out.Line(output.Info, "/history shows the rest")
	}
}

// titleOf says what a call was to do, in the words of its tool where it can tell.
func (s *Session) titleOf(ctx context.Context, fc *genai.FunctionCall) string {
	for _, t := range s.tools.Tools() {
		if t.Name() != fc.Name || t.Prepare == nil {
			continue
		}
		if call, err := t.Prepare(ctx, fc.Args); err == nil && call.Intent.Title != "" {
			return call.Intent.Title
		}
	}
	return fc.Name
}

// shortened returns the beginning of a text, and whether that is all.
func shortened(text string, most, lines int) (begin string, whole bool) {
	all := strings.SplitAfterN(strings.TrimSpace(text), "\n", lines+1)
	begin = strings.TrimSpace(strings.Join(all[:min(lines, len(all))], ""))
	if r := []rune(begin); len(r) > most {
		begin = string(r[:most])
	}
	if whole = begin == strings.TrimSpace(text); !whole {
		begin += " ..."
	}
	return begin, whole
}
