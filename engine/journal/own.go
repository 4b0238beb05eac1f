package journal

import (
	"strings"

	"google.golang.org/genai"
)

// blocks are the marks around text that the program or a hook adds to a message.
var blocks = []string{"session_context", "hook_context", "system_note", "activated_skill", "state_snapshot"}

const (
	summedUp = "The earlier part of this conversation was summed up." // and a snapshot follows
	attached = "--- Content from referenced files ---"
	circling = "System: Potential loop detected. Details: " // the Gemini CLI's advice
)

// own returns the part of a text that the user typed: without additions of hooks, skills,
// compression and the program, and without referenced files.
func own(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, summedUp) || strings.HasPrefix(text, circling) {
		return ""
	}
	text, _, _ = strings.Cut(text, attached)
	for _, name := range blocks {
		begin, end := "<"+name, "</"+name+">"
		if rest, ok := strings.CutPrefix(text, begin); ok && rest != "" && (rest[0] == '>' || rest[0] == ' ') {
			_, behind, _ := strings.Cut(rest, end) // "" if the end mark is missing
			return own(behind)
		}
		if before, ok := strings.CutSuffix(strings.TrimSpace(text), end); ok {
			if i := strings.LastIndex(before, begin); i >= 0 {
				return own(text[:i])
			}
		}
	}
	return strings.TrimSpace(text)
}

// isSnapshot reports whether a message is a snapshot of compressed messages.
func (m *message) isSnapshot() bool {
	text := m.first(strings.TrimSpace)
	return strings.HasPrefix(text, summedUp) || strings.HasPrefix(text, "<state_snapshot>")
}

// firstQuestionOf returns the first question, "" if there is none.
func firstQuestionOf(messages []*message) string {
	for _, m := range messages {
		if s := m.question(); s != "" {
			return s
		}
	}
	return ""
}

// words returns the text of a message; of a user's message, the typed part.
func words(c *genai.Content) string {
	var texts []string
	for _, p := range c.Parts {
		text := strings.TrimSpace(p.Text)
		if c.Role == genai.RoleUser && strings.HasPrefix(text, attached) {
			break
		}
		if c.Role == genai.RoleUser {
			text = asTyped(own(text))
		}
		if text != "" && !p.Thought {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}
