package front

import (
	"context"
	"io"
	"slices"

	"gemline/commands/cli"
	"gemline/settings/extension"
)

// begin begins them, once. What becomes of them is told as it comes.
func (u *updates) begin(ctx context.Context, i *interactive) {
	u.once.Do(func() {
		if !slices.ContainsFunc(i.opts.ActiveExtensions(), func(x extension.Extension) bool { return x.Install.AutoUpdate }) {
			return
		}
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // a turn's end is not theirs
		u.cancel = cancel
		out := &cli.Output{Out: io.Discard, Notify: func(text string) {
			i.screen.Show(func() { i.frontend.run.Status.PrintInfo(text) })
		}}
		things := things(i.opts, sessionProject{i.frontend}, i.frontend.run.notify)
		u.done.Go(func() {
			defer u.panic.Catch()
			cli.Run(ctx, out, &cli.Asker{}, []string{"extensions", "update", "--unasked"}, things...)
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
