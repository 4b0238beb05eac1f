package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/disk"
)

// A Conversation is a session that was loaded.
type Conversation struct {
	Session

	// History is what was said, without the opening message: what
	// [engine.New] takes. Every call in it has one answer.
	History []*genai.Content

	// Interrupted are the calls of the last message whose end was not recorded.
	Interrupted []*genai.FunctionCall

	opened bool              // the file has an opening message
	kept   []json.RawMessage // the messages of a file that must be copied
}

// maxFile is the size of a file that is not loaded.
const maxFile = 1 << 30

// Load reads the session file path. It fails if that can't be read or holds no
// session; lines that make no sense are passed over.
func Load(path string) (*Conversation, error) {
	c, _, err := loadRecord(path)
	return c, err
}

// loadRecord is Load, and returns the record, too.
func loadRecord(path string) (*Conversation, *record, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	b, err := disk.Read(path, maxFile)
	if err != nil {
		return nil, nil, err
	}
	whole := strings.HasSuffix(path, ".json")
	r := fold(b, whole)
	if !ValidID(r.session.ID) {
		return nil, nil, fmt.Errorf("%s holds no session", path)
	}
	c := &Conversation{Session: r.summary()}
	c.History, c.Interrupted = history(r.messages)
	c.Path = path
	if c.Updated.IsZero() {
		c.Updated = info.ModTime()
	}
	if c.Start.IsZero() {
		c.Start = c.Updated
	}
	for _, m := range r.messages {
		c.opened = c.opened || m.id == openingID
		if whole && json.Valid(m.raw) {
			c.kept = append(c.kept, bytes.Clone(m.raw))
		}
	}
	return c, r, nil
}

// fold reads the content of a session file: lines, or one object.
func fold(b []byte, whole bool) *record {
	r := &record{keep: true}
	if whole {
		r.line(b)
		return r
	}
	for len(b) > 0 {
		line := b
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		r.line(line)
	}
	return r
}

// unanswered is what the model is told of a call whose end was not recorded,
// since the program was killed or lost its power. Nobody has cancelled it.
const unanswered = "[Interrupted] This call was interrupted and its outcome is unknown: " +
	"it may have done all, a part or nothing of its work. Look before you repeat it."

// A rebuilder makes a history of messages, one after the other.
type rebuilder struct {
	history []*genai.Content
	ends    []int                 // how long the history was after each message
	open    []*call               // of the last message, waiting for their answers
	left    []*genai.FunctionCall // of the last message with calls: those that got none
}

// A call is one that the model made, with its answer.
type call struct {
	fc     *genai.FunctionCall
	answer []*genai.Part
	result []byte // the answer as it stands beside the call
}

// history returns what was said in messages, and which calls were under way
// when the last of them was.
func history(messages []message) (said []*genai.Content, interrupted []*genai.FunctionCall) {
	r := rebuild(messages)
	if len(r.open) > 0 {
		r.close()
		interrupted = r.left
	}
	return r.history, interrupted
}

// rebuild makes a history of messages, of which the last may be open.
func rebuild(messages []message) (r rebuilder) {
	for i, m := range messages {
		switch m.kind {
		case "gemini":
			r.model(m)
		case "user":
			if wasSaid(messages, i) {
				r.user(m.body)
			}
		}
		r.ends = append(r.ends, len(r.history))
	}
	return r
}

// wasSaid reports whether the i-th message was said to the model. One that looks
// like a command for the program was if the model answered it.
func wasSaid(messages []message, i int) bool {
	m := messages[i]
	if m.id == openingID {
		return false
	}
	text := strings.TrimSpace(textPrefix(m.body.content))
	if strings.HasPrefix(text, "<session_context>") {
		return false
	}
	if !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "?") {
		return true
	}
	for _, next := range messages[i+1:] {
		if next.kind == "gemini" || next.kind == "user" {
			return next.kind == "gemini"
		}
	}
	return false
}

// model adds a message of the model.
func (r *rebuilder) model(m message) {
	r.close()
	o := m.body
	calls := decodeCalls(o.calls)
	for _, result := range m.results {
		calls = append(calls, decodeCall(result)...)
	}
	c := &genai.Content{Role: genai.RoleModel}
	for _, p := range decodeParts(o.parts) {
		if fc := p.FunctionCall; fc != nil {
			r.open = append(r.open, matchCall(fc, &calls))
		}
		if p.FunctionResponse == nil && !p.Thought {
			c.Parts = append(c.Parts, p)
		}
	}
	if len(c.Parts) == 0 { // another program wrote it
		for _, p := range decodeParts(o.content) {
			if fc := p.FunctionCall; fc != nil {
				r.open = append(r.open, matchCall(fc, &calls))
			}
			if p.FunctionResponse == nil && !p.Thought {
				c.Parts = append(c.Parts, p)
			}
		}
		for _, k := range calls { // that the content does not have
			matchCall(k.fc, &[]*call{})
			c.Parts = append(c.Parts, &genai.Part{FunctionCall: k.fc})
			r.open = append(r.open, k)
		}
	}
	if len(c.Parts) > 0 {
		r.history = append(r.history, c)
	}
}

// decodeCalls decodes what stands beside a message about its calls, but for
// their results, which may not be needed.
func decodeCalls(b []byte) []*call {
	var all []*call
	eachElement(b, func(v []byte) { all = append(all, decodeCall(v)...) })
	return all
}

// decodeCall decodes what stands about one call, if b is that.
func decodeCall(b []byte) []*call {
	var args []byte
	k := &call{fc: &genai.FunctionCall{}}
	if !eachField(b, func(key string, v []byte) {
		switch key {
		case "id":
			k.fc.ID = decodeString(v)
		case "name":
			k.fc.Name = decodeString(v)
		case "args":
			args = v
		case "result":
			k.result = v
		}
	}) {
		return nil
	}
	if len(args) > 0 && json.Unmarshal(args, &k.fc.Args) != nil {
		k.fc.Args = nil
	}
	return []*call{k}
}

// matchCall brings fc into the form the engine works with. What stands beside it
// among calls is taken from there: its result, and the arguments that it ran with.
func matchCall(fc *genai.FunctionCall, calls *[]*call) *call {
	k := &call{fc: fc}
	bare := func(fc *genai.FunctionCall) string { return strings.TrimPrefix(fc.ID, fc.Name+"__") }
	if i := slices.IndexFunc(*calls, func(beside *call) bool {
		return beside.fc.Name == fc.Name && (fc.ID == "" || bare(beside.fc) == bare(fc))
	}); i >= 0 {
		beside := (*calls)[i]
		if fc.Args == nil || len(beside.fc.Args) > 0 {
			fc.Args = beside.fc.Args
		}
		if fc.ID == "" {
			fc.ID = beside.fc.ID
		}
		k.result = beside.result
		*calls = slices.Delete(*calls, i, i+1)
	}
	engine.Normalize(fc)
	return k
}

// user adds a message of the user: answers to the open calls, or speech, or
// both. Answers that nothing asked for are dropped.
func (r *rebuilder) user(o object) {
	parts, answered := r.answers(decodeParts(o.content))
	if len(parts) == 0 {
		return
	}
	n := len(r.history)
	r.close()
	if answered { // said along with the answers
		c := r.history[len(r.history)-1]
		c.Parts = append(c.Parts, parts...)
		return
	}
	if len(r.history) > n || n > 0 && isAnswer(r.history[n-1]) {
		r.history = append(r.history, engine.Between(parts))
	}
	r.history = append(r.history, &genai.Content{Role: genai.RoleUser, Parts: parts})
}

// answers hands the answers among parts, each with what follows it, to the
// open calls, and returns the rest.
func (r *rebuilder) answers(parts []*genai.Part) (rest []*genai.Part, answered bool) {
	var taken *call
	dropping := false
	for _, p := range parts {
		switch {
		case p.FunctionResponse != nil:
			taken = r.openCall(p.FunctionResponse)
			if dropping = taken == nil; !dropping {
				answered = true
				taken.answer = append(taken.answer, p)
			}
		case p.FunctionCall != nil || p.Thought: // not the user's
		case dropping && p.Text == "": // media that belong to an answer
		case taken != nil:
			taken.answer = append(taken.answer, p)
		default:
			rest = append(rest, p)
		}
	}
	return rest, answered
}

// openCall returns the open call that fr answers first.
func (r *rebuilder) openCall(fr *genai.FunctionResponse) *call {
	for _, k := range r.open {
		if len(k.answer) > 0 || fr.Name != "" && fr.Name != k.fc.Name {
			continue
		}
		if fr.ID == "" || strings.TrimPrefix(fr.ID, k.fc.Name+"__") == k.fc.ID {
			fr.ID, fr.Name = k.fc.ID, k.fc.Name
			return k
		}
	}
	return nil
}

// close ends the wait for answers: a call without one gets the result beside
// it, or is told that it was interrupted.
func (r *rebuilder) close() {
	if len(r.open) == 0 {
		return
	}
	c := &genai.Content{Role: genai.RoleUser}
	r.left = nil
	for _, k := range r.open {
		if len(k.answer) == 0 {
			other := rebuilder{open: []*call{k}}
			other.answers(decodeParts(k.result))
		}
		if len(k.answer) == 0 {
			r.left = append(r.left, k.fc)
			k.answer = []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: k.fc.ID, Name: k.fc.Name,
				Response: map[string]any{"error": unanswered}}}}
		}
		c.Parts = append(c.Parts, k.answer...)
	}
	r.open = nil
	r.history = append(r.history, c)
}

func isAnswer(c *genai.Content) bool {
	return c.Role == genai.RoleUser && c.Parts[0].FunctionResponse != nil
}

var _ engine.Journal = (*File)(nil)
