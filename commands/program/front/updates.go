package front

import (
	"context"
	"io"
	"slices"
	"sync"

	"gemline/commands/cli"
	"gemline/commands/program/project"
	"gemline/engine/parallel"
	"gemline/settings/extension"
)

// updates update the extensions that the user has installed with --auto-update. They run in the
// background from the first prompt on, so they delay no start.
type updates struct {
	once   sync.Once
	cancel context.CancelFunc
	done   sync.WaitGroup
	panic  parallel.Panic
}

// begin starts the updates, once. Tell prints the outcome, and deps returns the dependencies of the
// update sub-command.
func (u *updates) begin(ctx context.Context, o *project.Options, tell func(string), deps func() []any) {
	u.once.Do(func() {
		if !slices.ContainsFunc(o.ActiveExtensions(), func(x extension.Extension) bool { return x.Install.AutoUpdate }) {
			return
		}
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // they outlive the turn
		u.cancel = cancel
		out, all := &cli.Output{Out: io.Discard, Notify: tell}, deps()
		u.done.Go(func() {
			defer u.panic.Catch()
			cli.Run(ctx, out, &cli.Asker{}, []string{"extensions", "update", "--unasked"}, all...)
		})
	})
}

// end ends the updates. An unfinished update leaves the old version unchanged.
func (u *updates) end() {
	if u.cancel == nil {
		return
	}
	u.cancel()
	u.done.Wait()
	u.panic.Raise()
}
