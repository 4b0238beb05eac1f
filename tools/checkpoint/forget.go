package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"os"
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
	return s.with(func(r *repo) error { return r.dropRef(session) })
}

// Collect removes what is kept for no session any more. It ends in time, whatever there
// is.
func (s Store) Collect() error {
	return s.with(func(r *repo) error {
		ctx, cancel := context.WithTimeout(context.Background(), longestCollect)
		defer cancel()
		if err := r.collect(ctx); !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return nil
	})
}

// Strays returns the sessions that something is kept for and that are not there any more,
// by what they are called, if nothing was kept for them since a time.
func (s Store) Strays(there []string, since time.Time) (ids []string, err error) {
	err = s.with(func(r *repo) error {
		all, err := r.refs()
		for _, ref := range all {
			if ref.changed.Before(since) && !slices.Contains(there, ref.name) {
				ids = append(ids, ref.name)
			}
		}
		return err
	})
	slices.Sort(ids)
	return ids, err
}

// with does something with the repository, if there is one.
func (s Store) with(do func(r *repo) error) error {
	if s == "" {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(string(s), formFile)); errors.Is(err, fs.ErrNotExist) && !former(string(s)) {
		return nil
	}
	r, err := create(string(s), OS{})
	if err != nil {
		return err
	}
	defer r.close()
	return do(r)
}
