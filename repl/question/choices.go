package question

import (
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/output"
)

// A LabelledAnswer is a complete answer with a label for display.
type LabelledAnswer struct {
	Label  string
	Answer engine.Answer // nil refuses
}

// LabelledAnswers returns the answers for a front end where the user types nothing. Longer grants
// last for the conversation.
func LabelledAnswers(p engine.Proposal) []LabelledAnswer {
	list := []LabelledAnswer{{"allow", engine.Allowed{}}, {"deny", nil}}
	if a, ok := WithNetwork(p); ok {
		list = append(list, LabelledAnswer{"allow with the network", a})
	}
	if a, ok := ReadOnly(p); ok {
		list = append(list, LabelledAnswer{"allow, confined to reading", a})
	}
	for _, g := range Grants(p) {
		if a, problem := Always(g, engine.Session); problem == "" {
			list = append(list, LabelledAnswer{grantLabel(g), a})
		}
	}
	return list
}

// grantLabel describes a grant for the conversation.
func grantLabel(g engine.Grant) string {
	label := output.EscapeLine(text.OneLine(g.Label, 300))
	if strings.HasPrefix(label, "always") && !strings.Contains(label, "session") {
		label += " in this session"
	}
	return label
}

// Describe describes a proposal in lines for display: the title, the detail and the facts.
func Describe(p engine.Proposal) string {
	const longest = 30_000 // characters
	lines := []string{Title(p) + Rights(p)}
	if d := strings.TrimSpace(p.Intent.Detail); d != "" && d != Title(p) {
		lines = append(lines, d)
	}
	return text.Shorten(output.Escape(strings.Join(append(lines, FactLines(p)...), "\n")), longest)
}

// FactLines returns the facts beside the title and the detail, a line each.
func FactLines(p engine.Proposal) (lines []string) {
	for _, f := range Facts(p, true) {
		lines = append(lines, string(f.Label)+": "+output.EscapeLine(f.Text))
	}
	return lines
}

// A MenuItem is an entry of a numbered list that the user chooses from.
type MenuItem struct {
	Number int      // the number to type; 0 for its place in the list, from 1
	Name   string   // may be typed instead, like the beginning of Text
	Text   string   // printed behind the number
	Below  []string // more lines
	Now    bool     // the current choice
}
