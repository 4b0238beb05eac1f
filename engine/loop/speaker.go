package loop

import (
	"context"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model/oneshot"
)

// mostContinued is how often a model is told to continue for one prompt. It is the Gemini CLI's
// limit for turns without user input.
const mostContinued = 100

var speakerSchema = map[string]any{"type": "object",
	"properties": map[string]any{
		"reasoning":    map[string]any{"type": "string", "description": "Why it is this one's turn, in a sentence."},
		"next_speaker": map[string]any{"type": "string", "enum": []string{"user", "model"}},
	},
	"required": []string{"reasoning", "next_speaker"}}

const speakerQuestion = "Look at your last message alone, and decide who speaks next. It is the model if that " +
	"message announces what you will do next and does not do it, or breaks off in the middle. It is the user if the " +
	"message asks the user something, or says all that there is to say."

// Continue returns a Run around run. After each message asker judges whether the model has
// finished; if not, the model is told to continue. Without a judgement it is the user's turn.
// History returns the conversation.
func Continue(run engine.Run, asker *oneshot.Asker, history func() []*genai.Content) engine.Run {
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		left := false
		tell := func(ev engine.Event) { left = left || !yield(ev, nil) }
		for range mostContinued + 1 {
			for ev, err := range run(ctx, parts...) {
				if !yield(ev, err) || err != nil {
					return
				}
			}
			if !modelNext(ctx, asker, history(), tell) || left {
				return
			}
			parts = []*genai.Part{{Text: engine.MidTurnNote("Please continue.")}}
		}
	})
}

// modelNext reports whether it is the model's turn.
func modelNext(ctx context.Context, asker *oneshot.Asker, history []*genai.Content, tell func(engine.Event)) bool {
	if len(history) == 0 {
		return false
	}
	last := history[len(history)-1]
	switch {
	case engine.HasAnswers(last):
		return true
	case last.Role != genai.RoleModel:
		return false
	case len(last.Parts) == 0:
		return true
	}
	var answer struct {
		Next string `json:"next_speaker"`
	}
	contents := append(history[:len(history):len(history)], genai.NewContentFromText(speakerQuestion, genai.RoleUser))
	question := oneshot.Question{Purpose: "next-speaker-checker", Contents: contents, Tell: tell}
	err := asker.JSON(ctx, question, speakerSchema, &answer)
	return err == nil && answer.Next == "model"
}
