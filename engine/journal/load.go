package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/steer"
)

// A Conversation is a session that was loaded.
type Conversation struct {
	Session

	// History is what was said, without the opening message: what
	// [engine.New] takes. Every call in it has one answer.
	History []*genai.Content

	// Interrupted are the calls of the last message that have begun, as far as is known, and
	// whose end was not recorded; Unbegun are those that had not begun.
	Interrupted, Unbegun []*genai.FunctionCall

	opened bool              // the file has an opening message
	kept   []json.RawMessage // the messages of a file that must be copied
}

// maxFile is the size of a file that is not loaded.
const maxFile = 1 << 30

// Load reads the session file path. It fails if that can't be read or holds no
// session; lines that make no sense are passed over.
func Load(path string) (*Conversation, error) {
	if strings.HasSuffix(path, ".json") {
		c, _, err := loadRecord(path)
		return c, err
	}
	f, err := disk.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, &fs.PathError{Op: "read", Path: path, Err: disk.LargeError(maxFile)}
	}
	const block = 256 << 10 // more would not stay in the processor's cache
	r, err := foldBlocks(f, info.Size(), block)
	if err != nil {
		return nil, err
	}
	return r.conversation(path, info)
}

// foldBlocks reads the lines of the first size bytes of f, in blocks.
func foldBlocks(f io.ReaderAt, size, block int64) (*record, error) {
	all, err := changes(f, size, block)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, block := range all {
		n += len(block)
	}
	r := &record{want: spoken, index: make(map[string]int, n)}
	for _, block := range all {
		for _, c := range block {
			r.apply(c)
		}
	}
	return r, nil
}

// LoadMessages is Load, and returns the messages that make up the file, too.
func LoadMessages(path string) (*Conversation, []json.RawMessage, error) {
	c, r, err := loadRecord(path)
	if err != nil {
		return nil, nil, err
	}
	var messages []json.RawMessage
	for _, m := range r.messages {
		if json.Valid(m.kept.raw) {
			messages = append(messages, m.kept.raw)
		}
	}
	return c, messages, nil
}

// Displays returns the results of calls in a session file as the user saw them, by the ids of
// the calls. It lacks results that were not text, and is empty if the file can't be read.
func Displays(path string) map[string]string {
	shown := map[string]string{}
	_, messages, _ := LoadMessages(path)
	for _, m := range messages {
		var said struct {
			ToolCalls []struct {
				ID            string `json:"id"`
				ResultDisplay any    `json:"resultDisplay"`
			} `json:"toolCalls"`
		}
		json.Unmarshal(m, &said)
		for _, c := range said.ToolCalls {
			if s, ok := c.ResultDisplay.(string); ok && s != "" {
				shown[c.ID] = s
			}
		}
	}
	return shown
}

// loadRecord is Load with the record, whose messages are kept as they stand.
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
	c, err := r.conversation(path, info)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range r.messages {
		if whole && json.Valid(m.kept.raw) {
			c.kept = append(c.kept, bytes.Clone(m.kept.raw))
		}
	}
	return c, r, nil
}

// conversation returns what r holds, as it was read from path.
func (r *record) conversation(path string, info os.FileInfo) (*Conversation, error) {
	if !validID(r.session.ID) {
		return nil, fmt.Errorf("%s holds no session", path)
	}
	if r.format > FormatVersion {
		return nil, &NewerError{ID: r.session.ID, Format: r.format}
	}
	c := &Conversation{Session: r.summary()}
	c.History, c.Interrupted, c.Unbegun = history(r.messages)
	c.Path = path
	if c.Updated.IsZero() {
		c.Updated = info.ModTime()
	}
	if c.Start.IsZero() {
		c.Start = c.Updated
	}
	c.opened = slices.ContainsFunc(r.messages, func(m *message) bool { return m.id == openingID })
	return c, nil
}

// A NewerError means that a session is in a format of a newer program.
type NewerError struct {
	ID     string
	Format int
}

// Error says which format it is in.
func (e *NewerError) Error() string {
	return fmt.Sprintf("session %s was written by a newer gemline: its format is %d, and this gemline reads %d",
		e.ID, e.Format, FormatVersion)
}

// Hint says how to get the newer program.
func (e *NewerError) Hint() string {
	return "gemline update says which command updates this one; leave out --resume to begin a session"
}

// fold reads the content of a session file: lines, or one object.
func fold(b []byte, whole bool) *record {
	r := &record{want: raw}
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

// unbegun is what the model is told of a call that had not begun.
const unbegun = "[Interrupted] This call did not run: the session ended before it began."

// A rebuilder makes a history of messages, one after the other.
type rebuilder struct {
	history []*genai.Content
	ends    []int                 // how long the history was after each message
	open    []*call               // of the last message, waiting for their answers
	left    []*genai.FunctionCall // calls without answers, of the last message with calls
	unbegun []*genai.FunctionCall // likewise, and had not begun
}

// A call is a call of the model with its answer.
type call struct {
	fc     *genai.FunctionCall
	answer []*genai.Part
	result piece // the answer as it stands beside the call
	idle   bool  // it had not begun at the last record
}

// history returns the conversation of messages, and which calls were under way, or had not
// begun, at the last message.
func history(messages []*message) (said []*genai.Content, interrupted, idle []*genai.FunctionCall) {
	r := rebuild(messages)
	if len(r.open) > 0 {
		r.close()
		interrupted, idle = r.left, r.unbegun
	}
	return r.history, interrupted, idle
}

// rebuild makes a history of messages, of which the last may be open.
func rebuild(messages []*message) (r rebuilder) {
	for i, m := range messages {
		switch m.kind {
		case "gemini":
			r.model(m)
		case "user":
			if wasSaid(messages, i) {
				r.user(m.spoken().content)
			}
		}
		r.ends = append(r.ends, len(r.history))
	}
	return r
}

// wasSaid reports whether the i-th message was said to the model. One that looks
// like a command for the program was if the model answered it.
func wasSaid(messages []*message, i int) bool {
	m := messages[i]
	if m.context || !m.command {
		return !m.context
	}
	for _, next := range messages[i+1:] {
		if next.kind == "gemini" || next.kind == "user" {
			return next.kind == "gemini"
		}
	}
	return false
}

// model adds a message of the model.
func (r *rebuilder) model(m *message) {
	r.close()
	said := m.spoken()
	calls := said.calls
	c := &genai.Content{Role: genai.RoleModel}
	take := func(parts []*genai.Part) {
		for _, p := range parts {
			if fc := p.FunctionCall; fc != nil {
				r.open = append(r.open, matchCall(fc, &calls))
			}
			if wasModels(p) {
				c.Parts = append(c.Parts, p)
			}
		}
	}
	take(said.parts)
	if len(c.Parts) == 0 { // another program wrote it
		take(said.content)
		for _, k := range calls { // that the content does not have
			matchCall(k.fc, &[]*call{})
			c.Parts = append(c.Parts, &genai.Part{FunctionCall: k.fc})
			r.open = append(r.open, k)
		}
	}
	for _, k := range r.open {
		k.idle = m.begins && !slices.Contains(m.begun, engine.CallID(k.fc))
	}
	if len(c.Parts) > 0 {
		r.history = append(r.history, c)
	}
}

// wasModels reports whether p may stand in a message of the model that is sent again.
func wasModels(p *genai.Part) bool {
	return p.FunctionResponse == nil && (!p.Thought || engine.GoesBack(p))
}

// spoken returns what was said in m. What is not decoded yet is so each time anew, since
// a history is free to change it.
func (m *message) spoken() *said {
	if m.said != nil {
		return m.said
	}
	k := reader{want: raw}
	s := k.decode(m.kind, m.kept.body)
	for _, result := range m.kept.results {
		s.calls = append(s.calls, k.calls(result)...)
	}
	return s
}

// decode decodes what was said in the message o, as far as it matters.
func (k *reader) decode(kind string, o object) *said {
	s := o.early
	if s == nil {
		s = &said{}
	}
	switch kind {
	case "user":
		if s.content == nil {
			s.content = decodeParts(o.content)
		}
	case "gemini":
		if s.calls == nil {
			eachElement(o.calls, func(v []byte) { s.calls = append(s.calls, k.calls(v)...) })
		}
		if s.parts == nil {
			s.parts = decodeParts(o.parts)
		}
		if s.content == nil && !slices.ContainsFunc(s.parts, wasModels) {
			s.content = decodeParts(o.content)
		}
	}
	return s
}

// decodeEarly decodes a value of o that begins at b[at] and is likely to be large, so that
// nothing has to be looked through twice. It returns the index behind the value, or -1 if
// the value is of another kind, or unusual.
func (k *reader) decodeEarly(o *object, key, b []byte, at int) (end int) {
	if o.early == nil {
		o.early = &said{}
	}
	switch e := o.early; string(key) {
	case "content":
		e.content, end = walkParts(b, at)
	case "parts":
		e.parts, end = walkParts(b, at)
	case "toolCalls":
		e.calls, end = k.walkCalls(b, at)
	default:
		end = -1
	}
	return end
}

// calls decodes what stands about one call, if b is that, but for its result, which
// may not be needed.
func (k *reader) calls(b []byte) []*call {
	if c, end := k.walkCall(b, skipSpace(b, 0)); isEnd(b, end) {
		return []*call{c}
	}
	return nil
}

// walkCalls decodes the array of calls that begins at b[at], and returns the index behind
// it, or -1 if it is anything else.
func (k *reader) walkCalls(b []byte, at int) (all []*call, end int) {
	end = walkElements(b, at, func(at int) int {
		c, end := k.walkCall(b, at)
		all = append(all, c)
		return end
	})
	if end < 0 {
		return nil, -1
	}
	return all, end
}

func (k *reader) walkCall(b []byte, at int) (*call, int) {
	c := &call{fc: &genai.FunctionCall{}}
	end := walkFields(b, at, func(key []byte, at int) int {
		end := skipValue(b, at)
		if end < 0 {
			return -1
		}
		switch v := b[at:end]; string(key) {
		case "id":
			c.fc.ID = decodeString(v)
		case "name":
			c.fc.Name = decodeString(v)
		case "args":
			c.fc.Args, _ = walkArgs(b, at)
		case "result":
			c.result = k.piece(v)
		}
		return end
	})
	return c, end
}

// matchCall brings fc into the form the engine works with. If calls has the same call, its
// result and the arguments of its run are taken from there.
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
func (r *rebuilder) user(said []*genai.Part) {
	parts, answered := r.answers(said)
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
	hint := steer.Said(engine.Words(parts)) != "" // which came with the answers
	if !hint && (len(r.history) > n || n > 0 && engine.Answers(r.history[n-1])) {
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
	r.left, r.unbegun = nil, nil
	for _, k := range r.open {
		if len(k.answer) == 0 {
			other := rebuilder{open: []*call{k}}
			other.answers(decodeParts(k.result.bytes()))
		}
		if len(k.answer) == 0 {
			why := unanswered
			if k.idle {
				why, r.unbegun = unbegun, append(r.unbegun, k.fc)
			} else {
				r.left = append(r.left, k.fc)
			}
			k.answer = []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: k.fc.ID, Name: k.fc.Name,
				Response: map[string]any{"error": why}}}}
		}
		c.Parts = append(c.Parts, k.answer...)
	}
	r.open = nil
	r.history = append(r.history, c)
}

var _ engine.Journal = (*File)(nil)
