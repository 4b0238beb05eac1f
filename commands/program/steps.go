package program

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/repl"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/tools"
	"gemline/tools/shell"
)

// files is the step that reads what @path names.
func (f *front) files() input.Files {
	return input.Files{Workspace: f.workspace, Notify: f.notify, Search: f.settings.FileSearch,
		Read: func(ctx context.Context, paths []string) ([]*genai.Part, error) {
			parts, skipped, err := tools.ReadMany(ctx, f.workspace, f.secrets, paths, f.memory.Discover)
			for _, sk := range skipped {
				if sk.Path == "" {
					f.notify(sk.Reason)
					continue
				}
				f.notify(fmt.Sprintf("%s is not read: %s", f.workspace.Rel(sk.Path), sk.Reason))
			}
			return parts, err
		}}
}

// recall is the step that reads the context files, before the first prompt
// needs them.
func (f *front) recall(next input.Processor) input.Processor {
	return func(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
		f.memory.Contents()
		return next(ctx, parts)
	}
}

// shellStep is the step for the commands that the user runs.
func (f *front) shellStep(screen *repl.Screen) *input.Shell {
	out := screen.Out
	return &input.Shell{
		Notify: func(text string) { out.Line(output.Info, "%s", text) },
		Add: func(ctx context.Context, parts ...*genai.Part) error {
			f.memory.Contents()
			return f.engine.Add(ctx, parts...)
		},
		Run: func(ctx context.Context, command string) (string, error) {
			if shown := output.Escape(command); shown != command { // pasted, perhaps
				out.Line(output.Warning, "the command has invisible characters: %s", output.EscapeLine(command))
			}
			o := f.runOwn(ctx, screen, command)
			out.Fresh()
			if status := o.Status(); status != "" {
				out.Line(output.Result, "%s", status)
			}
			return o.Shown(), nil
		},
	}
}

// runOwn runs a command of the user's, which has the terminal to itself where
// there is one.
func (f *front) runOwn(ctx context.Context, screen *repl.Screen, command string) (o shell.Outcome) {
	c := shell.Command{Text: command, Dir: f.paths.Cwd, Settings: f.shell, Jobs: f.jobs}
	lent := isTerminal(f.os.Stdout) && screen.Through(func(connect repl.Connect, show func([]byte)) {
		own := c
		own.Settings.Inactivity, own.Settings.Timeout = 0, 0 // who runs an editor may think
		own.Terminal = &shell.Terminal{Connect: connect, Show: show}
		o = shell.Run(ctx, own)
	})
	if !lent {
		c.Output = screen.Out.Text
		o = shell.Run(ctx, c)
	}
	return o
}

// substitute runs a command that the user put into a prompt: judged and asked
// about like a call of the model's.
func (f *front) substitute(printer *repl.Printer) func(context.Context, string) (string, error) {
	return func(ctx context.Context, command string) (string, error) {
		printer.Begin(time.Now())
		result, err := f.engine.Do(ctx, "run_shell_command", map[string]any{"command": command}, func(ev engine.Event) error {
			printer.Print(ev, time.Now())
			return nil
		})
		switch {
		case errors.Is(err, context.Canceled): // no more words than that
			return "", err
		case err != nil:
			return "", errors.New(engine.DisplayError(err))
		}
		return result.Display, nil
	}
}
