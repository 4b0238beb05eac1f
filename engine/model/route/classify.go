package route

import (
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
)

// Threshold is the complexity from which on the larger model answers.
const Threshold = 90

//go:embed score.md
var scoreDoc string

//go:embed choice.md
var choiceDoc string

// A grade is how the classifier of the newer models answers.
type grade struct {
	Score int
}

var scoreSchema = json.RawMessage(`{"type":"object","properties":{"complexity_reasoning":{"type":"string"},` +
	`"complexity_score":{"type":"integer","minimum":1,"maximum":100}},` +
	`"required":["complexity_reasoning","complexity_score"]}`)

// UnmarshalJSON implements [json.Unmarshaler]. What is no score is an error.
func (s *grade) UnmarshalJSON(b []byte) error {
	var v struct {
		Reasoning *string `json:"complexity_reasoning"`
		Score     int     `json:"complexity_score"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	if v.Reasoning == nil || v.Score < 1 || v.Score > 100 {
		return errors.New("no score from 1 to 100")
	}
	s.Score = v.Score
	return nil
}

// A choice is how the classifier of older models answers.
type choice struct {
	Model string
}

var choiceSchema = json.RawMessage(`{"type":"object","properties":{"reasoning":{"type":"string"},` +
	`"model_choice":{"type":"string","enum":["flash","pro"]}},"required":["reasoning","model_choice"]}`)

// UnmarshalJSON implements [json.Unmarshaler]. What is no choice is an error.
func (c *choice) UnmarshalJSON(b []byte) error {
	var v struct {
		Reasoning *string `json:"reasoning"`
		Model     string  `json:"model_choice"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	if v.Reasoning == nil || v.Model != "flash" && v.Model != "pro" {
		return errors.New("no choice")
	}
	c.Model = v.Model
	return nil
}

// longest is how much of one message a classifier reads, in bytes: it has to be quick,
// and how hard a task is does not depend on the end of a paste.
const longest = 8 << 10

// excerpt returns the texts that were said last and those of the prompt: of the last
// within messages, those without calls, and of these the last keep.
func excerpt(history []*genai.Content, within, keep int, prompt []*genai.Part) (all []*genai.Content) {
	history = history[max(0, len(history)-within):]
	for _, c := range history {
		if text := textOf(c.Parts); text != "" && !engine.Calls(c) && !engine.Answers(c) {
			all = append(all, genai.NewContentFromText(text, genai.Role(c.Role)))
		}
	}
	all = all[max(0, len(all)-keep):]
	return append(all, genai.NewContentFromText(textOf(prompt), genai.RoleUser))
}

// textOf returns what parts say, cut in the middle if it is long.
func textOf(parts []*genai.Part) string {
	s := engine.Words(parts)
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest/2], "") + "\n[...]\n" + strings.ToValidUTF8(s[len(s)-longest/2:], "")
}
