package commands

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/genai"

	"gemline/commands/custom"
	"gemline/repl/input"
)

// Customs are the commands that people have written, beside those that come with the
// program. They are read when a command is first looked for, and again by
// /commands reload.
type Customs struct {
	Dirs   func() []custom.Dir // where they are, later ones before earlier ones
	Notify func(string)
	World  custom.World

	// Narrow has only some tools be called until the answer is whole.
	Narrow func(name string, only custom.Only)

	mu    sync.Mutex
	read  bool
	found []custom.Command
	notes []string // what is wrong with the files, not told yet
}

// Commands returns all commands that there are at the moment. It tells nothing, since a
// line may be half typed.
func (cs *Customs) Commands() Set {
	set := Builtin()
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if !cs.read {
		cs.found, cs.notes = custom.Load(cs.Dirs(), func(name string) bool { return set.named(name) != nil || isAbsent(name) })
		cs.read = true
	}
	for _, c := range cs.found {
		set = append(set, &Command{Name: c.Name, Aliases: c.Others, Args: c.Arguments, Summary: c.Description, Custom: true,
			Prompt: func(ctx context.Context, _ *App, line, args string) ([]*genai.Part, error) {
				parts, err := c.Expand(ctx, custom.Invocation{Line: line, Args: args}, cs.World)
				if err == nil && len(parts) == 0 {
					err = &input.Error{Message: "/" + c.Name + ": the prompt in " + c.File + " is empty"}
				}
				if err == nil && c.Only != nil {
					cs.Narrow(c.Name, c.Only)
				}
				return parts, err
			}})
	}
	return set
}

// tell says what is wrong with the files, once.
func (cs *Customs) tell() {
	cs.mu.Lock()
	notes := cs.notes
	cs.notes = nil
	cs.mu.Unlock()
	for _, note := range notes {
		cs.Notify(note)
	}
}

// reload has the files read again.
func (cs *Customs) reload() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.read = false
}

// customs returns /commands.
func customs() *Command {
	list := func(_ context.Context, app *App, _ string) error {
		if len(app.Customs.found) == 0 {
			return lines(app.Out, "there are no custom commands; gemline help custom-commands says how to write one")
		}
		for _, c := range app.Customs.found {
			name := "/" + c.Name
			if c.Arguments != "" {
				name += " " + c.Arguments
			}
			if err := lines(app.Out, name+": "+c.Description, "  "+c.File); err != nil {
				return err
			}
		}
		return nil
	}
	return &Command{Name: "commands", Summary: "list the commands that you or the project have written, or read them again", Run: list, Sub: Set{
		{Name: "list", Summary: "list them, and their files", Run: list},
		{Name: "reload", Aliases: []string{"refresh"}, Summary: "read their files again", Run: func(ctx context.Context, app *App, _ string) error {
			app.Customs.reload()
			app.Commands()
			app.Customs.tell()
			return lines(app.Out, fmt.Sprintf("custom commands: %d", len(app.Customs.found)))
		}},
	}}
}

// isAbsent reports whether a name is a command of the Gemini CLI's that is answered here.
func isAbsent(name string) bool { return answerAbsent(name) != nil }
