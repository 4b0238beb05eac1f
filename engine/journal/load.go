package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/steer"
	"gemline/engine/text"
)

// A LoadedSession is a session with its conversation.
type LoadedSession struct {
	Session

	// History is the conversation, without the opening message, as
	// [engine.New] takes it. Every call in it has one answer.
	History []*genai.Content

	// Transcript is the conversation for people: with the messages before a compression, and in the words
	// that were typed, where another program sent more.
	Transcript []*genai.Content

	// Of the calls in the last message, Interrupted have a recorded start, or may have started, and
	// no recorded end; NotStarted have not started.
	Interrupted, NotStarted []*genai.FunctionCall

	Cut   bool   // the last message is an answer that was cut off
	Model string // the model of the last answer; "" if there is none

	opened   bool              // the file has an opening message
	messages []json.RawMessage // the messages of a file that must be copied
}

// Load reads the session file path. It fails if the file can't be read or has no session; invalid
// lines are skipped.
func Load(path string) (*LoadedSession, error) {
	c, _, err := loadRecord(path, strings.HasSuffix(path, ".json"))
	return c, err
}

// LoadMessages is Load, and also returns the messages of the file.
func LoadMessages(path string) (*LoadedSession, []json.RawMessage, error) {
	c, r, err := loadRecord(path, true)
	return c, bytesOf(r.messages), err
}

// LoadOpen is LoadMessages for an open session, with messages that could not be written yet.
func LoadOpen(f *File) (*LoadedSession, []json.RawMessage, error) {
	c, r, err := f.load()
	return c, bytesOf(r.messages), err
}

// load reads the file, which may be read-only, and adds the unwritten messages.
func (f *File) load() (c *LoadedSession, r *record, err error) {
	r = &record{keep: true}
	if f.exists {
		_, err = r.read(f.path)
	}
	err = cmp.Or(err, r.lines(bytes.NewReader(f.pending.lines), 0))
	return r.loaded(), r, err
}

// DisplayedResults returns the results of calls in a session file as the user saw them, by the
// ids of the calls. It lacks results that are not text, and is empty if the file can't be read.
func DisplayedResults(path string) map[string]string {
	shown := map[string]string{}
	var r record
	r.read(path) // an unreadable file has no messages
	for _, m := range r.said {
		for _, c := range m.Calls {
			if c.Display != "" {
				shown[c.ID] = c.Display
			}
		}
	}
	return shown
}

// loadRecord is Load, and also returns the record, whose messages keep their bytes if keep is
// true.
func loadRecord(path string, keep bool) (*LoadedSession, *record, error) {
	r := &record{keep: keep}
	s, err := r.read(path)
	if err != nil {
		return nil, r, err
	}
	if s.NewerFormat {
		return nil, r, &NewerFormatError{ID: s.ID, Format: r.meta.Format}
	}
	c := r.loaded()
	c.Session = s
	return c, r, nil
}

// loaded returns the session of r.
func (r *record) loaded() *LoadedSession {
	_, opened := r.index[openingID]
	c := &LoadedSession{Session: r.summary(), Transcript: r.transcript(), opened: opened, messages: bytesOf(r.messages)}
	c.History, c.Interrupted, c.NotStarted = history(r.messages)
	for _, m := range r.messages { // the last counts
		c.Cut, c.Model = m.Cut, cmp.Or(m.Model, c.Model)
	}
	return c
}

// transcript returns the conversation for people.
func (r *record) transcript() []*genai.Content {
	all := slices.Clone(r.said)
	for i, m := range all {
		if len(m.Typed) > 0 {
			typed := *m
			typed.Content, all[i] = m.Typed, &typed
		}
	}
	said, _, _ := history(all)
	return said
}

// Transcript returns the conversation of a session for people; history if its file has none.
func Transcript(f *File, history []*genai.Content) []*genai.Content {
	if c, _, err := f.load(); err == nil && len(c.Transcript) > 0 {
		return c.Transcript
	}
	return history
}

// bytesOf returns messages byte for byte, if their record keeps the bytes.
func bytesOf(messages []*message) (all []json.RawMessage) {
	for _, m := range messages {
		if m.raw != nil {
			all = append(all, m.raw)
		}
	}
	return all
}

// A NewerFormatError means that a session has the format of a newer program.
type NewerFormatError struct {
	ID     string
	Format disk.Format
}

// Error names the format.
func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("session %s was written by a newer gemline: its format is %v, and this gemline reads %v",
		e.ID, e.Format, FormatVersion)
}

// Hint says how to get the newer program.
func (e *NewerFormatError) Hint() string {
	return "gemline update says which command updates this one"
}

// unanswered tells the model of a call whose end was not recorded, since the program was killed
// or the power failed. It was not cancelled.
const unanswered = "[Interrupted] This call was interrupted and its outcome is unknown: " +
	"it may have done all, a part or nothing of its work. Look before you repeat it."

// unbegun tells the model of a call that had not begun.
const unbegun = "[Interrupted] This call did not run: the session ended before it began."

// A rebuilder builds a history from messages, one after the other.
type rebuilder struct {
	history    []*genai.Content
	ends       []int                 // the length of the history after each message
	openCalls  []*call               // of the last message, waiting for their answers
	unanswered []*genai.FunctionCall // calls without answers, of the last message with calls
	unbegun    []*genai.FunctionCall // the calls among them that had not begun
}

// A call is a call of the model with its answer.
type call struct {
	fc     *genai.FunctionCall
	answer []*genai.Part
	result json.RawMessage // the answer beside the call
	idle   bool            // it had not begun at the last record
}

// history returns the conversation of messages, and the calls of the last message that were
// running or had not begun.
func history(messages []*message) (said []*genai.Content, interrupted, idle []*genai.FunctionCall) {
	r := rebuild(messages)
	if len(r.openCalls) > 0 {
		r.close()
		interrupted, idle = r.unanswered, r.unbegun
	}
	return r.history, interrupted, idle
}

// rebuild builds a history from messages. Calls of the last message may be open.
func rebuild(messages []*message) (r rebuilder) {
	for i, m := range messages {
		switch m.Type {
		case "gemini":
			r.model(m)
		case "user":
			if wasSaid(messages, i) {
				r.user(m.Content)
			}
		}
		r.ends = append(r.ends, len(r.history))
	}
	return r
}

// wasSaid reports whether the i-th message was sent to the model. A message that looks like a
// slash command was sent if the model answered it.
func wasSaid(messages []*message, i int) bool {
	m := messages[i]
	begin := m.first(strings.TrimSpace)
	if m.ID == openingID || strings.HasPrefix(begin, "<session_context>") {
		return false
	}
	if !strings.HasPrefix(begin, "/") && !strings.HasPrefix(begin, "?") {
		return true
	}
	for _, next := range messages[i+1:] {
		if next.Type == "gemini" || next.Type == "user" {
			return next.Type == "gemini"
		}
	}
	return false
}

// model adds a message of the model.
func (r *rebuilder) model(m *message) {
	r.close()
	calls := slices.Clone(m.Calls)
	c := &genai.Content{Role: genai.RoleModel}
	take := func(parts []*genai.Part) {
		for _, p := range parts {
			if p.FunctionCall != nil {
				q, fc := *p, *p.FunctionCall // the message stays as it is
				q.FunctionCall, p = &fc, &q
				r.openCalls = append(r.openCalls, matchCall(&fc, &calls))
			}
			if wasModels(p) {
				c.Parts = append(c.Parts, p)
			}
		}
	}
	take(m.Parts)
	if len(c.Parts) == 0 { // written by another program
		take(m.Content)
		for len(calls) > 0 { // calls that the content lacks
			fc := &genai.FunctionCall{ID: calls[0].ID, Name: calls[0].Name}
			c.Parts = append(c.Parts, &genai.Part{FunctionCall: fc})
			r.openCalls = append(r.openCalls, matchCall(fc, &calls))
		}
	}
	for _, k := range r.openCalls {
		k.idle = m.Begins && !slices.Contains(m.begun, engine.CallID(k.fc))
	}
	if len(c.Parts) > 0 {
		r.history = append(r.history, c)
	}
}

// wasModels reports whether p may be sent again in a message of the model.
func wasModels(p *genai.Part) bool {
	return p.FunctionResponse == nil && (!p.Thought || engine.IsSignedThought(p))
}

// matchCall converts fc to the engine's form. If calls has the same call, matchCall takes the
// result and the arguments of the run from it.
func matchCall(fc *genai.FunctionCall, calls *[]called) *call {
	k := &call{fc: fc}
	bare := func(id string) string { return strings.TrimPrefix(id, fc.Name+"__") }
	if i := slices.IndexFunc(*calls, func(c called) bool {
		return c.Name == fc.Name && (fc.ID == "" || bare(c.ID) == bare(fc.ID))
	}); i >= 0 {
		beside := (*calls)[i]
		if fc.Args == nil || len(beside.Args) > 0 {
			fc.Args = beside.Args
		}
		fc.ID = cmp.Or(fc.ID, beside.ID)
		k.result = beside.Result
		*calls = slices.Delete(*calls, i, i+1)
	}
	engine.Normalize(fc)
	return k
}

// user adds a message of the user: answers to the open calls, text, or both. Answers without a
// call are dropped.
func (r *rebuilder) user(said []*genai.Part) {
	parts, answered := r.answers(said)
	if len(parts) == 0 {
		return
	}
	n := len(r.history)
	r.close()
	if answered { // sent with the answers
		c := r.history[len(r.history)-1]
		c.Parts = append(c.Parts, parts...)
		return
	}
	hint := steer.HintLines(engine.TextOf(parts)) != "" // a hint comes with answers
	if !hint && (len(r.history) > n || n > 0 && engine.HasAnswers(r.history[n-1])) {
		r.history = append(r.history, engine.InterruptionMessage(parts))
	}
	r.history = append(r.history, &genai.Content{Role: genai.RoleUser, Parts: parts})
}

// answers assigns the answers in parts, each with the parts after it, to the open calls, and
// returns the other parts.
func (r *rebuilder) answers(parts []*genai.Part) (rest []*genai.Part, answered bool) {
	var taken *call
	dropping := false
	for _, p := range parts {
		switch {
		case p.FunctionResponse != nil:
			q, fr := *p, *p.FunctionResponse // the message stays as it is
			q.FunctionResponse, p = &fr, &q
			taken = r.openCall(&fr)
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

// openCall returns the first open call that fr may answer.
func (r *rebuilder) openCall(fr *genai.FunctionResponse) *call {
	for _, k := range r.openCalls {
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

// close closes the open calls: a call without an answer gets the result beside it, or an answer
// that it was interrupted.
func (r *rebuilder) close() {
	if len(r.openCalls) == 0 {
		return
	}
	c := &genai.Content{Role: genai.RoleUser}
	r.unanswered, r.unbegun = nil, nil
	for _, k := range r.openCalls {
		if len(k.answer) == 0 {
			other := rebuilder{openCalls: []*call{k}}
			var beside parts
			text.Unmarshal(k.result, &beside) // JSON or empty
			other.answers(beside)
		}
		if len(k.answer) == 0 {
			why := unanswered
			if k.idle {
				why, r.unbegun = unbegun, append(r.unbegun, k.fc)
			} else {
				r.unanswered = append(r.unanswered, k.fc)
			}
			k.answer = []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: k.fc.ID, Name: k.fc.Name,
				Response: map[string]any{"error": why}}}}
		}
		c.Parts = append(c.Parts, k.answer...)
	}
	r.openCalls = nil
	r.history = append(r.history, c)
}

var _ engine.Journal = (*File)(nil)
