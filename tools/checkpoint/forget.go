package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// longestCollect is how long what nobody needs is looked for. What is not found in that
// time is found the next time.
const longestCollect = 10 * time.Second

// A Store is a directory in which the states of sessions are kept, by its directory. ""
// is none.
type Store string

// Drop drops what was kept for a session. [Store.Collect] makes room then.
func (s Store) Drop(session string) error {
	return s.with(func(r *store) error { return r.dropRef(session) })
}

// Collect removes what is kept for no session any more. It ends in time, whatever there
// is.
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

// OrphanSessions returns the sessions that something is kept for and that are not there any more,
// by what they are called, if nothing was kept for them since a time.
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

// with does something with the store, if there is one.
func (s Store) with(do func(r *store) error) error {
	if s == "" || !inUse(string(s)) {
		return nil
	}
	r, err := create(string(s), createFile)
	if err != nil {
		return err
	}
	defer r.close()
	return do(r)
}

// dropRef forgets a session, whose states collect removes then.
func (r *store) dropRef(session string) error {
	if !CanName(session) {
		return nil
	}
	for _, dir := range []string{sessionsDir, formerRefs} {
		at, err := r.dir.Sub(filepath.FromSlash(dir))
		if err == nil {
			if err = at.Remove(session); err == nil {
				if d, derr := at.Open("."); derr == nil { // before its states go
					d.Sync()
					d.Close()
				}
			}
			at.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// collect removes the states that no session needs: none leads to them, and they have no
// content that one speaks of and no other has. What older releases kept goes, too.
func (r *store) collect(ctx context.Context) error {
	if ok, err := r.lock.TryLockContext(ctx, 5*time.Millisecond); !ok {
		return fmt.Errorf("lock the checkpoints: %w", err)
	}
	defer r.lock.Unlock()
	all, err := r.refs()
	if err != nil {
		return err
	}
	live, needed := map[string]bool{}, map[Sum]bool{}
	for _, one := range all {
		id, err := r.ref(one.Name())
		for err == nil && id != "" && !live[id] && ctx.Err() == nil {
			list, lerr := r.changes(id)
			s, serr := r.heading(id)
			if err = errors.Join(lerr, serr); err == nil {
				live[id], id = true, s.Parent
				for _, c := range list {
					needed[c.Before.Sum], needed[c.After.Sum] = true, true
				}
			}
		}
		if err != nil && !errors.Is(err, errMissing) {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
	var gone []string
	for _, stays := range []bool{true, false} { // what stays anyway comes first
		for _, id := range r.states() {
			if live[id] != stays || ctx.Err() != nil {
				continue
			}
			sums := r.sums(id)
			if !stays && !slices.ContainsFunc(sums, func(sum Sum) bool { return needed[sum] }) {
				gone = append(gone, id)
			}
			for _, sum := range sums {
				delete(needed, sum)
			}
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.forget()
	return r.remove(gone)
}

// remove removes states, what is not whole, and what older releases kept but for the names of
// their sessions.
func (r *store) remove(gone []string) error {
	if len(gone) > 0 {
		if err := r.write(".", "generation", []byte(newID())); err != nil {
			return err
		}
	}
	top, err := r.dir.Sub(".")
	if err != nil {
		return err
	}
	defer top.Close()
	for _, name := range []string{"objects", "HEAD", "config"} {
		top.RemoveAll(name)
	}
	for _, dir := range []string{".", statesDir, sessionsDir} {
		entries, _ := r.dir.List(dir)
		for _, e := range entries {
			if isUnfinished(e.Name()) {
				top.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
	for _, id := range gone {
		err = errors.Join(err, top.Remove(filepath.Join(statesDir, id+".zip")))
	}
	return err
}
