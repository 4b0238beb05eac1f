package commands

import (
	"context"
	"io"
	"slices"
	"strings"
)

// helpCommands list the commands and pages.
type helpCommands struct {
	out      io.Writer
	commands func() Set
	manage   func(ctx context.Context, args ...string) error
	page     func(name string) bool
	screen   *Screen // nil without a terminal
}

// shellHelp says in the usual help how to run a shell command, at a terminal.
const shellHelp = "!COMMAND for the shell, "

func (cmd helpCommands) set() Set {
	return Set{
		{Name: "help", Aliases: []string{"?"}, Args: "[all|COMMAND|PAGE]", Run: cmd.help,
			Summary: "the usual commands, all of them, one, or a page such as usage"},
	}
}

func (cmd helpCommands) help(ctx context.Context, topic string) error {
	switch topic {
	case "":
		ls := cmd.commands().usual()
		if cmd.screen == nil {
			ls[0] = strings.Replace(ls[0], shellHelp, "", 1)
		}
		return sentences(cmd.out, ls...)
	case "all":
		ls := append(cmd.commands().synopsis("/"), "",
			"@PATH puts a file, a directory or an image into the question; a\\ b is a name with a space.",
			"!{COMMAND} inside a question is replaced by what the command prints, once you allow it.")
		if cmd.screen != nil {
			ls = append(ls, "!COMMAND runs a shell command; ! alone turns shell mode on and off.",
				"A \\ at the end of a line continues it; \"\"\" alone on a line begins and ends a block.",
				"Ctrl-C stops an answer; twice at the prompt, or Ctrl-D there, ends the session.")
		}
		return sentences(cmd.out, ls...)
	}
	return cmd.about(ctx, topic)
}

// usual returns help for a small screen: the common commands, and the names of the others, without
// commands that a project needs once.
func (s Set) usual() []string {
	ls := []string{"Type a question or a task, " + shellHelp + "@PATH to add a file, or:"}
	others := []string{"Also:"} // lines
	for _, c := range s {
		switch {
		case c.Usual:
			ls = append(ls, c.synopsis("/"))
		case !slices.Contains([]string{"help", "commands", "agents", "hooks", "setup-github"}, c.Name) && !c.Custom:
			const width = 80 // of a usual screen
			last := &others[len(others)-1]
			if len(*last)+len(" /"+c.Name) > width {
				others = append(others, " ")
				last = &others[len(others)-1]
			}
			*last += " /" + c.Name
		}
	}
	return append(append(ls, others...),
		"Ctrl-C stops an answer. /help all, /help COMMAND and /help usage say more.",
		"/commands, /hooks and /agents list what people have set up. Also: /setup-github")
}

// about prints the synopsis of the command that topic names and the page with more about it. If
// topic names no command, it prints the page of that name.
func (cmd helpCommands) about(ctx context.Context, topic string) error {
	name, slash := strings.CutPrefix(topic, "/")
	page, wanted := strings.CutSuffix(topic, " page")
	c := cmd.commands().named(name)
	if c == nil || wanted {
		return cmd.manage(ctx, append([]string{"help", "--"}, strings.Fields(page)...)...)
	}
	said := Set{c}.synopsis("/")
	if cmd.page != nil && cmd.page(name) && !slash {
		said = append(said, "More: gemline help "+name+", or /help "+name+" page here")
	}
	return sentences(cmd.out, said...)
}

// synopsis returns a line for each command that can be run.
func (s Set) synopsis(prefix string) []string {
	var ls []string
	for _, c := range s {
		if c.Run != nil || c.Prompt != nil {
			ls = append(ls, c.synopsis(prefix))
		}
		ls = append(ls, c.Sub.synopsis(prefix+c.Name+" ")...)
	}
	return ls
}

// synopsis returns a line about c alone.
func (c *Command) synopsis(prefix string) string {
	return strings.TrimSpace(prefix+c.Name+" "+c.Args) + ": " + c.Summary
}
