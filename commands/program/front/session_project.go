package front

import (
	"context"

	"gemline/commands/cli"
	"gemline/engine"
	"gemline/engine/policy"
	"gemline/tools/launch"
)

// sessionProject is the project of a conversation, for the sub-commands in a session.
type sessionProject struct{ f *frontend }

// Rules implements [cli.Project].
func (h sessionProject) Rules() (*policy.Policy, error) { return h.f.session.Rules.Policy, nil }

// Trial implements [cli.Project] by the conversation itself.
func (h sessionProject) Trial(_ context.Context, headless bool) (*cli.Trial, error) {
	s := h.f.session
	t := &cli.Trial{Tools: s.Tools.Toolset, Policy: s.Rules.Policy, Offers: s.Rules.Offers, Explain: s.Rules.Explain, Close: func() {}}
	if headless != s.Rules.Policy.Unattended {
		t.Policy = s.Rules.Policy.WithUnattended(headless)
		t.Explain = func(_ context.Context, q engine.Proposal) policy.Explanation {
			return s.Rules.GuardedFiles().Explain(t.Policy, q)
		}
	}
	return t, nil
}

// Launcher implements [cli.Project].
func (h sessionProject) Launcher() (*launch.Launcher, error) {
	return h.f.session.Project.Launcher, nil
}

// Keeper implements [cli.Project].
func (h sessionProject) Keeper() (*cli.Kept, error) {
	return &cli.Kept{Keeper: h.f.session.Keeper, Rel: h.f.session.Project.Workspace.Rel, Done: func() {}}, nil
}

// Problems implements [cli.Project].
func (h sessionProject) Problems() []cli.Problem {
	return problems(h.f.opts, h.f.session.Project.Launcher)
}
