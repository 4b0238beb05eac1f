package program

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"gemline/repl"
	"gemline/settings"
)

// settle finds out what the user wants: what the files say, unless the
// environment, and then the command line, says otherwise. What is managed
// needs no trust, and mends broken files.
func (s *session) settle(managed bool) error {
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("the working directory can't be used: %w; go to another one", err)
	}
	home, _ := os.UserHomeDir() // without one, nothing is kept
	s.paths = settings.NewPaths(home, s.os.getenv("GEMINI_CLI_HOME"), here)
	if err = s.load(false); err != nil && !managed || s.flags.ListSessions || s.flags.ListExtensions {
		return err
	}
	s.unread = err
	s.trust, err = s.paths.Trust(s.settings, s.flags, s.lookup)
	switch {
	case managed:
		if err == nil && s.trust.State == settings.Trusted {
			s.unread = s.load(true) // what is wrong with a file is for the sub-command to say
		}
		return nil
	case err != nil:
		return err
	case s.trust.State == settings.Trusted:
		err = s.load(true)
		if s.flags.Trust {
			if err := s.paths.Keep(context.Background(), s.lookup, s.trust.Folder); err != nil {
				s.warnings = append(s.warnings, unkept(err))
			}
		}
		return err
	case s.attended():
		return nil // the user is asked
	}
	return s.trust.Refuse()
}

// load reads the files of settings, the project's among them if it is trusted.
func (s *session) load(project bool) (err error) {
	s.settings, s.warnings, err = settings.Load(s.paths.Sources(s.os.Lookup, project), s.os.Lookup)
	vars, warnings := s.paths.DotEnv(s.settings, project, s.os.Lookup)
	s.keepSecret(vars)
	s.dotenv, s.warnings = vars, append(s.warnings, warnings...)
	if !project {
		s.own = s.settings
	}
	return cmp.Or(err, s.settings.Override(s.flags, s.lookup), s.settings.Unclear())
}

// lookup returns a variable of the environment or else of the .env file.
// Commands see only the former.
func (s *session) lookup(name string) (string, bool) {
	if v, ok := s.os.Lookup(name); ok {
		return v, true
	}
	v, ok := s.dotenv[name]
	return v, ok
}

func (s *session) getenv(name string) string {
	v, _ := s.lookup(name)
	return v
}

// enter asks about a folder that nobody has decided about, before anything of
// it is used.
func (s *session) enter(ctx context.Context, console *repl.Console) error {
	if s.trust.State != settings.Unknown {
		return nil
	}
	state, err := s.decide(ctx, console, s.trust)
	if err != nil || state != settings.Trusted {
		return err
	}
	s.trust.State = settings.Trusted
	return s.load(true)
}

// decide asks about a folder, and keeps the answer.
func (s *session) decide(ctx context.Context, console *repl.Console, t settings.Trust) (settings.State, error) {
	f := repl.Folder{Path: t.Folder, Home: s.paths.Home}
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
	if _, err := s.paths.Remember(ctx, s.lookup, t.Folder, rule); err != nil {
		s.notify(unkept(err))
	}
	if rule == settings.DoNotTrust {
		return settings.Distrusted, nil
	}
	return settings.Trusted, nil
}

// unkept says that a decision holds for this run only.
func unkept(err error) string { return fmt.Sprintf("the decision was not saved: %v", err) }

// permit returns what asks about a folder in the middle of a session.
func (s *session) permit(console *repl.Console) func(context.Context, string) (string, error) {
	return func(ctx context.Context, folder string) (string, error) {
		paths := settings.Paths{Home: s.paths.Home, Cwd: s.paths.Folder(folder)}
		if info, err := os.Stat(paths.Cwd); err != nil || !info.IsDir() {
			return "", fmt.Errorf("%s is not a folder", paths.Cwd)
		}
		so, err := paths.Trust(s.settings, s.flags, s.lookup)
		if err != nil {
			return "", err
		}
		state, err := s.decide(ctx, console, settings.Trust{Folder: paths.Cwd, State: so.State, Brings: paths.Survey(s.settings)})
		if err != nil || state == settings.Unknown {
			return "nothing was decided", err
		}
		return state.String() + " from the next start on; this session goes on as it began", nil
	}
}

// confine holds a session in a folder that is not trusted to asking.
func (s *session) confine() {
	if s.trust.State >= settings.Unneeded {
		return
	}
	if len(s.trust.Brings) > 0 {
		s.notify("this folder is not trusted: its settings, .env, context files and all else it brings are not used; /permissions trust asks again")
	}
	if s.settings.Confine() {
		s.notify("this folder is not trusted: the approval mode is default")
	}
}

// trusted returns the directories whose context files are used.
func (s *session) trusted() []string {
	if s.trust.State < settings.Unneeded {
		return nil
	}
	roots := s.workspace.Roots()
	denied := func(dir string) bool { return dir != roots[0] && s.paths.Denied(dir, s.lookup) }
	return slices.DeleteFunc(slices.Clone(roots), denied)
}
