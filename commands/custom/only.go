package custom

import (
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/policy"
	"gemline/engine/text"
)

// Only are the tools that may be called for a command. Nil allows all tools.
type Only []Allowed

// Allowed is a tool that may be called: with any arguments, or only for programs whose words begin
// with an element of Prefixes.
type Allowed struct {
	Tool     string
	Prefixes []string
}

// parseOnly reads a list of tools such as "Read" and "Bash(git diff:*)". It takes a name in small
// letters for a tool of gemline, and returns other names without a tool as unknown.
func parseOnly(list []string) (only Only, unknown []string) {
	only = Only{}
	for _, entry := range list {
		name, rest, with := strings.Cut(strings.TrimSpace(entry), "(")
		a := Allowed{Tool: policy.ToolOf(name)}
		switch {
		case name == "":
			continue
		case a.Tool == "" && name == strings.ToLower(name):
			a.Tool = name
		case a.Tool == "":
			unknown = append(unknown, name)
			continue
		}
		if prefix := strings.TrimSuffix(strings.TrimSuffix(rest, ")"), ":*"); with && prefix != "*" {
			a.Prefixes = []string{text.Words(strings.TrimSuffix(prefix, "*"))}
		}
		only = append(only, a)
	}
	return only, unknown
}

// Offers reports whether at least some calls of a tool may be allowed.
func (o Only) Offers(t engine.Tool) bool {
	return o == nil || slices.ContainsFunc(o, func(a Allowed) bool { return a.Tool == t.Name() })
}

// Allows reports whether a call may be made.
func (o Only) Allows(p engine.Proposal) bool {
	if o == nil {
		return true
	}
	var prefixes []string
	for _, a := range o {
		if a.Tool != p.Tool.Name() {
			continue
		}
		if a.Prefixes == nil {
			return true
		}
		prefixes = append(prefixes, a.Prefixes...)
	}
	plan := p.Intent.Plan
	if len(prefixes) == 0 || plan.Class != engine.Plain || len(plan.Writes) > 0 {
		return false
	}
	for _, c := range plan.Commands {
		words := strings.Join(c.Words(), " ")
		if !slices.ContainsFunc(prefixes, func(prefix string) bool {
			rest, ok := strings.CutPrefix(words, prefix)
			return ok && (rest == "" || rest[0] == ' ')
		}) {
			return false
		}
	}
	return true
}
