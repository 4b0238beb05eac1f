package telemetry

import (
	"strings"

	"google.golang.org/genai"

	"gemline/engine/text"
)

// maxText is the maximum number of characters of a text in a span.
const maxText = 10000

func short(s string) string { return text.Shorten(s, maxText) }

// messages returns a conversation in the form of the conventions, as JSON.
func messages(contents ...*genai.Content) string {
	type message struct {
		Role  string `json:"role"`
		Parts []any  `json:"parts"`
	}
	all := []message{}
	for _, c := range contents {
		if c != nil {
			role := c.Role
			if role == genai.RoleModel {
				role = "assistant"
			}
			all = append(all, message{role, parts(c)})
		}
	}
	return asJSON(all)
}

// parts returns the parts of a message in the form of the conventions.
func parts(c *genai.Content) []any {
	all := []any{}
	for _, p := range c.Parts {
		switch {
		case p == nil:
		case p.FunctionCall != nil:
			all = append(all, map[string]any{"type": "tool_call", "id": p.FunctionCall.ID,
				"name": p.FunctionCall.Name, "arguments": short(asJSON(p.FunctionCall.Args))})
		case p.FunctionResponse != nil:
			all = append(all, map[string]any{"type": "tool_call_response", "id": p.FunctionResponse.ID,
				"result": short(asJSON(p.FunctionResponse.Response))})
		case p.InlineData != nil:
			all = append(all, map[string]any{"type": "blob", "mime_type": p.InlineData.MIMEType,
				"size": len(p.InlineData.Data)})
		case p.Thought:
			all = append(all, map[string]any{"type": "reasoning", "content": short(p.Text)})
		default:
			all = append(all, map[string]any{"type": "text", "content": short(p.Text)})
		}
	}
	return all
}

// joined returns parts with the pieces of each text joined.
func joined(parts []*genai.Part) (all []*genai.Part) {
	for i := 0; i < len(parts); {
		var b strings.Builder
		p, end := parts[i], i
		for end < len(parts) && isText(parts[end]) && parts[end].Thought == p.Thought {
			b.WriteString(parts[end].Text)
			end++
		}
		if end == i {
			all = append(all, p)
			i++
			continue
		}
		all = append(all, &genai.Part{Text: b.String(), Thought: p.Thought})
		i = end
	}
	return all
}

func isText(p *genai.Part) bool {
	return p != nil && p.FunctionCall == nil && p.FunctionResponse == nil && p.InlineData == nil && p.FileData == nil &&
		p.ExecutableCode == nil && p.CodeExecutionResult == nil && len(p.ThoughtSignature) == 0
}
