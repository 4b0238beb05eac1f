package repl

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/repl/question"
)

// A Menu is a numbered list of choices. All menus have the same form.
type Menu struct {
	Ask     string // "" if the question is already printed
	Choices []question.MenuItem
	Several bool   // the user may choose several
	Enter   string // the meaning of Enter alone, such as "none"
	Help    func() // explains the choices for ?; may be nil
}

// number returns the number of the i-th choice.
func (m Menu) number(i int) int { return cmp.Or(m.Choices[i].Number, i+1) }

// prompt returns the last line of the menu, where the user types.
func (m Menu) prompt() string {
	var numbers []string
	all := span(len(m.Choices))
	for i := range m.Choices {
		if numbers = append(numbers, strconv.Itoa(m.number(i))); m.number(i) != i+1 {
			all = ""
		}
	}
	all = cmp.Or(all, strings.Join(numbers, ", "))
	if m.Ask != "" {
		all = m.Ask + " " + all
	} else {
		all = "answer " + all
	}
	if m.Several {
		all += ", several as 1,2"
	}
	return m.end(all)
}

// end returns the end of a question: how to answer, and the meaning of ? and Enter.
func (m Menu) end(how string) string {
	if m.Help != nil {
		how += ", ? explain"
	}
	return how + ", Enter for " + m.Enter + ": "
}

// list shows the choices of a menu.
func (m Menu) list(out *output.Writer) {
	for i, o := range m.Choices {
		now := ""
		if o.Now {
			now = ", now"
		}
		out.Item(output.Normal, fmt.Sprintf("%s%d %s%s", indent, m.number(i), disarm(out, text.Words(o.Text)), now))
		for _, l := range o.Below {
			out.Item(output.Normal, indent+indent+disarm(out, text.Words(l)))
		}
	}
}

// find returns the index of the choice that s selects, or the problem of s.
func (m Menu) find(s string) (at int, problem string) {
	s = text.Words(s)
	texts := make([]string, len(m.Choices))
	n, _ := numeral(s)
	for i, o := range m.Choices {
		if texts[i] = o.Text; n > 0 && n == m.number(i) || o.Name != "" && strings.EqualFold(o.Name, s) {
			return i, ""
		}
	}
	if n > 0 {
		return -1, fmt.Sprintf("there is no choice %d", n)
	}
	return pick(s, texts)
}

// Choose shows a menu and returns the index of the user's choice, or -1 for none. Ctrl-C is an
// error.
func (c *Console) Choose(ctx context.Context, m Menu) (at int, err error) {
	at, err = c.menu(ctx, m, nil)
	if err != nil {
		err = c.unanswered(err, m.Enter)
	}
	return at, err
}

// menu is Choose, but the end of the input is also an error. Words maps other allowed words to a
// number, or to "" for Enter.
func (c *Console) menu(ctx context.Context, m Menu, words map[string]string) (at int, err error) {
	m.list(c.Out)
	ask := m.prompt()
	at = -1
	_, err = c.repeat(ctx, ask, ask, m.Enter, func(s string) (bool, string) {
		s = strings.ToLower(strings.TrimSpace(s))
		if meant, ok := words[s]; ok {
			s = meant
		}
		switch {
		case s == "":
			return true, ""
		case s == "?" && m.Help != nil:
			m.Help()
			return false, ""
		}
		i, problem := m.find(s)
		if problem != "" && m.Help != nil {
			problem += "; ? explains them"
		}
		if problem == "" {
			at = i
		}
		return problem == "", problem
	})
	return at, err
}
