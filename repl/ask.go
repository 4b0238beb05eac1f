package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/internal/line"
	"gemline/repl/output"
	"gemline/repl/question"
)

// invalidAnswers is how many answers that are no choice end a question.
const invalidAnswers = 3

// insist puts a question until take accepts what was typed, and reports
// whether it did. After the first time it is put in the words of again. What
// take does not accept it may name a problem with; three of these, or the end
// of the input, mean what otherwise says. Ctrl-C is an error.
func (c *Console) insist(ctx context.Context, question, again, otherwise string, take func(string) (ok bool, problem string)) (bool, error) {
	ok, err := c.repeat(ctx, question, again, otherwise, take)
	if err != nil {
		return false, c.unanswered(err, otherwise)
	}
	return ok, nil
}

// repeat is insist, but the end of the input is an error, too.
func (c *Console) repeat(ctx context.Context, question, again, otherwise string, take func(string) (ok bool, problem string)) (bool, error) {
	for invalid := 0; ; question = again {
		s, err := c.ask(ctx, question)
		if err != nil {
			return false, err
		}
		ok, problem := take(s)
		if ok {
			return true, nil
		}
		if problem == "" {
			continue
		}
		if invalid++; invalid == invalidAnswers {
			c.Out.Line(output.Warning, "%d answers in a row were none of the choices, which means %s", invalidAnswers, otherwise)
			return false, nil
		}
		c.Out.Line(output.Info, "%s", problem)
	}
}

// unanswered tells what the end of the input means, or returns the error that
// ends the turn.
func (c *Console) unanswered(err error, otherwise string) error {
	switch {
	case err == io.EOF && c.Gone != nil && c.Gone(): // nobody has said no
		return fmt.Errorf("%w: the terminal is gone", context.Canceled)
	case err == io.EOF:
		c.Out.Line(output.Info, "the input has ended, which means %s", otherwise)
		return nil
	case errors.Is(err, line.ErrInterrupt), errors.Is(err, line.ErrCleared):
		return fmt.Errorf("%w: %w", context.Canceled, errInterrupt)
	}
	return err
}

// number shows options, one line each, numbered from 1.
func (c *Console) number(options []string) {
	for i, o := range options {
		c.Out.Styled(output.Normal, fmt.Sprintf("%s%d %s", indent, i+1, c.disarm(unbroken(o))))
	}
}

// span names the numbers of n choices.
func span(n int) string {
	if n == 1 {
		return "1"
	}
	return fmt.Sprintf("1 to %d", n)
}

// unbroken returns s on one line.
func unbroken(s string) string { return strings.Join(strings.Fields(s), " ") }

// pick returns which of options s means: by its number, its words, or their
// beginning if no other option begins so. Or it says why there is none. A
// number with a dot or a parenthesis is a number, even where it is also the
// words of an option.
func pick(s string, options []string) (at int, problem string) {
	s = unbroken(s)
	is := func(o string) bool { return strings.EqualFold(unbroken(o), s) }
	begins := func(o string) bool {
		return s != "" && strings.HasPrefix(strings.ToLower(unbroken(o)), strings.ToLower(s))
	}
	number, marked := numeral(s)
	inRange := number >= 1 && number <= len(options)
	whole := slices.IndexFunc(options, is)
	switch {
	case inRange && (marked || whole < 0 || whole == number-1):
		return number - 1, ""
	case inRange:
		return -1, fmt.Sprintf("%s is the number of one choice and the words of another; %s) is the number", s, s)
	case whole >= 0:
		return whole, ""
	}
	first := slices.IndexFunc(options, begins)
	switch {
	case first < 0 && number > 0:
		return -1, fmt.Sprintf("there is no choice %d", number)
	case first < 0:
		return -1, fmt.Sprintf("%.100q is none of the choices", s)
	case slices.ContainsFunc(options[first+1:], begins):
		return -1, fmt.Sprintf("several choices begin with %.100q", s)
	}
	return first, ""
}

// numeral returns the number that s is, 0 if it is none, and whether a dot or
// a parenthesis says that it is meant as one.
func numeral(s string) (n int, marked bool) {
	digits := strings.TrimRight(s, ".)")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || digits[0] == '+' {
		return 0, false
	}
	return n, digits != s
}

// other is the last choice of every question.
const other = "other, in your own words"

// A selection is an answer to a question with options.
type selection struct {
	at    []int  // of the options
	own   bool   // something else is meant, too
	words string // what, if it was said at once
}

// selected reads an answer to a question with options, of which it may name
// several if multi says so: by numbers and beginnings of labels with commas
// between, or by numbers alone. One more number, which words may follow,
// stands for an answer of the user's own.
func selected(s string, options []engine.Option, multi bool) (sel selection, problem string) {
	labels := make([]string, 0, len(options)+1)
	for _, o := range options {
		labels = append(labels, o.Label)
	}
	labels = append(labels, other)
	const most = 100 // parts; nobody means more
	for n, rest, more := 0, s, true; more; n++ {
		if n == most {
			return selection{}, fmt.Sprintf("%.100q is none of the choices", s)
		}
		if words, ok := ownWords(rest, len(labels)); ok && !(multi && numerals(words)) {
			sel.own, sel.words = true, words
			break
		}
		part := rest
		if multi {
			part, rest, more = cutPart(rest)
		} else {
			more = false
		}
		if strings.TrimSpace(part) == "" {
			continue
		}
		at, problem := pick(part, labels)
		switch {
		case problem != "":
			return selection{}, problem
		case at == len(options):
			sel.own = true
		default:
			sel.at = append(sel.at, at)
		}
	}
	slices.Sort(sel.at)
	sel.at = slices.Compact(sel.at)
	return sel, ""
}

// cutPart cuts s behind its first number, if it begins with one that a blank
// ends, and else at its first comma.
func cutPart(s string) (part, rest string, more bool) {
	s = strings.TrimLeft(s, " \t,")
	if i := strings.IndexAny(s, " \t,"); i > 0 && s[i] != ',' {
		if n, _ := numeral(s[:i]); n > 0 {
			return s[:i], s[i+1:], true
		}
	}
	return strings.Cut(s, ",")
}

// numerals reports whether s is a list of numbers, of a length that somebody
// may type.
func numerals(s string) bool {
	if len(s) > 1000 {
		return false
	}
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(" \t,", r) }) {
		if n, _ := numeral(part); n == 0 {
			return false
		}
	}
	return true
}

// ownWords returns the words that follow the number n at the beginning of s.
func ownWords(s string, n int) (words string, ok bool) {
	after, ok := strings.CutPrefix(strings.TrimLeft(s, " \t,"), strconv.Itoa(n))
	if !ok || after == "" || !strings.ContainsRune(" \t:,.)", rune(after[0])) {
		return "", false
	}
	words = strings.TrimLeft(after, " \t:,.)")
	return strings.TrimSpace(words), words != ""
}

// answer puts the questions of a call to the user, one after the other.
func (a *Asker) answer(ctx context.Context, qs []engine.Question) (engine.Answer, error) {
	replies := make([]string, len(qs))
	for i, q := range qs {
		a.pose(q, i, len(qs))
		if i == 0 {
			a.attention("question", unbroken(q.Text))
		}
		reply, ok, err := a.reply(ctx, q, func() { a.guide(q); a.pose(q, i, len(qs)) })
		if !ok || err != nil {
			return engine.Refused{}, err
		}
		replies[i] = reply
	}
	return engine.Replied{Replies: replies}, nil
}

// pose shows a question, all of it.
func (a *Asker) pose(q engine.Question, i, n int) {
	head := "question"
	if n > 1 {
		head = fmt.Sprintf("question %d of %d", i+1, n)
	}
	if h := unbroken(q.Header); h != "" {
		head += ", " + h
	}
	a.Out.Line(output.Gemini, "%s: %s", head, q.Text)
	switch {
	case q.Hint != "" && q.Kind == engine.FreeText:
		a.Out.Styled(output.Normal, indent+"such as: "+unbroken(q.Hint))
	case q.Kind == engine.Choice:
		several := ""
		if q.Multi {
			several = ", of which several may be chosen"
		}
		a.Out.Line(output.Info, "%s%s", tally.Count(len(q.Options)+1, "choice"), several)
		var lines []string
		for _, o := range q.Options {
			lines = append(lines, strings.TrimSuffix(o.Label+": "+o.Description, ": "))
		}
		a.number(append(lines, other))
	}
}

// guide says how q can be answered.
func (a *Asker) guide(q engine.Question) {
	switch own := len(q.Options) + 1; {
	case q.Kind == engine.FreeText:
		a.Out.Line(output.Info, "what you type is the answer; a backslash at the end of a line goes on with another line")
	case q.Kind == engine.YesNo:
		a.Out.Line(output.Info, "y or yes, n or no")
	case q.Multi:
		a.Out.Line(output.Info, "the numbers of choices, or how they begin, with commas between; %d and words answers in your own", own)
	default:
		a.Out.Line(output.Info, "the number of a choice, or how it begins; %d and words answers in your own", own)
	}
	a.Out.Line(output.Info, "Enter alone leaves this question open, Ctrl-D leaves all of them open, Ctrl-C stops the turn")
}

// noAnswer is what it means to say nothing that can be understood.
const noAnswer = "no answer"

// reply returns the answer to one question, empty if it is left open, and
// whether the user goes on at all.
func (a *Asker) reply(ctx context.Context, q engine.Question, explain func()) (reply string, ok bool, err error) {
	var sel selection
	ok, err = a.insist(ctx, prompt(q), prompt(q), noAnswer, func(s string) (ok bool, problem string) {
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
			sel, problem = selected(s, q.Options, q.Multi)
		}
		return problem == "", problem
	})
	if !ok || err != nil {
		return "", false, err
	}
	if q.Kind == engine.FreeText {
		return a.continued(ctx, reply)
	}
	if q.Kind != engine.Choice {
		return reply, true, nil
	}
	return a.chosen(ctx, q, sel)
}

// prompt is what a question ends with. It does not begin like an approval.
func prompt(q engine.Question) string {
	how := "in words"
	switch {
	case q.Kind == engine.YesNo:
		how = "y or n"
	case q.Kind == engine.Choice:
		how = span(len(q.Options) + 1)
		if q.Multi {
			how += ", several as 1,2"
		}
	}
	return "answer " + how + ", Enter for none, ? explain: "
}

// chosen returns the reply that sel stands for. Words of the user's own that
// were not said at once are asked for.
func (a *Asker) chosen(ctx context.Context, q engine.Question, sel selection) (reply string, ok bool, err error) {
	if sel.own && sel.words == "" {
		const question = "in your own words, Enter for none: "
		ok, err := a.insist(ctx, question, question, noAnswer, func(s string) (bool, string) {
			sel.words = strings.TrimSpace(s)
			return true, ""
		})
		if !ok || err != nil {
			return "", false, err
		}
	}
	if sel.words, ok, err = a.continued(ctx, sel.words); !ok || err != nil {
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

// continued returns s with the lines that follow it, if it ends with a
// backslash.
func (c *Console) continued(ctx context.Context, s string) (_ string, ok bool, err error) {
	if (len(s)-len(strings.TrimRight(s, `\`)))%2 == 0 {
		return s, true, nil
	}
	more, err := c.read(ctx, line.More)
	if err != nil {
		return "", false, c.unanswered(err, noAnswer)
	}
	return s[:len(s)-1] + "\n" + more, true, nil
}
