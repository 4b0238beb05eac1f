package commands

import (
	"context"
	"encoding/csv"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/repl/markdown"
)

func again() *Command {
	return &Command{Name: "again", Summary: "show the last answer once more",
		Run: func(_ context.Context, app *App, _ string) error {
			text := lastAnswer(app.Engine)
			switch {
			case text == "":
				return unavailable("there is no answer yet")
			case app.Screen == nil:
				return lines(app.Out, text)
			}
			app.Screen.Answer(text)
			return nil
		}}
}

func copying() *Command {
	return &Command{Name: "copy", Summary: "put the last answer on the clipboard",
		Run: func(ctx context.Context, app *App, _ string) error {
			return app.copies(ctx, lastAnswer(app.Engine), "there is no answer to copy yet")
		}}
}

// copies puts text on the clipboard, or says that there is none.
func (app *App) copies(ctx context.Context, text, none string) error {
	switch {
	case app.Copy == nil:
		return unavailable("there is no clipboard here")
	case text == "":
		return unavailable("%s", none)
	}
	how, err := app.Copy(ctx, text)
	if err != nil {
		return err
	}
	return sentences(app.Out, fmt.Sprintf("copied %d bytes %s", len(text), how))
}

// lastAnswer returns the text and the code of the model's last message that has any.
func lastAnswer(e *engine.Engine) string {
	history := e.History()
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].Role != genai.RoleModel {
			continue
		}
		text := ""
		for _, p := range history[i].Parts {
			if p != nil && !p.Thought {
				text += p.Text + engine.Code(p)
			}
		}
		if text != "" {
			return text
		}
	}
	return ""
}

func last() *Command {
	return &Command{Name: "last", Summary: "the last answer once more, or parts of it", Run: lastAll, Sub: Set{
		{Name: "csv", Summary: "its last table as comma-separated values", Run: lastTable},
	}}
}

func lastAll(ctx context.Context, app *App, _ string) error {
	return again().Run(ctx, app, "")
}

func lastTable(_ context.Context, app *App, _ string) error {
	tables := markdown.Tables(lastAnswer(app.Engine))
	if len(tables) == 0 {
		return unavailable("there is no table in the last answer")
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	if err := w.WriteAll(tables[len(tables)-1]); err != nil {
		return err
	}
	return lines(app.Out, strings.TrimSuffix(b.String(), "\n"))
}

// summaryPrompt is what the model is asked for.
const summaryPrompt = `Sum up in plain sentences, ten at the most, what has happened in this conversation so far: what I asked for, what you found out and changed (name the files and commands), what went wrong, and what is still open. Do nothing else, and call no tools.`

func brief() *Command {
	return &Command{Name: "brief", Summary: "ask the model what has happened so far",
		Prompt: func(_ context.Context, app *App, _, _ string) ([]*genai.Part, error) {
			if lastAnswer(app.Engine) == "" {
				return nil, unavailable("nothing has happened yet")
			}
			return []*genai.Part{genai.NewPartFromText(summaryPrompt)}, nil
		}}
}
