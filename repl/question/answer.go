package question

import (
	"fmt"
	"slices"
	"strings"

	"gemline/engine"
)

// Grants returns the grants that an "always" to a call may choose from.
func Grants(p engine.Proposal) []engine.Grant {
	if unwieldy(p) != "" {
		return nil
	}
	return p.Intent.Grants
}

// Scopes returns the possible scopes of an "always" to g.
func Scopes(g engine.Grant) []engine.Scope {
	switch {
	case g.Rule == "" || g.SessionOnly:
		return []engine.Scope{engine.Session}
	case g.ProjectOnly:
		return []engine.Scope{engine.Session, engine.InProject}
	}
	return []engine.Scope{engine.Session, engine.InProject, engine.Everywhere}
}

// scopeNames are the words for scopes.
var scopeNames = map[engine.Scope]string{engine.Session: "session", engine.InProject: "project",
	engine.Everywhere: "user"}

// ScopeName returns the word for a scope of a grant.
func ScopeName(s engine.Scope) string { return scopeNames[s] }

// ParseScope returns the scope that a word names.
func ParseScope(name string) (engine.Scope, bool) {
	for s, n := range scopeNames {
		if n == name {
			return s, true
		}
	}
	return engine.Once, false
}

// Always returns the answer that allows a call and everything that g covers, in the scope s. The
// problem says why g can't have the scope.
func Always(g engine.Grant, s engine.Scope) (a engine.Answer, problem string) {
	switch {
	case slices.Contains(Scopes(g), s):
		return engine.Allowed{Scope: s, Grant: g}, ""
	case g.Rule == "" || g.SessionOnly:
		return nil, "this can't be kept for longer than the session; leave out project or user"
	}
	return nil, "this can be kept for this project only; say project"
}

// WithNetwork returns the answer that allows a call with the network. It returns false if p does
// not offer that.
func WithNetwork(p engine.Proposal) (engine.Answer, bool) {
	return engine.Changed{Agreed: true, Args: p.Intent.Plan.NetworkArgs}, p.Intent.Plan.NetworkArgs != nil
}

// ReadOnly returns the answer that allows a call read-only. It returns false if p does not offer
// that.
func ReadOnly(p engine.Proposal) (engine.Answer, bool) {
	return engine.Changed{Agreed: true, Args: p.Intent.Plan.ReadOnlyArgs}, p.Intent.Plan.ReadOnlyArgs != nil
}

// KindName returns the word for the kind of a model's question.
func KindName(k engine.QuestionKind) string {
	return map[engine.QuestionKind]string{engine.MultipleChoice: "choice", engine.FreeText: "text", engine.YesNo: "yesno"}[k]
}

// YesNo returns the reply to a yes-or-no question of the model, or the problem of s.
func YesNo(s string) (reply, problem string) {
	switch strings.ToLower(s) {
	case "y", "yes":
		return engine.Yes, ""
	case "n", "no":
		return engine.No, ""
	}
	return "", fmt.Sprintf("%.100q is neither y nor n", s)
}
