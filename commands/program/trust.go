package program

import (
	"context"
	"errors"
	"fmt"
	"os"

	"gemline/repl/question"
	"gemline/repl/talk"
	"gemline/settings/project"
	"gemline/settings/trust"
)

// A consenter is who decides what a folder may bring and run: the user at the terminal, or
// a program.
type consenter interface {
	Trust(context.Context, question.Folder) (question.Entry, error)
	Consent(ctx context.Context, folder string, wishes []question.Wish) (question.Consent, error)
}

// enter asks about a folder that nobody has decided about, before anything of
// it is used.
func (r *run) enter(ctx context.Context, user consenter) error {
	if err := r.askTrust(ctx, user); err != nil {
		return err
	}
	if err := r.checkOut(ctx); err != nil {
		return err
	}
	if r.opts.tree != "" {
		if err := r.askTrust(ctx, user); err != nil {
			return err
		}
	}
	if r.opts.trust.State == trust.Unknown {
		return nil
	}
	return r.opts.agree(ctx, user, r.notify)
}

// askTrust asks about the folder, if nobody has decided about it.
func (r *run) askTrust(ctx context.Context, user consenter) error {
	if r.opts.trust.State != trust.Unknown {
		return nil
	}
	wishes := r.foreseen()
	state, said, err := r.decide(ctx, user, r.opts.trust, wishes)
	if errors.Is(err, talk.ErrGone) {
		return r.opts.trust.Refuse()
	}
	if err != nil || state != trust.Trusted {
		return err
	}
	r.opts.trust.State = trust.Trusted
	if said.Both {
		r.opts.keep(ctx, wishes, said.Commands, r.notify)
	}
	return r.opts.load(true)
}

// foreseen returns what the folder would want to run if it was trusted.
func (r *run) foreseen() []wish {
	o := *r.opts
	o.trust.State = trust.Trusted
	o.agreed = o.newAgreements()
	if o.load(true) != nil { // which is said when it is read in earnest
		return nil
	}
	return o.wanted(func(string) {})
}

// decide asks about a folder, and keeps the answer.
func (r *run) decide(ctx context.Context, user consenter, t trust.Status, wishes []wish) (trust.State, question.Entry, error) {
	f := question.Folder{Path: t.Folder, Home: r.opts.paths.Home}
	if t.State == trust.Trusted || t.State == trust.Distrusted {
		f.Decided = t.State.String()
	}
	f.Brings, f.Caution = trust.Brief(t.Brings)
	for _, w := range wishes {
		f.Wishes = append(f.Wishes, w.Wish)
	}
	said, err := user.Trust(ctx, f)
	if err != nil || said.Folder == question.NotNow {
		return trust.Unknown, said, err
	}
	rule := map[question.Decision]trust.Rule{question.TrustFolder: trust.Folder,
		question.TrustParent: trust.Parent, question.DoNotTrust: trust.Deny}[said.Folder]
	if _, err := trust.Folders(r.opts.paths, r.opts.lookup).Remember(ctx, t.Folder, rule); err != nil {
		r.notify(unkept(err))
	}
	if rule == trust.Deny {
		return trust.Distrusted, said, nil
	}
	return trust.Trusted, said, nil
}

// unkept says that a decision holds for this run only.
func unkept(err error) string { return fmt.Sprintf("the decision was not saved: %v", err) }

// permit returns what asks about a folder in the middle of a session.
func (r *run) permit(user consenter) func(context.Context, string) (string, error) {
	return func(ctx context.Context, folder string) (string, error) {
		paths := project.Paths{Home: r.opts.paths.Home, Cwd: r.opts.paths.Folder(folder)}
		if info, err := os.Stat(paths.Cwd); err != nil || !info.IsDir() {
			return "", fmt.Errorf("%s is not a folder", paths.Cwd)
		}
		so, err := trust.Decide(paths, r.opts.settings, r.opts.flags, r.opts.lookup)
		if err != nil {
			return "", err
		}
		state, _, err := r.decide(ctx, user, trust.Status{Folder: paths.Cwd, State: so.State,
			Brings: trust.Survey(paths, r.opts.settings)}, nil)
		if err != nil || state == trust.Unknown {
			return "nothing was decided", err
		}
		return state.String() + " from the next start on; this session goes on as it began", nil
	}
}
