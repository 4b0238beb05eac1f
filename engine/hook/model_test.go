package hook

import (
	"slices"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
)

// Whichever messages a hook leaves out, the others are sent, and no call without its answer and no
// answer without its call.
func TestMessagesLeftOut(t *testing.T) {
	t.Parallel()
	said := func(role genai.Role, parts ...*genai.Part) *genai.Content {
		return &genai.Content{Role: string(role), Parts: parts}
	}
	word := genai.NewPartFromText
	call := func(id string) *genai.Part { return &genai.Part{FunctionCall: &genai.FunctionCall{ID: id}} }
	answer := func(id string) *genai.Part { return &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: id}} }
	req := &engine.Request{Contents: []*genai.Content{
		said("user", word("a")), said("model", word("b"), call("1")), said("user", answer("1"), word("c")),
		said("model", call("2")), said("user", answer("2")), said("model", call("3")), said("user", answer("3"), word("a")),
		said("model", word("b"), call("4")), said("user", answer("4")), said("model", word("d")), said("user", word("e")),
	}}
	all := newModelRequest(req)
	for chosen := range 1 << len(all.Messages) {
		m := all
		m.Messages = nil
		for i, message := range all.Messages {
			if chosen>>i&1 == 1 {
				m.Messages = append(m.Messages, message)
			}
		}
		sent := m.apply(req)
		if got := newModelRequest(sent).Messages; !slices.Equal(got, m.Messages) {
			t.Errorf("%v are sent, not %v", got, m.Messages)
		}
		var calls, answers []string
		for _, c := range sent.Contents {
			for _, p := range c.Parts {
				switch {
				case p.FunctionCall != nil:
					calls = append(calls, p.FunctionCall.ID)
				case p.FunctionResponse != nil:
					answers = append(answers, p.FunctionResponse.ID)
				}
			}
		}
		if !slices.Equal(calls, answers) {
			t.Errorf("%v: calls %v, answers %v", m.Messages, calls, answers)
		}
		if len(m.Messages) == len(all.Messages) && !slices.Equal(sent.Contents, req.Contents) {
			t.Error("another request is sent although nothing was changed")
		}
	}
}
