package front

import (
	"context"

	"google.golang.org/genai"

	"gemline/engine/lists"
	"gemline/engine/steer"
	"gemline/repl"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/tools/launch"
	"gemline/tools/shell"
)

// references is the step that reads what an @NAME refers to.
func (f *frontend) references(next input.Processor) input.Processor {
	sources := func() []input.Source {
		return []input.Source{agentReferences{f.session}, resources{f.session.Project.MCP.Servers, f.notify}, f.files()}
	}
	rs := input.References{Sources: sources, Notify: f.notify}
	if screen := f.run.screen.Load(); screen != nil {
		rs.Pasted = screen.Pasted
	}
	return rs.Step(next)
}

// loadContext is the step that reads the context files, right before the first prompt.
func (f *frontend) loadContext(next input.Processor) input.Processor {
	return func(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
		f.session.Memory.Contents()
		return next(ctx, parts)
	}
}

// shellStep is the step for the commands that the user runs.
func (i *interactive) shellStep() *input.Shell {
	return &input.Shell{
		Composed: func() string { return i.screen.Composed() },
		Notify:   func(text string) { i.screen.Console.Out.Line(output.Info, "%s", text) },
		Add: func(ctx context.Context, parts ...*genai.Part) error {
			i.frontend.session.Memory.Contents()
			return i.frontend.session.Engine.Add(ctx, parts...)
		},
		Run: func(ctx context.Context, command string) (string, error) {
			out := i.screen.Console.Out
			if shown := output.Escape(command); shown != command { // a pasted command may contain control characters
				out.Line(output.Warning, "the command has invisible characters: %s", output.EscapeLine(command))
			}
			if text := i.frontend.session.Project.Once.WithheldNotice(); text != "" {
				out.Line(output.Warning, "%s", text)
			}
			o := i.runOwn(ctx, command)
			out.Fresh()
			if status := o.Status(); status != "" {
				out.Line(output.Result, "%s", status)
			}
			return o.Shown(), nil
		},
	}
}

// runOwn runs a command of the user, which gets the whole terminal if there is a terminal.
func (i *interactive) runOwn(ctx context.Context, command string) (o shell.Outcome) {
	c := launch.Command{Text: command, Dir: i.opts.Paths.Cwd, Unconfined: true}
	lent := isTerminal(i.opts.Env.Process.Stdout) && !i.screen.Console.Sharing.IsAway() &&
		i.screen.Through(func(connect repl.Connect, show func([]byte)) {
			own := c
			own.Terminal = &shell.Terminal{Connect: connect, Show: show}
			o = i.frontend.session.Project.Launcher.Run(ctx, own)
		})
	if lent {
		i.screen.Console.Sharing.Tell(o.Output)
	} else {
		c.Output = i.screen.Console.Out.Text
		o = i.frontend.session.Project.Launcher.Run(ctx, c)
	}
	return o
}

// substitute runs a command in the user's prompt, which is judged and asked about like a call of
// the model.
func (i *interactive) substitute(ctx context.Context, command string) (string, error) {
	return i.frontend.commandOutput(ctx, command, i.show)
}

// lateHints returns the hints that came after the model's answer.
func lateHints(h *steer.Hints) []string {
	return lists.Map(h.Take(), func(h steer.Hint) string { return h.Text })
}
