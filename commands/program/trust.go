package program

import (
	"context"
	"fmt"
	"os"

	"gemline/repl"
	"gemline/settings"
)

// enter asks about a folder that nobody has decided about, before anything of
// it is used.
func (r *run) enter(ctx context.Context, console *repl.Console) error {
	if r.trust.State != settings.Unknown {
		return nil
	}
	state, err := r.decide(ctx, console, r.trust)
	if err != nil || state != settings.Trusted {
		return err
	}
	r.trust.State = settings.Trusted
	return r.load(true)
}

// decide asks about a folder, and keeps the answer.
func (r *run) decide(ctx context.Context, console *repl.Console, t settings.Trust) (settings.State, error) {
	f := repl.Folder{Path: t.Folder, Home: r.paths.Home}
	if t.State == settings.Trusted || t.State == settings.Distrusted {
		f.Decided = t.State.String()
	}
	f.Brings, f.Caution = settings.Brief(t.Brings)
	decision, err := console.Trust(ctx, f)
	if err != nil || decision == repl.NotNow {
		return settings.Unknown, err
	}
	rule := map[repl.Decision]settings.Rule{repl.TrustFolder: settings.TrustFolder,
		repl.TrustParent: settings.TrustParent, repl.DoNotTrust: settings.DoNotTrust}[decision]
	if _, err := r.paths.Remember(ctx, r.lookup, t.Folder, rule); err != nil {
		r.notify(unkept(err))
	}
	if rule == settings.DoNotTrust {
		return settings.Distrusted, nil
	}
	return settings.Trusted, nil
}

// unkept says that a decision holds for this run only.
func unkept(err error) string { return fmt.Sprintf("the decision was not saved: %v", err) }

// permit returns what asks about a folder in the middle of a session.
func (r *run) permit(console *repl.Console) func(context.Context, string) (string, error) {
	return func(ctx context.Context, folder string) (string, error) {
		paths := settings.Paths{Home: r.paths.Home, Cwd: r.paths.Folder(folder)}
		if info, err := os.Stat(paths.Cwd); err != nil || !info.IsDir() {
			return "", fmt.Errorf("%s is not a folder", paths.Cwd)
		}
		so, err := paths.Trust(r.settings, r.flags, r.lookup)
		if err != nil {
			return "", err
		}
		state, err := r.decide(ctx, console, settings.Trust{Folder: paths.Cwd, State: so.State, Brings: paths.Survey(r.settings)})
		if err != nil || state == settings.Unknown {
			return "nothing was decided", err
		}
		return state.String() + " from the next start on; this session goes on as it began", nil
	}
}
