package commands

import (
	"context"
	"io"
)

// memoryCommands are about context files.
type memoryCommands struct {
	c   *Conversation
	out io.Writer
}

func (cmd memoryCommands) set() Set {
	return Set{
		{Name: "init", Args: "[WORDS]", Summary: "have the model look at the project and write GEMINI.md", Prompt: cmd.initialize},
		{Name: "memory", Usual: true, Run: cmd.listMemory,
			Summary: "name the context files (GEMINI.md) that the model is given", Sub: Set{
				{Name: "show", Summary: "print the context files", Run: cmd.showMemory},
				{Name: "list", Summary: "name the context files", Run: cmd.listMemory},
				{Name: "refresh", Aliases: []string{"reload"}, Run: cmd.refreshMemory,
					Summary: "read the context files again, for the next request"},
				{Name: "add", Args: "TEXT", Summary: "append a line to your own GEMINI.md, for the next request", Run: cmd.addMemory},
			}},
	}
}

func (cmd memoryCommands) showMemory(_ context.Context, _ string) error {
	return lines(cmd.out, cmd.c.Memory.Contents().Show())
}

func (cmd memoryCommands) listMemory(_ context.Context, _ string) error {
	return sentences(cmd.out, cmd.c.Memory.Contents().List())
}

func (cmd memoryCommands) refreshMemory(ctx context.Context, _ string) error {
	c := cmd.c.Memory.Reload()
	cmd.c.Engine.RefreshOpening(ctx)
	return sentences(cmd.out, c.Reloaded())
}

func (cmd memoryCommands) addMemory(_ context.Context, text string) error {
	if text == "" {
		return misused("what shall be remembered? /memory add TEXT")
	}
	path, err := cmd.c.Memory.Add(text)
	if err != nil {
		return err
	}
	return sentences(cmd.out, "added to "+path)
}
