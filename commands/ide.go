package commands

import (
	"context"
)

// ide is /ide, which is about the editor that the terminal belongs to.
func (cmd screenCommands) ide() *Command {
	run := func(word string) func(context.Context, string) error {
		return func(ctx context.Context, _ string) error {
			if cmd.editor == nil {
				return errNoScreen
			}
			said, err := cmd.editor(ctx, word)
			if err != nil {
				return err
			}
			return sentences(cmd.out, said)
		}
	}
	return &Command{Name: "ide", Summary: "the editor that this terminal belongs to, and its companion", Run: run("status"), Sub: Set{
		{Name: "status", Summary: "say whether there is a connection, and list the editor's open files", Run: run("status")},
		{Name: "enable", Summary: "connect, now and in later sessions", Run: run("enable")},
		{Name: "disable", Summary: "end the connection, and have none in later sessions", Run: run("disable")},
		{Name: "install", Summary: "say how the editor gets a companion", Run: run("install")},
	}}
}
