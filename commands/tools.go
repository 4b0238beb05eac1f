package commands

import (
	"context"
	"io"

	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/text"
)

// toolCommands are about the tools that the model is offered.
type toolCommands struct {
	c   *Conversation
	out io.Writer
}

func (cmd toolCommands) set() Set {
	return Set{{Name: "tools", Summary: "the tools the model is offered", Run: cmd.listTools, Sub: Set{
		{Name: "list", Summary: "the names of the tools", Run: cmd.listTools},
		{Name: "desc", Aliases: []string{"descriptions"}, Summary: "with their descriptions", Run: cmd.describeTools},
	}}}
}

func (cmd toolCommands) listTools(_ context.Context, _ string) error {
	offered := lists.Filter(cmd.c.Tools.Tools(), cmd.c.Policy.Offers)
	return sentences(cmd.out, lists.Map(offered, func(t engine.Tool) string { return t.Name() + " (" + t.Label + ")" })...)
}

func (cmd toolCommands) describeTools(_ context.Context, _ string) error {
	var ls []string
	for _, t := range lists.Filter(cmd.c.Tools.Tools(), cmd.c.Policy.Offers) {
		ls = append(ls, t.Name()+": "+text.Words(t.Declaration.Description), "")
	}
	return sentences(cmd.out, ls[:max(0, len(ls)-1)]...)
}
