package commands

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/commands/custom"
	"gemline/engine/text"
	"gemline/repl/input"
)

// customCommands are about the commands that people have written.
type customCommands struct {
	out     io.Writer
	customs *Customs
}

// Customs are the custom commands, which stand beside the built-in commands.
type Customs struct {
	Library *custom.Library
	Notify  func(string)
	Sources custom.Sources

	// Served returns the commands of MCP servers, each with a substitute name for use if its own is
	// taken. It may be nil.
	Served func() Set

	// Narrow limits which tools may be called until the answer is complete.
	Narrow func(name string, only custom.Only)
}

// with returns set plus the custom commands. It prints nothing, since a line may be half typed.
func (cs *Customs) with(set Set) Set {
	for _, c := range cs.found() {
		set = append(set, &Command{Name: c.Name, Aliases: c.Others, Args: c.Arguments,
			Summary: c.Description, Custom: true,
			Prompt: func(ctx context.Context, line, args string) ([]*genai.Part, error) {
				parts, err := c.Expand(ctx, custom.Invocation{Line: line, Args: args}, cs.Sources)
				said := func(p *genai.Part) bool { return p.InlineData != nil || strings.TrimSpace(p.Text) != "" }
				if err == nil && !slices.ContainsFunc(parts, said) {
					form := "/%s: the prompt that %s makes is empty"
					if c.Blank() {
						form = "/%s: the prompt in %s is empty"
					}
					err = &input.Error{Message: fmt.Sprintf(form, c.Name, text.PrintableLine(c.File))}
				}
				if err == nil && c.Only != nil {
					cs.Narrow(c.Name, c.Only)
				}
				return parts, err
			}})
	}
	if cs.Served == nil {
		return set
	}
	for _, c := range cs.Served() {
		if set.named(c.Name) != nil || isAbsent(c.Name) {
			c.Name = c.Aliases[0]
		}
		if c.Aliases = nil; set.named(c.Name) == nil && !isAbsent(c.Name) {
			set = append(set, c)
		}
	}
	return set
}

// found returns the custom commands. None has the name of a built-in command.
func (cs *Customs) found() []custom.Command {
	set := Builtin(&Deps{})
	return cs.Library.Commands(func(name string) bool { return set.named(name) != nil || isAbsent(name) })
}

// sent warns that a line which looks like a command goes to the model, since it is neither a
// command nor a path.
func (cs *Customs) sent(line string) {
	words := strings.Fields(line)
	if cs.Notify == nil || len(words) == 0 || strings.ContainsAny(words[0], "/.") {
		return
	}
	if _, err := os.Lstat("/" + words[0]); err != nil {
		cs.Notify("there is no command /" + text.PrintableLine(words[0]) + "; sent as text")
	}
}

// report prints each fault of the files once. It leaves out the fault of the file of the command
// but.
func (cs *Customs) report(but string) {
	text.Each(cs.Library.Notes(but), cs.Notify)
}

func (cmd customCommands) set() Set {
	list := func(_ context.Context, _ string) error {
		found := cmd.customs.found()
		cmd.customs.report("")
		if len(found) == 0 {
			return sentences(cmd.out, "there are no custom commands; gemline help custom-commands says how to write one")
		}
		for _, c := range found {
			name := "/" + c.Name
			if c.Arguments != "" {
				name += " " + c.Arguments
			}
			if err := sentences(cmd.out, name+": "+c.Description, "  "+text.PrintableLine(c.File)); err != nil {
				return err
			}
		}
		return nil
	}
	summary := "list the commands that you or the project have written, or read them again"
	return Set{{Name: "commands", Summary: summary, Run: list, Sub: Set{
		{Name: "list", Summary: "list them, and their files", Run: list},
		{Name: "reload", Aliases: []string{"refresh"}, Summary: "read their files again",
			Run: func(_ context.Context, _ string) error {
				cmd.customs.Library.Forget()
				found := cmd.customs.found()
				cmd.customs.report("")
				return sentences(cmd.out, fmt.Sprintf("custom commands: %d", len(found)))
			}},
	}}}
}

// isAbsent reports whether a name is a command of the Gemini CLI that gemline lacks but answers.
func isAbsent(name string) bool { return answerAbsent(name) != nil }
