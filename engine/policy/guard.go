package policy

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
)

// Guard returns p and a, except that edits of files of these names are asked
// about in every mode but [Yolo], whatever was granted, and that no "always"
// is offered for them: what they say steers the conversations to come.
func Guard(p *Policy, a engine.Approver, names []string) (engine.Policy, engine.Approver) {
	g := guard{p, names}
	return g, guardedApprover{a, g}
}

type guard struct {
	*Policy
	names []string
}

// A guardedApprover does not offer what the guard would not honour.
type guardedApprover struct {
	engine.Approver
	guard guard
}

// Approve implements [engine.Approver].
func (a guardedApprover) Approve(ctx context.Context, q engine.Proposal) (engine.Answer, error) {
	if a.guard.guards(q) {
		q.Intent.Grants = nil
	}
	return a.Approver.Approve(ctx, q)
}

// Judge implements [engine.Policy].
func (g guard) Judge(q engine.Proposal) (engine.Verdict, string) {
	verdict, reason := g.Policy.Judge(q)
	if verdict == engine.Allow && g.Mode() != Yolo && g.guards(q) {
		return engine.Ask, ""
	}
	return verdict, reason
}

// guards reports whether q edits a file of one of the names.
func (g guard) guards(q engine.Proposal) bool {
	return q.Tool.Kind == engine.Edit && slices.ContainsFunc(q.Intent.Paths, g.holds)
}

// holds reports whether path, or where it leads, has one of the names.
func (g guard) holds(path string) bool {
	if g.named(path) {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && g.named(real)
}

func (g guard) named(path string) bool {
	return slices.ContainsFunc(g.names, func(name string) bool {
		return strings.EqualFold(filepath.Base(path), filepath.Base(name))
	})
}
