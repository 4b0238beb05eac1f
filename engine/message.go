package engine

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/genai"
)

// A message collects the model's answer, chunk by chunk.
type message struct {
	parts   []*genai.Part
	usage   Usage // of the last request
	before  Usage // of the earlier requests for the same answer
	prompt  int   // tokens of the first request
	counted bool  // by the server, in usage
	finish  genai.FinishReason
	text    bool // something visible was said
	cited   []Reference
}

// goOn prepares for another request that continues the answer.
func (m *message) goOn() {
	if m.counted && m.prompt == 0 {
		m.prompt = m.usage.Prompt
	}
	m.before, m.usage = m.total(), NewUsage(m.usage.RequestedModel)
}

// total returns the tokens of all requests for the answer.
func (m *message) total() Usage { return m.usage.plus(m.before) }

// add appends a chunk and emits its text.
func (m *message) add(chunk *genai.GenerateContentResponse, emit emitFunc) error {
	m.counted = m.usage.Update(chunk) || m.counted
	if len(chunk.Candidates) == 0 || chunk.Candidates[0] == nil {
		return nil
	}
	c := chunk.Candidates[0] // only one was requested
	m.finish = cmp.Or(c.FinishReason, m.finish)
	if more := references(c); more != nil {
		m.cited = sorted(append(m.cited, more...))
	}
	if c.Content == nil {
		return nil
	}
	for _, p := range c.Content.Parts {
		if p == nil {
			continue
		}
		m.parts = append(m.parts, p)
		said := cmp.Or(p.Text, CodeText(p))
		if said == "" {
			continue
		}
		if p.Text == "" && m.text { // a block begins a paragraph
			said = "\n" + said
			if n := len(m.parts); n < 2 || CodeText(m.parts[n-2]) == "" {
				said = "\n" + said
			}
		}
		var ev Event = Text{Delta: said}
		if p.Thought {
			ev = Thought{Delta: p.Text}
		} else {
			m.text = true
		}
		if err := emit(ev); err != nil {
			return err
		}
	}
	return nil
}

// content returns the message for the history, nil if it is empty. Thoughts that no provider
// needs back are dropped, and neighbouring plain texts joined. A signed part stays a part of its
// own, since the API needs its signature back at the same place; the pieces of a thought are
// joined with the signature behind them.
func (m *message) content() *genai.Content {
	c := &genai.Content{Role: genai.RoleModel}
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			c.Parts = append(c.Parts, genai.NewPartFromText(text.String()))
			text.Reset()
		}
	}
	thought, said := "", false
	for _, p := range m.parts {
		switch {
		case IsSignedThought(p):
			flush()
			c.Parts = append(c.Parts, &genai.Part{Text: thought + p.Text, Thought: true, ThoughtSignature: p.ThoughtSignature})
			thought = ""
			continue
		case p.Thought:
			thought += p.Text
			continue
		case IsText(p):
			text.WriteString(p.Text)
			said = said || p.Text != ""
		default:
			flush()
			c.Parts, said = append(c.Parts, p), true
		}
		thought = ""
	}
	flush()
	if !said {
		return nil
	}
	return c
}

// thoughts returns the model's reasoning, neighbouring pieces joined.
func (m *message) thoughts() []string {
	var all []string
	open := false
	for _, p := range m.parts {
		if !p.Thought || p.Text == "" {
			open = open && p.Text == ""
			continue
		}
		if open && !strings.HasPrefix(p.Text, "**") { // a title begins a new thought
			all[len(all)-1] += p.Text
		} else {
			all = append(all, p.Text)
		}
		open = true
	}
	return all
}

// IsText reports whether p is text and nothing else.
func IsText(p *genai.Part) bool {
	return !p.Thought && len(p.ThoughtSignature) == 0 && p.PartMetadata == nil && !HasData(p)
}

// HasData reports whether p is more than a text: a call, an answer, a file.
func HasData(p *genai.Part) bool {
	data := *p
	data.Text, data.Thought, data.ThoughtSignature, data.PartMetadata = "", false, nil, nil
	return !reflect.ValueOf(&data).Elem().IsZero() // covers new fields of the library, too
}

// TextOf returns the text of parts, without thoughts.
func TextOf(parts []*genai.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p != nil && !p.Thought {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// HasCalls reports whether c calls tools.
func HasCalls(c *genai.Content) bool { return len(calls(c)) > 0 }

// HasAnswers reports whether c answers calls.
func HasAnswers(c *genai.Content) bool {
	return c != nil && slices.ContainsFunc(c.Parts,
		func(p *genai.Part) bool { return p != nil && p.FunctionResponse != nil })
}

func calls(c *genai.Content) []*genai.FunctionCall {
	if c == nil {
		return nil
	}
	var fcs []*genai.FunctionCall
	for _, p := range c.Parts {
		if p != nil && p.FunctionCall != nil {
			fcs = append(fcs, p.FunctionCall)
		}
	}
	return fcs
}
