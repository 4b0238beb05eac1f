package journal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"gemline/engine/text"
)

// A Retention says which sessions are kept. The zero Retention keeps all.
type Retention struct {
	MaxAge   time.Duration // since the last write; 0 is no limit
	MaxCount int           // of a directory; 0 is no limit
	MinAge   time.Duration // younger sessions are always kept
}

// ParseRetention parses the values of the settings. It refuses a maxAge below minAge as a
// mistake.
func ParseRetention(maxAge string, maxCount int, minAge string) (r Retention, err error) {
	if r.MaxAge, err = text.ParseAge(maxAge); err != nil {
		return Retention{}, fmt.Errorf("maxAge: %w", err)
	}
	if r.MinAge, err = text.ParseAge(minAge); err != nil {
		return Retention{}, fmt.Errorf("minRetention: %w", err)
	}
	if r.MaxAge < r.MinAge {
		return Retention{}, fmt.Errorf("maxAge %s is below minRetention %s", maxAge, minAge)
	}
	r.MaxCount = maxCount
	return r, nil
}

// Expired returns the sessions to remove, the last written first. Newer has the expired sessions
// of a newer gemline, which are not removed: this program does not know which files belong to
// them.
func (r Retention) Expired(sessions []Session, now time.Time) (expired, newer []Session) {
	byAge := slices.SortedStableFunc(slices.Values(sessions),
		func(a, b Session) int { return b.Updated.Compare(a.Updated) })
	for i, s := range byAge {
		age := now.Sub(s.Updated)
		switch old := age >= r.MinAge && (r.MaxAge > 0 && age > r.MaxAge || r.MaxCount > 0 && i >= r.MaxCount); {
		case old && s.NewerFormat:
			newer = append(newer, s)
		case old:
			expired = append(expired, s)
		}
	}
	return expired, newer
}

// A Storage is the storage of a project's sessions and their related data. All fields must be
// set.
type Storage struct {
	Chats string                      // the directory of session files
	Dirs  func(id string) []string    // further directories of a session
	Drop  func(id string) (err error) // drops the session's data elsewhere
	Tidy  func() error                // frees space afterwards
}

// tidy frees space after sessions were removed.
func (s Storage) tidy() error {
	if err := s.Tidy(); err != nil {
		return fmt.Errorf("copies for undo are still on the disk: %w", err)
	}
	return nil
}

// Remove deletes a session: its files, in either format, and its agents' files. If a process uses
// the session, nothing is deleted, and the error is a [*BusyError].
func (s Storage) Remove(id string) error {
	if !validID(id) {
		return errors.New("no session has such an id")
	}
	paths, err := filesOf(s.Chats)
	if err != nil {
		return err
	}
	switch err := s.remove(id, paths[id], time.Time{}); {
	case errors.As(err, new(*BusyError)):
		return err
	case err != nil:
		return notRemoved(id, err)
	}
	return s.tidy()
}

// notRemoved returns the error of a session that was not removed.
func notRemoved(id string, err error) error {
	return fmt.Errorf("session %s is not deleted: %w", id, err)
}

// Prune removes sessions, and returns the removed sessions. A session stays if it was written
// since it was listed, or if a process uses it.
func (s Storage) Prune(sessions []Session) (gone []Session, err error) {
	if len(sessions) == 0 {
		return nil, nil
	}
	paths, err := filesOf(s.Chats)
	if err != nil {
		return nil, err
	}
	for _, old := range sessions {
		switch rerr := s.remove(old.ID, paths[old.ID], old.Updated); {
		case errors.As(rerr, new(*BusyError)), errors.Is(rerr, errNewer):
		case rerr != nil:
			err = cmp.Or(err, notRemoved(old.ID, rerr))
		default:
			gone = append(gone, old)
		}
	}
	if len(gone) > 0 {
		err = cmp.Or(err, s.tidy())
	}
	return gone, err
}
