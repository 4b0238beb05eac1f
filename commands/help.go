package commands

import (
	"context"
	"strings"

	"google.golang.org/genai"
)

func help() *Command {
	return &Command{Name: "help", Args: "[TOPIC]", Summary: "this list; with a topic, such as usage, a page of the documentation; with a command, what it can do",
		Run: func(ctx context.Context, app *App, topic string) ([]*genai.Part, error) {
			if topic != "" {
				return nil, app.about(ctx, topic)
			}
			ls := []string{
				"Type a question or a task, or one of:",
				"",
			}
			ls = append(ls, app.Commands.synopsis("/")...)
			ls = append(ls,
				"",
				"!COMMAND runs a shell command; ! alone turns shell mode on and off.",
				"@PATH puts a file, a directory or an image into the question; a\\ b is a name with a space.",
				"!{COMMAND} inside a question is replaced by what the command prints, once you allow it.",
				"A \\ at the end of a line continues it; \"\"\" alone on a line begins and ends a block.",
				"Ctrl-C stops an answer, and leaves when pressed twice at the prompt; so does Ctrl-D.",
			)
			return nil, sentences(app.Out, ls...)
		}}
}

// about prints the page that topic names or, where there is none, what the
// command of that name can do.
func (app *App) about(ctx context.Context, topic string) error {
	name, slash := strings.CutPrefix(topic, "/")
	c := app.Commands.named(name)
	if app.Manage != nil && (c == nil || !slash) {
		err := app.Manage(ctx, append([]string{"help", "--"}, strings.Fields(topic)...)...)
		if err == nil || c == nil {
			return err
		}
	}
	if c == nil {
		return misused("no topic %q", topic)
	}
	return sentences(app.Out, Set{c}.synopsis("/")...)
}

// synopsis returns a line for each command that can be run.
func (s Set) synopsis(prefix string) []string {
	var ls []string
	for _, c := range s {
		name := prefix + c.Name
		if c.Run != nil {
			ls = append(ls, strings.TrimSpace(name+" "+c.Args)+": "+c.Summary)
		}
		ls = append(ls, c.Sub.synopsis(name+" ")...)
	}
	return ls
}
