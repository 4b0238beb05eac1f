package journal

import (
	"slices"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
)

// A known is the conversation as the file has it, so that nothing has to be read to put
// other answers to calls in the place of some. Nil knows nothing.
type known struct {
	said []*genai.Content
	ids  map[string]string // of the messages that answer calls, by the first call
}

// add notes that a message was recorded with an id.
func (k *known) add(c *genai.Content, id string) {
	if k == nil {
		return
	}
	k.said = append(k.said, c)
	if call := firstAnswered(c.Parts); call != "" {
		k.ids[call] = id
	}
}

// amend returns lines with the answers to calls that are other ones in said. It reports
// whether nothing else is.
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

// firstAnswered returns the id of the call that the first of parts answers, "" if it is no
// answer.
func firstAnswered(parts []*genai.Part) string {
	if len(parts) == 0 || parts[0].FunctionResponse == nil {
		return ""
	}
	return parts[0].FunctionResponse.ID
}

// known returns the knowledge of r about said, its own conversation.
func (r *record) known(said []*genai.Content) *known {
	k := &known{said: slices.Clone(said), ids: map[string]string{}}
	calls := map[string]string{} // by the id that the file has
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
