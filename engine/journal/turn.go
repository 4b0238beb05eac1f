package journal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/steer"
	"gemline/engine/text"
)

// A Turn is a message of the user with the model's answers, between its calls and at the end.
type Turn struct {
	From, To         int // indexes in the history: the first message, and after the last message
	Question, Answer string
}

// Turns returns the turns of a history, without the opening message and notes of the program.
func Turns(history []*genai.Content) (all []Turn) {
	for i, c := range history {
		said := words(c)
		switch {
		case !HasWords(c):
		case steer.HintLines(said) != "" && len(all) > 0:
			all[len(all)-1].Question += "\n" + steer.HintLines(said)
		case c.Role == genai.RoleUser && len(all) > 0 && all[len(all)-1].Answer == "" && !slices.ContainsFunc(history[all[len(all)-1].From:i], engine.HasCalls):
			all[len(all)-1].Question = said
		case c.Role == genai.RoleUser:
			all = append(all, Turn{From: i, Question: said})
		case len(all) > 0:
			last := &all[len(all)-1]
			last.Answer = strings.TrimSpace(last.Answer + "\n\n" + said)
		}
		if len(all) > 0 {
			all[len(all)-1].To = i + 1
		}
	}
	return all
}

// HasWords reports whether a message has text of the user or the model.
func HasWords(c *genai.Content) bool {
	said := words(c)
	return said != "" && !engine.HasAnswers(c) && engine.NoteText(said) == ""
}

// Introduction describes a resumed conversation: its subject, age and length.
func (c *LoadedSession) Introduction(now time.Time) string {
	return fmt.Sprintf("resumed: %s (%s, %s)", c.Title, strings.ToLower(text.Ago(c.Updated, now)),
		text.Count(len(Turns(c.Transcript)), "turn"))
}
