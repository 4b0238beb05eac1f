package question

import (
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/output"
)

// A Choice is one that is offered as a whole, in words that are fit to be shown.
type Choice struct {
	Label  string
	Answer engine.Answer // nil refuses
}

// Choices returns what is offered where nothing is typed. What is allowed for longer holds in
// the conversation.
func Choices(p engine.Proposal) []Choice {
	list := []Choice{{"allow", engine.Allowed{}}, {"deny", nil}}
	if a, ok := WithNetwork(p); ok {
		list = append(list, Choice{"allow with the network", a})
	}
	if a, ok := ReadOnly(p); ok {
		list = append(list, Choice{"allow, held to looking", a})
	}
	for _, g := range Grants(p) {
		if a, problem := Always(g, engine.Session); problem == "" {
			list = append(list, Choice{grantLabel(g), a})
		}
	}
	return list
}

// grantLabel says what is allowed for the conversation.
func grantLabel(g engine.Grant) string {
	label := output.EscapeLine(text.OneLine(g.Label, 300))
	if strings.HasPrefix(label, "always") && !strings.Contains(label, "session") {
		label += " in this session"
	}
	return label
}

// About says in lines that are fit to be shown what is asked: the title, the detail and what
// there is to know.
func About(p engine.Proposal) string {
	const longest = 30_000 // characters
	lines := []string{Title(p) + Rights(p)}
	if d := strings.TrimSpace(p.Intent.Detail); d != "" && d != Title(p) {
		lines = append(lines, d)
	}
	return text.Shorten(output.Escape(strings.Join(append(lines, FactLines(p)...), "\n")), longest)
}

// FactLines says in a line each what there is to know, beside the title and the detail.
func FactLines(p engine.Proposal) (lines []string) {
	for _, f := range Facts(p, true) {
		lines = append(lines, string(f.Label)+": "+output.EscapeLine(f.Text))
	}
	return lines
}
