package commands

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/repl/markdown"
)

// answerCommands are about the answers of the model.
type answerCommands struct {
	c       *Conversation
	out     io.Writer
	screen  *Screen
	copy    func(ctx context.Context, text string) (how string, err error)
	restart func(context.Context) (*Conversation, error)
}

func (cmd answerCommands) set() Set {
	return Set{
		{Name: "again", Summary: "show the last answer once more", Run: cmd.retry},
		{Name: "brief", Summary: "ask the model what has happened so far", Prompt: cmd.brief},
		{Name: "copy", Summary: "put the last answer on the clipboard", Run: cmd.copyLast},
		{Name: "last", Summary: "the last answer once more, or parts of it", Run: cmd.retry, Sub: Set{
			{Name: "csv", Summary: "its last table as comma-separated values", Run: cmd.lastTable},
		}},
		{Name: "plan", Args: "[TEXT|copy]", Complete: words("copy"), Typed: true, Prompt: cmd.plan,
			Summary: "change to plan mode and show the plan, or with text ask for one; copy it to the clipboard"},
	}
}

func (cmd answerCommands) retry(_ context.Context, _ string) error {
	text := lastAnswer(cmd.c.Engine)
	switch {
	case text == "":
		return unavailable("there is no answer yet")
	case cmd.screen == nil:
		return lines(cmd.out, text)
	}
	cmd.screen.Answer(text)
	return nil
}

func (cmd answerCommands) copyLast(ctx context.Context, _ string) error {
	return cmd.copyText(ctx, lastAnswer(cmd.c.Engine), "there is no answer to copy yet")
}

// copyText puts text on the clipboard. If text is empty, it returns the error none.
func (cmd answerCommands) copyText(ctx context.Context, text, none string) error {
	switch {
	case cmd.copy == nil:
		return unavailable("there is no clipboard here")
	case text == "":
		return unavailable("%s", none)
	}
	how, err := cmd.copy(ctx, text)
	if err != nil {
		return err
	}
	return sentences(cmd.out, fmt.Sprintf("copied %d bytes %s", len(text), how))
}

// lastAnswer returns the text and the code of the model's last message that has text or code.
func lastAnswer(e *engine.Engine) string {
	history := e.History()
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].Role != genai.RoleModel {
			continue
		}
		text := ""
		for _, p := range history[i].Parts {
			if p != nil && !p.Thought {
				text += p.Text + engine.CodeText(p)
			}
		}
		if text != "" {
			return text
		}
	}
	return ""
}

func (cmd answerCommands) lastTable(_ context.Context, _ string) error {
	tables := markdown.Tables(lastAnswer(cmd.c.Engine))
	if len(tables) == 0 {
		return unavailable("there is no table in the last answer")
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	if err := w.WriteAll(tables[len(tables)-1]); err != nil {
		return err
	}
	return lines(cmd.out, strings.TrimSuffix(b.String(), "\n"))
}

// summaryPrompt is what the model is asked for.
const summaryPrompt = `Sum up in plain sentences, ten at the most, what has happened in this conversation so far: what I asked for, what you found out and changed (name the files and commands), what went wrong, and what is still open. Do nothing else, and call no tools.`

func (cmd answerCommands) brief(_ context.Context, _, _ string) ([]*genai.Part, error) {
	if lastAnswer(cmd.c.Engine) == "" {
		return nil, unavailable("nothing has happened yet")
	}
	return []*genai.Part{genai.NewPartFromText(summaryPrompt)}, nil
}
