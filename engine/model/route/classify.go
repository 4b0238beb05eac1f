package route

import (
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
)

// Threshold is the complexity score from which on the larger model answers.
const Threshold = 90

//go:embed score.md
var scoreDoc string

//go:embed choice.md
var choiceDoc string

// scoreSchema is the schema for answers of the classifier for newer models.
var scoreSchema = json.RawMessage(`{"type":"object","properties":{"complexity_reasoning":{"type":"string"},` +
	`"complexity_score":{"type":"integer","minimum":1,"maximum":100}},` +
	`"required":["complexity_reasoning","complexity_score"]}`)

// choiceSchema is the schema for answers of the classifier for older models.
var choiceSchema = json.RawMessage(`{"type":"object","properties":{"reasoning":{"type":"string"},` +
	`"model_choice":{"type":"string","enum":["flash","pro"]}},"required":["reasoning","model_choice"]}`)

// A grade is the difficulty of a prompt, in the form of either classifier: a recording may be
// from the other classifier.
type grade struct {
	Score int // 0 if there is a choice instead
	Hard  bool
}

// UnmarshalJSON implements [json.Unmarshaler]. A value that is no score and no choice is an error.
func (g *grade) UnmarshalJSON(b []byte) error {
	var v struct {
		Score  float64 `json:"complexity_score"`
		Choice string  `json:"model_choice"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	switch {
	case v.Score >= 1 && v.Score <= 100:
		*g = grade{Score: int(v.Score), Hard: v.Score >= Threshold}
	case v.Choice == "flash" || v.Choice == "pro":
		*g = grade{Hard: v.Choice == "pro"}
	default:
		return errors.New("no score from 1 to 100, and no choice")
	}
	return nil
}

// longest is how much of a message a classifier reads, in bytes: it must be fast, and the
// difficulty of a task does not depend on the end of a paste.
const longest = 8 << 10

// excerpt returns the prompt's texts after recent texts: from the last within messages, the last
// keep messages without calls.
func excerpt(history []*genai.Content, within, keep int, prompt []*genai.Part) (all []*genai.Content) {
	history = history[max(0, len(history)-within):]
	for _, c := range history {
		if text := textOf(c.Parts); text != "" && !engine.HasCalls(c) && !engine.HasAnswers(c) {
			all = append(all, genai.NewContentFromText(text, genai.Role(c.Role)))
		}
	}
	all = all[max(0, len(all)-keep):]
	return append(all, genai.NewContentFromText(textOf(prompt), genai.RoleUser))
}

// textOf returns the text of parts, cut in the middle if it is long.
func textOf(parts []*genai.Part) string {
	s := engine.TextOf(parts)
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest/2], "") + "\n[...]\n" + strings.ToValidUTF8(s[len(s)-longest/2:], "")
}
