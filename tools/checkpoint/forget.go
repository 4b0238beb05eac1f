package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// longestCollect limits the time of a collection. The next collection finds the rest.
const longestCollect = 10 * time.Second

// A Store is the path of a directory with the states of sessions. "" means no store.
type Store string

// Drop forgets a session. [Store.Collect] then removes its states.
func (s Store) Drop(session string) error {
	return s.with(func(r *store) error {
		if err := r.at[sessionsDir].Remove(session); CanName(session) && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// Collect removes states that no session needs any more. Its time is bounded.
func (s Store) Collect() error {
	return s.with(func(r *store) error {
		ctx, cancel := context.WithTimeout(context.Background(), longestCollect)
		defer cancel()
		if err := r.collect(ctx); !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return nil
	})
}

// OrphanSessions returns the ids of sessions that have states, do not exist any more, and
// got no new state since a time.
func (s Store) OrphanSessions(there []string, since time.Time) (ids []string, err error) {
	err = s.with(func(r *store) error {
		all, err := r.refs()
		for _, ref := range all {
			if ref.ModTime().Before(since) && !slices.Contains(there, ref.Name()) {
				ids = append(ids, ref.Name())
			}
		}
		return err
	})
	slices.Sort(ids)
	return ids, err
}

// with calls do with the open store, if there is a store.
func (s Store) with(do func(r *store) error) error {
	if _, err := os.Lstat(string(s)); err != nil {
		return nil
	}
	r, err := create(string(s), createFile)
	if err != nil {
		return err
	}
	defer r.close()
	return do(r)
}

// collect removes incomplete states, and the states that no session needs. A session needs
// all states up to its last state, and the states that hold contents of these.
func (r *store) collect(ctx context.Context) error {
	if ok, err := r.lock.TryLockContext(ctx, 5*time.Millisecond); !ok {
		return fmt.Errorf("lock the checkpoints: %w", err)
	}
	defer r.lock.Unlock()
	sessions, err := r.refs()
	if err != nil {
		return err
	}
	live, needed := map[string]bool{}, map[Sum]bool{}
	for _, one := range sessions {
		all, err := states(r, one.Name(), true)
		if err = cmp.Or(ctx.Err(), err); err != nil && !errors.Is(err, errMissing) {
			return err
		}
		for _, s := range all {
			live[s.ID] = true
			for _, c := range s.changes {
				needed[c.Before.Sum], needed[c.After.Sum] = true, true
			}
		}
	}
	r.forget()
	for id := range live {
		for _, sum := range r.sums(id) {
			delete(needed, sum)
		}
	}
	gone := slices.DeleteFunc(r.states(), func(id string) bool {
		return live[id] || slices.ContainsFunc(r.sums(id), func(sum Sum) bool { return needed[sum] })
	})
	r.forget()
	err = ctx.Err()
	if err == nil && len(gone) > 0 {
		err = r.write(".", "generation", []byte(newID()))
	}
	for dir, at := range r.at {
		entries, _ := r.dir.List(dir)
		for _, e := range entries {
			if isUnfinished(e.Name()) {
				at.Remove(e.Name())
			}
		}
	}
	for i := 0; err == nil && i < len(gone); i++ {
		err = r.at[statesDir].Remove(gone[i] + ".zip")
	}
	return err
}
