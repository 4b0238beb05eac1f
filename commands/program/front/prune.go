package front

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"gemline/commands/cli"
	"gemline/engine/journal"
	"gemline/engine/text"
)

// prune deletes the ended session if the user wants that, and then old sessions by the settings. It
// prints how many it has deleted.
func (f *frontend) prune() {
	shelf := cli.SessionStorage(f.run.store)
	if f.discard {
		switch err := shelf.Remove(f.session.Journal.File.ID()); {
		case err == nil:
			f.session.Project.Status.PrintInfo("the session is deleted")
		case !errors.Is(err, fs.ErrNotExist): // the session wrote no file
			f.notify(err.Error())
		}
	}
	if !f.opts.Settings.Retention || f.run.store.Temp == "" {
		return
	}
	r, err := cli.Retention(f.opts.Settings)
	if err != nil { // the warnings about the settings print the error
		return
	}
	sessions, err := journal.List(shelf.Chats)
	if err == nil {
		old, newer := r.Expired(sessions, time.Now())
		old = slices.DeleteFunc(old, func(s journal.Session) bool { return s.ID == f.session.Journal.File.ID() })
		var strays []string
		if strays, err = cli.Strays(f.run.store, sessions, r); err == nil {
			err = cli.Forget(f.run.store, strays)
		}
		gone, perr := shelf.Prune(old)
		err = cmp.Or(err, perr)
		if old = gone; len(old) > 0 {
			f.session.Project.Status.PrintInfo(fmt.Sprintf("%s deleted, as general.sessionRetention wants", text.Count(len(old), "old session")))
		}
		if len(newer) > 0 {
			f.session.Project.Status.PrintInfo(cli.LeftOut(newer))
		}
	}
	if err != nil {
		f.notify(fmt.Sprintf("old sessions are not deleted: %v", err))
	}
}
