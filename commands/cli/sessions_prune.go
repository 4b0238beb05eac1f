package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"gemline/engine/journal"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/project"
	"gemline/tools/checkpoint"
)

// taken are names of directories that all sessions share. No session gets such a directory,
// although a session file may contain any id.
var taken = []string{"chats", "tool-outputs", "memory", "checkpoints", "logs", "images", "plans", "policies", "batches"}

// SessionStorage returns the files of a directory's sessions, with everything that belongs to them.
func SessionStorage(store project.Store) journal.Storage {
	kept := checkpoint.Store(store.History())
	return journal.Storage{Chats: store.Chats(), Drop: kept.Drop, Tidy: kept.Collect, Dirs: func(id string) []string {
		dirs := []string{filepath.Join(store.Temp, "tool-outputs", "session-"+id)}
		if !slices.Contains(taken, id) {
			dirs = append(dirs, filepath.Join(store.Temp, id)) // its plans and tasks
		}
		return dirs
	}}
}

// Retention returns the retention of sessions by the settings.
func Retention(s *settings.Settings) (journal.Retention, error) {
	if said := s.Misread("general.sessionRetention"); said != "" {
		return journal.Retention{}, errors.New(said)
	}
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

// Run deletes the expired sessions, or lists them.
func (c *sessionsPrune) Run(out *Output, here *Folder) error {
	list, store, err := here.sessions()
	if err != nil {
		return err
	}
	r, err := c.retention(here)
	if err != nil {
		return err
	}
	old, newer := r.Expired(list, time.Now())
	strays, err := Strays(store, list, r)
	what := "would be deleted"
	if !c.DryRun && err == nil {
		what = "deleted"
		old, err = SessionStorage(store).Prune(old)
		err = cmp.Or(err, Forget(store, strays))
	}
	lines := lists.Map(old, func(s journal.Session) string {
		return fmt.Sprintf("%s: %s (%s) [%s]", what, s.Title, text.Ago(s.Updated, time.Now()), text.ShortID(s.ID))
	})
	if n := len(strays); n > 0 {
		lines = append(lines, fmt.Sprintf("%s: copies for undo of sessions that are gone (%d)", what, n))
	}
	if len(newer) > 0 {
		lines = append(lines, LeftOut(newer))
	}
	return cmp.Or(out.listing(map[string]any{"dry_run": c.DryRun, "sessions": out.entries(old...),
		"newer": out.entries(newer...), "forgotten": strays},
		lines, "no session of this directory is old enough"), err)
}

// LeftOut says that old sessions of a newer gemline remain.
func LeftOut(newer []journal.Session) string {
	return text.Count(len(newer), "old session") + " of a newer gemline left out; gemline sessions delete ID deletes one"
}

// Strays returns sessions that no longer exist but have stored states for undo, if they are old
// enough. Another program may have deleted such a session.
func Strays(store project.Store, list []journal.Session, r journal.Retention) ([]string, error) {
	there := lists.Map(list, func(s journal.Session) string { return s.ID })
	age := cmp.Or(r.MaxAge, 30*24*time.Hour)
	return checkpoint.Store(store.History()).OrphanSessions(there, time.Now().Add(-age))
}

// Forget deletes the states for undo of sessions that no longer exist.
func Forget(store project.Store, strays []string) (err error) {
	kept := checkpoint.Store(store.History())
	for _, id := range strays {
		err = errors.Join(err, kept.Drop(id))
	}
	if len(strays) > 0 {
		err = errors.Join(err, kept.Collect())
	}
	return err
}

// retention returns the retention by the command line, and by the settings for the rest.
func (c *sessionsPrune) retention(here *Folder) (r journal.Retention, err error) {
	if c.OlderThan == "" && c.Keep == nil {
		s, err := here.settings()
		if err != nil {
			return r, err
		}
		return Retention(s)
	}
	if c.OlderThan != "" {
		if r.MaxAge, err = text.ParseAge(c.OlderThan); err != nil {
			return r, misused("--older-than: %v", err)
		}
	}
	if c.Keep != nil {
		if r.MaxCount = *c.Keep; r.MaxCount < 1 {
			return r, misused("--keep takes a number above 0")
		}
	}
	return r, nil
}
