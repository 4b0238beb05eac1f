package commands

import (
	"context"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine/policy"
	"gemline/engine/text"
	"gemline/repl/input"
)

func about() *Command {
	return &Command{Name: "about", Summary: "version, model, session and where things are",
		Run: func(_ context.Context, app *App, _ string) error {
			var ls []string
			for _, f := range app.About() {
				ls = append(ls, f.Name+": "+f.Value)
			}
			return sentences(app.Out, ls...)
		}}
}

func clearing() *Command {
	return &Command{Name: "clear", Usual: true, Aliases: []string{"new"},
		Summary: "forget the conversation and start another session",
		Run: func(ctx context.Context, app *App, _ string) error {
			if app.Restart == nil {
				return unavailable("/clear works in a session only")
			}
			next, err := app.Restart(ctx)
			if err != nil {
				return err
			}
			app.Conversation = next
			return sentences(app.Out, "A new session begins. The one before is kept.")
		}}
}

func compressing() *Command {
	return &Command{Name: "compress", Usual: true, Aliases: []string{"summarize", "compact"}, Args: "[WHAT TO KEEP]",
		Summary: "sum up what was said longest ago, and go on",
		Run: func(ctx context.Context, app *App, keep string) error {
			if app.Compress == nil {
				return unavailable("there is no conversation to compress here")
			}
			return app.Compress(ctx, keep)
		}}
}

func modes() *Command {
	names := make([]string, len(policy.Modes))
	for i, m := range policy.Modes {
		names[i] = string(m)
	}
	return &Command{Name: "mode", Usual: true, Args: "[" + strings.Join(names, "|") + "]",
		Summary:  "say or change what runs unasked",
		Complete: words(names...),
		Run: func(_ context.Context, app *App, word string) error {
			said, err := app.Mode(word)
			if err != nil {
				return err
			}
			return sentences(app.Out, said)
		}}
}

func plan() *Command {
	return &Command{Name: "plan", Args: "[TEXT|copy]",
		Summary:  "change to plan mode and show the plan, or with text ask for one; copy it to the clipboard",
		Complete: words("copy"), Typed: true,
		Prompt: func(ctx context.Context, app *App, _, said string) ([]*genai.Part, error) {
			plan, err := app.Plan()
			if err != nil {
				return nil, err
			}
			if said == "copy" {
				return nil, app.copies(ctx, plan.Text, "there is no plan to copy yet; /plan TEXT asks for one")
			}
			mode, err := app.Mode("plan")
			if err == nil && (said == "" || app.Restart != nil) { // else there is nothing but the answer to print
				err = sentences(app.Out, mode)
			}
			if err != nil {
				return nil, err
			}
			if said != "" {
				return []*genai.Part{genai.NewPartFromText(said)}, nil
			}
			if plan.Path == "" {
				return nil, sentences(app.Out, "there is no plan yet; /plan TEXT asks for one")
			}
			return nil, sentences(app.Out, "plan ("+plan.State()+"): "+text.EscapeLine(plan.Path),
				strings.TrimSpace(plan.Text))
		}}
}

// State says in a word or two whether the plan was approved.
func (p Plan) State() string {
	if p.Approved {
		return "approved"
	}
	return "not approved yet"
}

func stats() *Command {
	show := func(of func(app *App) []string) func(context.Context, *App, string) error {
		return func(_ context.Context, app *App, _ string) error {
			return sentences(app.Out, of(app)...)
		}
	}
	session := show(func(app *App) []string { return app.Tally.Overview(time.Now()) })
	return &Command{Name: "stats", Usual: true, Aliases: []string{"usage"},
		Summary: "what the session did and used", Run: session, Sub: Set{
			{Name: "session", Summary: "what the session did and used", Run: session},
			{Name: "model", Summary: "requests, tokens and times of each model", Run: show(func(app *App) []string { return app.Tally.Models() })},
			{Name: "tools", Summary: "calls and times of each tool", Run: show(func(app *App) []string { return app.Tally.Tools() })},
		}}
}

func todos() *Command {
	return &Command{Name: "todos", Summary: "the model's todo list, and how far it is",
		Run: func(_ context.Context, app *App, _ string) error {
			ls := app.Todos()
			if len(ls) == 0 {
				ls = []string{"there is no todo list"}
			}
			return sentences(app.Out, ls...)
		}}
}

func detaching() *Command {
	return &Command{Name: "detach", Summary: "leave this terminal, and have the session go on until gemline attach comes back to it",
		Run: func(_ context.Context, app *App, _ string) error {
			if app.Detach == nil {
				return errNoScreen
			}
			return app.Detach()
		}}
}

func quit() *Command {
	const discard = "--delete"
	return &Command{Name: "quit", Usual: true, Aliases: []string{"exit"}, Args: "[" + discard + "]",
		Summary: "leave; --delete deletes the session", Complete: words(discard),
		Run: func(_ context.Context, app *App, word string) error {
			switch {
			case word == discard && app.Discard != nil:
				app.Discard()
			case word == discard:
				return unavailable("there is no session to delete here")
			case word != "":
				return misused("/quit takes %s or nothing", discard)
			}
			return input.ErrQuit
		}}
}
