package program

import (
	"cmp"
	"context"
	"fmt"

	"gemline/engine"
	"gemline/engine/policy"
	"gemline/settings"
)

// mayUse returns why an approval mode can't be used here, nil if it can. In auto nothing
// is asked about that is held and can be taken back, so both have to be so.
func (s *Session) mayUse(m policy.Mode) error {
	err := s.opts.MayUse(m)
	if err != nil || m != policy.Auto {
		return err
	}
	if l := s.project.launcher; !l.Contained() {
		why := cmp.Or(l.State().Step, "nothing is in force")
		if l.Network {
			why = "the settings give them the network"
		}
		return fmt.Errorf("the approval mode auto needs commands to be confined, and they are not: %s", why)
	}
	if err := s.keeper.Ready(); err != nil {
		return fmt.Errorf("the approval mode auto needs checkpoints to take changes back: %w", err)
	}
	return nil
}

// undoable reports whether what is held and can be taken back runs unasked.
func (s *Session) undoable() bool {
	return s.policy.Mode() == policy.Auto && s.mayUse(policy.Auto) == nil
}

// checkMode refuses the mode auto of the command line where it can't be used. That of the
// settings gives way to default.
func (s *Session) checkMode() error {
	if s.policy.Mode() != policy.Auto || s.Generator != nil {
		return nil
	}
	err := s.mayUse(policy.Auto)
	if err != nil && s.opts.Flags.Mode() == string(policy.Auto) {
		return &settings.ForbiddenError{Message: err.Error()}
	}
	s.leaveAuto()
	return nil
}

// leaveAuto changes from the mode auto to default, where it can't be used any more.
func (s *Session) leaveAuto() {
	if s.policy.Mode() != policy.Auto {
		return
	}
	if err := s.mayUse(policy.Auto); err != nil {
		s.recordMode(policy.Auto, policy.Default)
		s.policy.SetMode(policy.Default)
		s.notify(fmt.Sprintf("the approval mode is default from here on: %v", err))
	}
}

// A taking judges by the mode that can be used at the moment.
type taking struct {
	engine.Policy
	session *Session
}

// Judge implements [engine.Policy].
func (t taking) Judge(ctx context.Context, q engine.Proposal) (engine.Verdict, engine.Reason) {
	t.session.leaveAuto()
	return t.Policy.Judge(ctx, q)
}
