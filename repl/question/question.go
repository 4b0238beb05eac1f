// Package question describes proposals and their possible answers, for every front end: a terminal,
// a client program, an editor.
//
// # The user sees everything before the answer
//
// A proposal has a title, its detail and [Facts]. A Fact also warns of
// misleading characters in them. The texts are plain and not escaped yet: each
// front end escapes them for its own output.
//
// # Only offered answers count
//
// An answer beyond the offered ones does not count: [Always] and [WithNetwork] return nothing for
// it. A command that is too long for a glance, or looks like another, can
// be allowed only once.
package question

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/secret"
	"gemline/repl/output"
)

// Title names the call of p in a line, with the agent that makes the call.
func Title(p engine.Proposal) string {
	title := cmp.Or(p.Intent.Title, p.Tool.Name())
	if p.Agent != "" {
		title = p.Agent + ": " + title
	}
	return title
}

// ConfirmTitle returns a question that refers to the command printed right above as "it": whether
// the command runs, or its rights for another run. It returns false for every other call. Home is
// the user's directory.
func ConfirmTitle(p engine.Proposal, home string) (title string, ok bool) {
	how, _, found := strings.Cut(p.Intent.Title, ": ")
	if !found || p.Tool.Kind != engine.Execute || !strings.HasPrefix(how, "run") || strings.Count(how, "'")%2 != 0 {
		return "", false
	}
	title = strings.Replace(how, "run", "run it", 1)
	switch plan := p.Intent.Plan; {
	case plan.Failure.Reason != "" && plan.Rights.Empty():
		return "", false
	case plan.Failure.ReadOnly || ReadsSecret(p):
		title = "let it " + does(plan.Rights, home)
	case plan.Failure.Reason != "":
		title = "it failed; let it " + does(plan.Rights, home)
	}
	p.Intent.Title = title
	return Title(p), true
}

// ReadsSecret reports whether the only missing right of a command is to read a possible secret.
func ReadsSecret(p engine.Proposal) bool {
	r := p.Intent.Plan.Rights
	return p.Intent.Plan.Failure.Reason == "" && len(r.Read) > 0 && !r.Network && !r.Protected && len(r.Write) == 0 &&
		!slices.ContainsFunc(r.Read, func(path string) bool { return !secret.Path(path) })
}

// does describes the effect of rights, and marks paths that may hold secrets.
func does(r engine.Rights, home string) string {
	said := r.Describe(func(place, path string) string {
		if secret.Path(path) {
			return "read " + path + " (may be a secret)"
		}
		return "read " + place
	})
	if home != "" {
		said = strings.ReplaceAll(said, " "+home+"/", " ~/")
	}
	return said
}

// Kind describes the kind of a call in a word or two, above its detail.
func Kind(p engine.Proposal) string {
	switch p.Tool.Kind {
	case engine.Execute:
		return "command"
	case engine.Edit:
		return "change"
	case engine.Planning:
		return "plan"
	}
	return "call of " + p.Tool.Name()
}

// Rights returns the text after a title: the rights that the call asks for, and a warning if it
// names a possible secret.
func Rights(p engine.Proposal) (said string) {
	if r := p.Intent.Plan.Rights; !r.Empty() {
		said = ", with " + r.String()
	}
	if namesSecret(p.Intent) {
		said += " (may be a secret)"
	}
	return said
}

// namesSecret reports whether the title ends with the name of a possible secret.
func namesSecret(in engine.Intent) bool {
	return in.Secret != "" && strings.HasSuffix(in.Title, in.Secret)
}

// Programs returns the names of a call's programs, each once. An unknown name is spelled as in the
// command.
func Programs(in engine.Intent) []string {
	var names []string
	for _, c := range in.Plan.Commands {
		if name, _ := c.Program(); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Environment returns the variables that a call sets, as NAME=value.
func Environment(in engine.Intent) []string {
	var all []string
	for _, c := range in.Plan.Commands {
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

// A longer command can't be understood at a glance.
const (
	glanceLines = 40
	glanceChars = 4000
)

// unwieldy returns why a user can't allow a call for longer than once: its command or a grant's name
// is long, or looks like another. It returns "" for other calls.
func unwieldy(p engine.Proposal) string {
	what, s := covered(p)
	switch lines, chars := strings.Count(s, "\n")+1, utf8.RuneCountInString(s); {
	case output.NeedsEscape(s):
		return what + " holds characters that can't be seen"
	case output.Sanitize(s) != s, mixedAlphabets(s) != "", lookalikeSign(s) != "":
		return what + " holds long blanks or look-alike characters"
	case lines > glanceLines:
		return fmt.Sprintf("%s has %d lines", what, lines)
	case chars > glanceChars:
		return fmt.Sprintf("%s has %d characters", what, chars)
	}
	return ""
}

// covered returns the text that an "always" is about: a command, or the names of grants.
func covered(p engine.Proposal) (what, s string) {
	if p.Tool.Kind == engine.Execute {
		return "the command", p.Intent.Detail
	}
	return "its name", strings.Join(lists.Map(p.Intent.Grants, func(g engine.Grant) string { return g.Label }), "\n")
}
