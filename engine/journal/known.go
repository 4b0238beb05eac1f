package journal

import (
	"slices"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
)

// A known is the conversation in the file, so that answers to calls can be replaced without
// reading the file. A nil known is empty.
type known struct {
	said []*genai.Content
	ids  map[string]string // ids of the messages that answer calls, by the first call
}

// add stores the id of a recorded message.
func (k *known) add(c *genai.Content, id string) {
	if k == nil {
		return
	}
	k.said = append(k.said, c)
	if call := firstAnswered(c.Parts); call != "" {
		k.ids[call] = id
	}
}

// amend returns lines with the answers to calls that differ in said. It reports whether nothing
// else differs.
func (k *known) amend(said []*genai.Content, at time.Time) (lines []byte, ok bool) {
	if k == nil || len(k.said) != len(said) {
		return nil, false
	}
	for i, c := range said {
		if k.said[i] == c || alike(k.said[i], c) {
			continue
		}
		call := firstAnswered(c.Parts)
		line := newMessage(engine.Entry{Content: c}, at)
		line.ID = k.ids[call]
		l, err := encode(line)
		if err != nil || line.ID == "" || firstAnswered(k.said[i].Parts) != call {
			return nil, false
		}
		lines = append(lines, l...)
	}
	k.said = slices.Clone(said)
	return lines, true
}

// firstAnswered returns the id of the call that the first part answers, "" if it is no answer.
func firstAnswered(parts []*genai.Part) string {
	if len(parts) == 0 || parts[0].FunctionResponse == nil {
		return ""
	}
	return parts[0].FunctionResponse.ID
}

// known returns the known of r and its conversation, said.
func (r *record) known(said []*genai.Content) *known {
	k := &known{said: slices.Clone(said), ids: map[string]string{}}
	calls := map[string]string{} // by the id in the file
	for _, c := range said {
		if call := firstAnswered(c.Parts); call != "" {
			calls[firstAnswered(withNamedIDs(c.Parts[:1]))] = call
		}
	}
	for _, m := range r.messages {
		if call := calls[firstAnswered(m.Content)]; m.Type == "user" && call != "" {
			k.ids[call] = m.ID
		}
	}
	return k
}
