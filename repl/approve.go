package repl

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gemline/engine"
	"gemline/repl/output"
)

// An Asker puts the engine's questions to the user. It may be called on the
// goroutine of a turn or on the terminal's own.
type Asker struct {
	*Console

	// Edit lets the user change text in an editor, in a file of that name.
	// Nil offers no such choice.
	Edit func(ctx context.Context, name, text string) (string, error)

	desk desk // of the turn that runs, nil between turns
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
	ok, err := a.insist(ctx, a.choices(p.Intent, edits), "no", func(s string) (bool, string) {
		c, ok := parseChoice(s)
		switch {
		case !ok, c.key == 'e' && !edits, c.key == 'w' && p.Intent.Online == nil, c.key == 'a' && c.grant >= len(p.Intent.Grants):
			return false, fmt.Sprintf("%.100q is none of the choices", s)
		case c.key == 'a' && !slices.Contains(scopesOf(p.Intent.Grants[c.grant]), c.scope):
			return false, unkept(p.Intent.Grants[c.grant])
		case c.key == 'y':
			answer = engine.Answer{Allow: true}
		case c.key == 'w':
			answer = engine.Answer{Allow: true, Args: p.Intent.Online}
		case c.key == 'a':
			answer = engine.Answer{Allow: true, Scope: c.scope, Grant: p.Intent.Grants[c.grant]}
		case c.key == 'n':
			answer = engine.Answer{Note: c.note}
		case c.key == '?':
			a.explain(p, edits)
			return false, ""
		default:
			answer = engine.Answer{Args: a.edit(ctx, p.Intent.Draft)}
			return answer.Args != nil, ""
		}
		return true, ""
	})
	if !ok || err != nil {
		return engine.Answer{}, err
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
	whole := detail != "" && (strings.Contains(detail, "\n") || !strings.HasSuffix(title, detail) || a.entitled(title) != title)
	if whole {
		n := strings.Count(detail, "\n") + 1
		lines := "1 line"
		if n > 1 {
			lines = fmt.Sprintf("%d lines", n)
		}
		a.Out.Line(output.Tool, "%s, to be decided on, %s:", output.EscapeLine(p.Tool.Name()), lines)
		for l := range strings.SplitSeq(honest(detail), "\n") {
			a.Out.Styled(styleOf(l), a.inert(l))
		}
	}
	if hides(in.Title) || hides(in.Detail) {
		a.Out.Line(output.Warning, "it contains control or invisible characters, shown as escapes")
	}
	if word := mixed(in.Title + "\n" + in.Detail); word != "" {
		a.Out.Line(output.Warning, "letters of several alphabets in one word: %s (%s)", output.EscapeLine(word), points(word))
	}
	for _, name := range programs(in) {
		if odd := points(name); odd != "" && !hides(name) {
			a.Out.Line(output.Warning, "%s", a.entitled("a program whose name is not in plain letters: "+beginning(name, longestName)+" ("+odd+")"))
		}
	}
	a.tell(in)
	a.limits(p)
	if title = a.entitled(title); whole {
		title = beginning(title, longestTitle)
	}
	a.Out.Line(output.Permission, "%s%s", title, a.entitled(beyond(in)))
}

// So many characters name a call that is shown in full above, and a program.
const (
	longestTitle = 90
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
	if in.Rights.None() {
		return ""
	}
	return ", with " + in.Rights.String()
}

// limits says where a call runs programs, and what holds them.
func (a *Asker) limits(p engine.Proposal) {
	in := p.Intent
	if p.Tool.Kind != engine.Execute {
		return
	}
	if len(in.Grants) > 0 && len(lasting(p)) == 0 {
		a.Out.Line(output.Warning, "%s", a.entitled("it is allowed once at most: "+unwieldy(in.Detail)))
	}
	held := "not confined"
	if in.Held != "" {
		held = "confined: " + in.Held
	}
	if in.Dir != "" {
		held = "it runs in " + in.Dir + ", " + held
	}
	a.Out.Line(output.Info, "%s", a.entitled(held))
	if in.Online != nil {
		a.list("it will want the network", in.Dials)
	}
	if in.Failed != "" {
		a.Out.Line(output.Info, "%s", a.entitled("it has run and failed, it seems for want of "+in.Failed+"; this is to run it once more"))
		a.list("it says that it could not write", in.Refused)
	}
}

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
		return "it holds what can't be seen"
	case honest(command) != command:
		return "it holds what looks like nothing, or like something else"
	case lines > glanceLines:
		return fmt.Sprintf("it has %d lines", lines)
	case chars > glanceChars:
		return fmt.Sprintf("it has %d characters", chars)
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

// tell says what a call would run beyond what its title says.
func (a *Asker) tell(in engine.Intent) {
	names, sets := programs(in), settings(in)
	if len(in.Commands) > 1 || len(sets) > 0 {
		a.list("it runs", names)
	}
	a.list("it sets", sets)
	a.list("it writes", in.Writes)
	if in.Class == engine.Opaque && in.Why != "" {
		a.Out.Line(output.Warning, "it may run more than can be told: %s", a.entitled(in.Why))
	}
}

// list prints what a call does, on a line.
func (a *Asker) list(what string, all []string) {
	if len(all) > 0 {
		a.Out.Line(output.Info, "%s: %s", what, a.entitled(strings.Join(all, ", ")))
	}
}

// choices returns the line that offers the choices.
func (c *Console) choices(in engine.Intent, edits bool) string {
	var b strings.Builder
	b.WriteString(output.Choices + ", ")
	if in.Online != nil {
		b.WriteString("w yes with the network, ")
	}
	for i, g := range in.Grants {
		key := "a"
		if i > 0 {
			key += strconv.Itoa(i + 1)
		}
		fmt.Fprintf(&b, "%s always %s, ", key, c.entitled(g.Label))
	}
	if edits {
		b.WriteString("e edit, ")
	}
	b.WriteString("? explain: ")
	return b.String()
}

// A choice is what an answer means.
type choice struct {
	key   byte // one of y n w a e ?
	grant int  // for a
	scope engine.Scope
	note  string
}

// scopes are the words behind a that say how long it holds.
var scopes = map[string]engine.Scope{"session": engine.Session, "project": engine.InProject, "user": engine.Everywhere}

// scopesOf returns how long an "always" to g may hold.
func scopesOf(g engine.Grant) []engine.Scope {
	switch {
	case g.Rule == "" || g.Brief:
		return []engine.Scope{engine.Session}
	case g.Near:
		return []engine.Scope{engine.Session, engine.InProject}
	}
	return []engine.Scope{engine.Session, engine.InProject, engine.Everywhere}
}

// unkept says why g can't hold for as long as was said.
func unkept(g engine.Grant) string {
	if g.Rule == "" || g.Brief {
		return "this can't be kept; without a word behind it, always holds until the session ends"
	}
	return "this says nothing outside of the project; a project keeps it"
}

// parseChoice reads an answer. Only a refusal may be followed by words.
func parseChoice(s string) (choice, bool) {
	s = strings.TrimSpace(s)
	switch word := strings.ToLower(s); word {
	case "":
		return choice{key: 'n'}, true
	case "y", "yes":
		return choice{key: 'y'}, true
	case "w", "with", "network", "with network", "with the network":
		return choice{key: 'w'}, true
	case "e", "edit":
		return choice{key: 'e'}, true
	case "?", "explain":
		return choice{key: '?'}, true
	default:
		if c, ok := parseAlways(word); ok {
			return c, true
		}
	}
	i := strings.IndexFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == ':' || r == '.' || r == '\n' })
	first, rest := s, ""
	if i >= 0 {
		first, rest = s[:i], strings.Trim(s[i:], " ,:\n")
	}
	if first = strings.ToLower(first); first != "n" && first != "no" {
		return choice{}, false
	}
	if after, ok := strings.CutPrefix(strings.ToLower(rest), "because "); ok {
		rest = rest[len(rest)-len(after):]
	}
	return choice{key: 'n', note: strings.TrimSpace(rest)}, true
}

// parseAlways reads a, or a and the number of a grant, and what follows it:
// how long that holds.
func parseAlways(word string) (choice, bool) {
	c := choice{key: 'a', scope: engine.Session}
	which, how, _ := strings.Cut(word, " ")
	if how = strings.TrimSpace(how); how != "" {
		scope, ok := scopes[how]
		if !ok {
			return c, false
		}
		c.scope = scope
	}
	if which == "a" || which == "always" {
		return c, true
	}
	n, err := strconv.Atoi(strings.TrimPrefix(which, "a"))
	c.grant = n - 1
	return c, err == nil && strings.HasPrefix(which, "a") && n > 0
}

// explain says what the question is about and what each answer means.
func (a *Asker) explain(p engine.Proposal, edits bool) {
	a.Out.Line(output.Info, "the model asks for the tool %s with these arguments:", output.EscapeLine(p.Tool.Name()))
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p.Args); err != nil {
		fmt.Fprintf(&b, "%v", p.Args)
	}
	a.Out.Text(honest(b.String()))
	for _, c := range p.Intent.Commands {
		by := "it"
		if c.Inside != "" {
			by = c.Inside
		}
		a.Out.Line(output.Info, "%s runs: %s", output.EscapeLine(by), a.entitled(c.Line()))
	}
	if paths := p.Intent.Paths; len(paths) > 0 {
		a.Out.Line(output.Info, "it touches: %s", output.EscapeLine(strings.Join(paths, ", ")))
	}
	a.Out.Line(output.Info, "yes allows it this once; no refuses it, as Enter alone and Ctrl-D do, and words behind no are told to the model")
	if p.Intent.Online != nil {
		a.Out.Line(output.Info, "with the network allows it this once, and lets it reach the network, which else it can't")
	}
	for i, g := range p.Intent.Grants {
		a.Out.Line(output.Info, "always allows %s until the session ends", output.EscapeLine(g.Label))
		a.keeping(i, g)
	}
	if edits {
		a.Out.Line(output.Info, "edit opens it in your editor, and what you leave there is asked about again")
	}
}

// keeping says how the i-th grant can be kept, and as which rule.
func (a *Asker) keeping(i int, g engine.Grant) {
	if g.Rule == "" || g.Brief {
		return
	}
	key := "a"
	if i > 0 {
		key += strconv.Itoa(i + 1)
	}
	how := fmt.Sprintf("%s project and %s user keep it", key, key)
	if g.Near {
		how = key + " project keeps it"
	}
	a.Out.Line(output.Info, "%s as this rule:", how)
	a.Out.Text(honest(g.Rule))
}

// programs returns the names of the programs that a call would run, each once.
// A name that is not known is as it is written.
func programs(in engine.Intent) []string {
	var names []string
	for _, c := range in.Commands {
		if name, _ := c.Program(); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// settings returns what a call would set in the environment, as NAME=value.
func settings(in engine.Intent) []string {
	var all []string
	for _, c := range in.Commands {
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
	a.Lines.Lend(func() { text, err = a.Edit(ctx, d.Name, d.Text) })
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
