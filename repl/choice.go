package repl

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/repl/question"
)

// mostColumns is the width of a line of choices that still fits on a usual terminal with an answer
// behind it.
const mostColumns = 78

// choices returns the line with the choices, and a shorter line for a repeated question.
// Explanations that don't fit appear only for ?; the longest go first.
func (a *Asker) choices(in engine.Intent, edits bool) (first, again string) {
	if a.Console.Spoken {
		return a.spokenChoices(in)
	}
	keys := []string{"y", "n"}
	var meanings []string
	if in.Plan.NetworkArgs != nil {
		keys = append(keys, "w")
		if len(in.Plan.NetworkPrograms) > 0 {
			meanings = append(meanings, "w = with the network")
		}
	}
	if in.Plan.ReadOnlyArgs != nil {
		keys = append(keys, "r")
	}
	for i, g := range in.Grants {
		key := keyOf(in.Grants, i)
		keys = append(keys, key)
		meanings = append(meanings, key+" = "+titleText(a.Console.Out, g.Label))
	}
	if edits {
		keys = append(keys, "e")
	}
	again = strings.Join(append(keys, "?"), " ")
	room := mostColumns
	if narrow := a.Console.Out.Room(); narrow > 0 {
		room = min(room, narrow)
	}
	for len(meanings) > 0 {
		first = again + " (" + strings.Join(meanings, ", ") + "): "
		if a.Console.Out.Width(first) <= room {
			return first, again + ": "
		}
		longest := slices.MaxFunc(meanings, func(a, b string) int { return len(a) - len(b) })
		meanings = slices.DeleteFunc(meanings, func(m string) bool { return m == longest })
	}
	return again + ": ", again + ": "
}

// spokenChoices is choices for users who listen: rare choices appear only for ?.
func (a *Asker) spokenChoices(in engine.Intent) (first, again string) {
	first, again = "y, n", "y, n"
	if in.Plan.NetworkArgs != nil && len(in.Plan.NetworkPrograms) > 0 {
		first, again = first+", w = with the network", again+", w"
	}
	const more = ", ? = more: "
	if len(in.Grants) > 0 {
		means := ", a = " + titleText(a.Console.Out, in.Grants[0].Label)
		if a.Console.Out.Width(first+means+more) > mostColumns {
			means = ", a = always"
		}
		first, again = first+means, again+", a"
	}
	return first + more, again + ", ?: "
}

// keyOf returns the key of the i-th grant: a for the narrowest, b for all calls of a kind, c for
// all commands with the same beginning.
func keyOf(grants []engine.Grant, i int) string {
	switch g := grants[i]; {
	case i == 0:
		return "a"
	case i == 1 && g.Target == "" && g.Rule == "":
		return "b"
	case i == 1 && g.Target == "":
		return "c"
	}
	return "a" + strconv.Itoa(i+1)
}

// A parsedAnswer is a parsed answer to a question about a call.
type parsedAnswer struct {
	key   byte // one of y n w r a e ?, a for every grant
	grant int  // for a
	scope engine.Scope
	note  string
}

// parseAnswer reads an answer to a question that offers grants. Only a refusal
// may be followed by words.
func parseAnswer(s string, grants []engine.Grant) (parsedAnswer, bool) {
	s = strings.TrimSpace(s)
	switch word := strings.ToLower(s); word {
	case "":
		return parsedAnswer{key: 'n'}, true
	case "y", "yes":
		return parsedAnswer{key: 'y'}, true
	case "w", "with", "network", "with network", "with the network":
		return parsedAnswer{key: 'w'}, true
	case "r", "read-only", "read only":
		return parsedAnswer{key: 'r'}, true
	case "e", "edit":
		return parsedAnswer{key: 'e'}, true
	case "?", "explain":
		return parsedAnswer{key: '?'}, true
	default:
		if c, ok := parseAlways(word, grants); ok {
			return c, true
		}
	}
	i := strings.IndexFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == ':' || r == '.' || r == '\n' })
	first, rest := s, ""
	if i >= 0 {
		first, rest = s[:i], strings.Trim(s[i:], " ,:\n")
	}
	if first = strings.ToLower(first); first != "n" && first != "no" {
		return parsedAnswer{}, false
	}
	if after, ok := strings.CutPrefix(strings.ToLower(rest), "because "); ok {
		rest = rest[len(rest)-len(after):]
	}
	return parsedAnswer{key: 'n', note: strings.TrimSpace(rest)}, true
}

// parseAlways reads the key of a grant, or a and its number, and the scope behind it.
func parseAlways(word string, grants []engine.Grant) (parsedAnswer, bool) {
	c := parsedAnswer{key: 'a', scope: engine.Session}
	which, how, _ := strings.Cut(word, " ")
	if how = strings.TrimSpace(how); how != "" {
		scope, ok := question.ParseScope(how)
		if !ok {
			return c, false
		}
		c.scope = scope
	}
	if which == "a" || which == "always" {
		return c, true
	}
	for i := range grants {
		if keyOf(grants, i) == which {
			c.grant = i
			return c, true
		}
	}
	n, err := strconv.Atoi(strings.TrimPrefix(which, "a"))
	c.grant = n - 1
	return c, err == nil && strings.HasPrefix(which, "a") && n > 0
}

// explain explains the question and its choices.
func (a *Asker) explain(p engine.Proposal, edits bool) {
	in := p.Intent
	if p.ID != p.Tool.Name() { // otherwise there is no call
		a.explainCall(p)
	}
	if c, ok := question.ChangeOf(p); ok && a.Console.Spoken {
		a.change(output.Info, "the change, with the lines around it:", c.Spoken())
	}
	a.Console.Out.Line(output.Info, "y or yes = %s", output.EscapeLine(cmp.Or(in.Yes, "allow it this once")))
	a.Console.Out.Line(output.Info, "n, no, Enter or Ctrl-D = %s",
		output.EscapeLine(cmp.Or(in.No, "refuse it; the model reads the words behind n")))
	if in.Plan.NetworkArgs != nil {
		if len(in.Plan.NetworkPrograms) > 0 {
			a.Console.Out.Line(output.Info, "%s", titleText(a.Console.Out, strings.Join(in.Plan.NetworkPrograms, ", ")+" probably needs the network"))
		}
		a.Console.Out.Line(output.Info, "w or with network = allow it this once, with the network")
	}
	if in.Plan.ReadOnlyArgs != nil {
		a.Console.Out.Line(output.Info, "r or read-only = run it this once where it can write nothing, and has no network and no secrets")
	}
	for i, g := range in.Grants {
		means := output.EscapeLine(strings.TrimSuffix(g.Label, " this session")) + ", until the session ends"
		if in.Yes != "" { // the proposal has its own words for yes
			means = output.EscapeLine(g.Label)
		}
		a.Console.Out.Line(output.Info, "%s = %s", keyOf(in.Grants, i), means)
		a.keeping(keyOf(in.Grants, i), g)
	}
	if edits {
		a.Console.Out.Line(output.Info, "e or edit = change it in your editor, and decide about that")
	}
}

// explainCall prints the tool, its arguments and their effects.
func (a *Asker) explainCall(p engine.Proposal) {
	by := ""
	if p.Agent != "" {
		by = " by the agent " + output.EscapeLine(p.Agent)
		a.Console.Out.Line(output.Info, "a longer permission holds for all agents and the model itself")
	}
	a.Console.Out.Line(output.Info, "the tool %s is called%s with these arguments:", output.EscapeLine(p.Tool.Name()), by)
	args, _ := text.JSON(p.Args, "  ") // they came as JSON
	a.Console.Out.Text(output.Sanitize(string(args) + "\n"))
	in := p.Intent
	for _, c := range in.Plan.Commands {
		by := cmp.Or(c.Wrapper, "the shell")
		a.Console.Out.Line(output.Info, "%s runs: %s", output.EscapeLine(by), output.Unbroken(titleText(a.Console.Out, c.Line())))
	}
	if p.Tool.Kind == engine.Execute {
		if in.Plan.Dir != "" {
			a.Console.Out.Line(output.Info, "%s", titleText(a.Console.Out, "the command runs in "+in.Plan.Dir))
		}
		a.Console.Out.Line(output.Info, "%s", titleText(a.Console.Out, question.Confinement(in)))
	}
	if len(in.Paths) > 0 {
		does := "changes"
		if p.Tool.Kind.ReadOnly() {
			does = "reads"
		}
		a.Console.Out.Line(output.Info, "it %s: %s", does, output.EscapeLine(strings.Join(in.Paths, ", ")))
	}
}

// keeping says how a grant can be stored, and as which rule.
func (a *Asker) keeping(key string, g engine.Grant) {
	if g.Rule == "" || g.SessionOnly {
		return
	}
	how := key + " project = the same, kept for this project, " + key + " user for all of them"
	if g.ProjectOnly {
		how = key + " project = the same, kept for this project"
	}
	a.Console.Out.Line(output.Info, "%s, as this rule:", how)
	a.Console.Out.Text(output.Sanitize(g.Rule))
}
