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

// A Turn is something the user said, and what the model said to that, between its
// calls and at the end.
type Turn struct {
	From, To         int // its messages in the history: the first one, and behind the last one
	Question, Answer string
}

// Turns returns what was said in a history. Neither the opening message was, nor
// notes that go to the model with the next question.
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

// HasWords reports whether a message has words that somebody has said.
func HasWords(c *genai.Content) bool {
	said := words(c)
	return said != "" && !engine.HasAnswers(c) && engine.NoteText(said) == ""
}

// Introduction says what a conversation that is gone on with is about, how old it is and how
// long.
func (c *LoadedSession) Introduction(now time.Time) string {
	return fmt.Sprintf("resumed: %s (%s, %s)", c.Title, strings.ToLower(Ago(c.Updated, now)),
		text.Count(len(Turns(c.History)), "turn"))
}
