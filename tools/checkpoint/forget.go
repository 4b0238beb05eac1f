package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gemline/tools/checkpoint/shadow"
)

// longestCollect is how long what nobody needs is looked for. What is not found in that
// time is found the next time.
const longestCollect = 10 * time.Second

// A Store is a repository in which the states of sessions are kept, by its directory. ""
// is none.
type Store string

// Drop drops what was kept for a session. [Store.Collect] makes room then.
func (s Store) Drop(session string) error {
	return s.with(func(r *shadow.Repo) error { return r.DropRef(session) })
}

// Collect removes what is kept for no session any more. It ends in time, whatever there
// is.
func (s Store) Collect() error {
	return s.with(func(r *shadow.Repo) error {
		ctx, cancel := context.WithTimeout(context.Background(), longestCollect)
		defer cancel()
		if err := r.Collect(ctx); !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return nil
	})
}

// Strays returns the sessions that something is kept for and that are not there any more,
// by what they are called, if nothing was kept for them since a time.
func (s Store) Strays(there []string, since time.Time) (ids []string, err error) {
	err = s.with(func(r *shadow.Repo) error {
		all, err := r.Refs()
		for _, ref := range all {
			if ref.Changed.Before(since) && !slices.Contains(there, ref.Name) {
				ids = append(ids, ref.Name)
			}
		}
		return err
	})
	slices.Sort(ids)
	return ids, err
}

// with does something with the repository, if there is one.
func (s Store) with(do func(r *shadow.Repo) error) error {
	if s == "" {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(string(s), "config")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	r, err := shadow.Create(string(s), shadow.OS{})
	if err != nil {
		return err
	}
	defer r.Close()
	return do(r)
}
