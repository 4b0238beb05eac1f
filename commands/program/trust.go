package program

import (
	"context"
	"fmt"
	"os"

	"gemline/repl"
	"gemline/settings/project"
	"gemline/settings/trust"
)

// enter asks about a folder that nobody has decided about, before anything of
// it is used.
func (r *run) enter(ctx context.Context, console *repl.Console) error {
	if err := r.askTrust(ctx, console); err != nil {
		return err
	}
	if err := r.checkOut(ctx); err != nil {
		return err
	}
	if r.tree != "" {
		if err := r.askTrust(ctx, console); err != nil {
			return err
		}
	}
	if r.trust.State == trust.Unknown {
		return nil
	}
	return r.agree(ctx, console, r.notify)
}

// askTrust asks about the folder, if nobody has decided about it.
func (r *run) askTrust(ctx context.Context, console *repl.Console) error {
	if r.trust.State != trust.Unknown {
		return nil
	}
	state, err := r.decide(ctx, console, r.trust)
	if err != nil || state != trust.Trusted {
		return err
	}
	r.trust.State = trust.Trusted
	return r.load(true)
}

// decide asks about a folder, and keeps the answer.
func (r *run) decide(ctx context.Context, console *repl.Console, t trust.Status) (trust.State, error) {
	f := repl.Folder{Path: t.Folder, Home: r.paths.Home}
	if t.State == trust.Trusted || t.State == trust.Distrusted {
		f.Decided = t.State.String()
	}
	f.Brings, f.Caution = trust.Brief(t.Brings)
	decision, err := console.Trust(ctx, f)
	if err != nil || decision == repl.NotNow {
		return trust.Unknown, err
	}
	rule := map[repl.Decision]trust.Rule{repl.TrustFolder: trust.Folder,
		repl.TrustParent: trust.Parent, repl.DoNotTrust: trust.Deny}[decision]
	if _, err := trust.Folders(r.paths, r.lookup).Remember(ctx, t.Folder, rule); err != nil {
		r.notify(unkept(err))
	}
	if rule == trust.Deny {
		return trust.Distrusted, nil
	}
	return trust.Trusted, nil
}

// unkept says that a decision holds for this run only.
func unkept(err error) string { return fmt.Sprintf("the decision was not saved: %v", err) }

// permit returns what asks about a folder in the middle of a session.
func (r *run) permit(console *repl.Console) func(context.Context, string) (string, error) {
	return func(ctx context.Context, folder string) (string, error) {
		paths := project.Paths{Home: r.paths.Home, Cwd: r.paths.Folder(folder)}
		if info, err := os.Stat(paths.Cwd); err != nil || !info.IsDir() {
			return "", fmt.Errorf("%s is not a folder", paths.Cwd)
		}
		so, err := trust.Decide(paths, r.settings, r.flags, r.lookup)
		if err != nil {
			return "", err
		}
		state, err := r.decide(ctx, console, trust.Status{Folder: paths.Cwd, State: so.State, Brings: trust.Survey(paths, r.settings)})
		if err != nil || state == trust.Unknown {
			return "nothing was decided", err
		}
		return state.String() + " from the next start on; this session goes on as it began", nil
	}
}
