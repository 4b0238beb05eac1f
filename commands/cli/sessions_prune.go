package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"gemline/engine/journal"
	"gemline/settings"
	"gemline/settings/flags"
	"gemline/settings/project"
)

// taken are names beside the directories of sessions, which no session's is. An id is what a
// session file says it is, and these hold what belongs to all sessions.
var taken = []string{"chats", "tool-outputs", "memory", "checkpoints", "logs", "images", "plans", "policies", "batches"}

// Shelf returns where the sessions of a directory are kept, with all that belongs to them.
func Shelf(store project.Store) journal.Shelf {
	return journal.Shelf{Chats: store.Chats(), Dirs: func(id string) []string {
		dirs := []string{filepath.Join(store.Temp, "tool-outputs", "session-"+id)}
		if !slices.Contains(taken, id) {
			dirs = append(dirs, filepath.Join(store.Temp, id)) // of its plans and tasks
		}
		return dirs
	}}
}

// Retention returns what the settings say of how long sessions are kept.
func Retention(s *settings.Settings) (journal.Retention, error) {
	r, err := journal.ParseRetention(s.MaxAge, s.MaxSessions, s.MinRetention)
	if err != nil {
		err = fmt.Errorf("general.sessionRetention: %w", err)
	}
	return r, err
}

type sessionsPrune struct {
	DryRun    bool   `help:"Only list what would be deleted."`
	OlderThan string `placeholder:"AGE" help:"Those not written for so long, such as 30d; not maxAge of the settings."`
	Keep      *int   `placeholder:"N" help:"All but the N that were written last; not maxCount of the settings."`
}

// Run deletes the sessions that are not to be kept, or lists them.
func (c *sessionsPrune) Run(w *World) error {
	list, store, err := w.sessions()
	if err != nil {
		return err
	}
	r, err := c.retention(w)
	if err != nil {
		return err
	}
	old := r.Expired(list, time.Now())
	what := "would be deleted"
	if !c.DryRun {
		what = "deleted"
		old, err = Shelf(store).Prune(old)
	}
	lines := []string{}
	for _, s := range old {
		lines = append(lines, fmt.Sprintf("%s: %s (%s) [%s]", what, s.Title, journal.Ago(s.Updated, time.Now()), s.ID))
	}
	if len(old) == 0 {
		lines = append(lines, "no session of this directory is old enough")
	}
	if werr := w.show(map[string]any{"dry_run": c.DryRun, "sessions": journal.JSON(old, "")}, lines...); werr != nil {
		return werr
	}
	return err
}

// retention returns what the command line says of how long sessions are kept, and the settings
// where it does not.
func (c *sessionsPrune) retention(w *World) (r journal.Retention, err error) {
	if c.OlderThan == "" && c.Keep == nil {
		s, err := w.settings()
		if err != nil {
			return r, err
		}
		return Retention(s)
	}
	if c.OlderThan != "" {
		if r.MaxAge, err = journal.ParseAge(c.OlderThan); err != nil {
			return r, &flags.UsageError{Message: "--older-than: " + err.Error()}
		}
	}
	if c.Keep != nil {
		if r.MaxCount = *c.Keep; r.MaxCount < 1 {
			return r, &flags.UsageError{Message: "--keep takes a number above 0"}
		}
	}
	return r, nil
}
