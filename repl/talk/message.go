package talk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/genai"

	"gemline/engine/text"
)

// A message is the content of a line.
type message interface{ message() }

type (
	// userMessage is a prompt or a hint for the model.
	userMessage struct {
		ID      string // the client's name for it; may be empty
		Parts   []*genai.Part
		Literal bool  // commands and @paths in it have no effect
		Hint    *bool // for the running turn; nil if the message leaves it open
	}

	// approvalMessage decides about a call.
	approvalMessage struct {
		ID       string // of the question
		Decision decision
		Grant    int            // for Always: the number of the offered grant
		Scope    string         // for Always: session, project or user
		Note     string         // for Deny: a message to the model
		Args     map[string]any // for Allow: replaces the arguments; nil for no change
		Text     *string        // for Allow: replaces the text of the draft; nil for no change
		Network  bool           // for Allow: with the network, if offered
		ReadOnly bool           // for Allow: read-only, if offered
	}

	// answersMessage holds the replies to the questions of a call, "" for an open question.
	answersMessage struct {
		ID      string
		Replies []string
	}

	// consentMessage is the decision about a folder and its programs.
	consentMessage struct{ ID, Decision string }

	// cancelMessage stops the running turn or, with an ID, the message with that id, which may be
	// waiting.
	cancelMessage struct{ ID string }

	// endMessage ends the input.
	endMessage struct{}
)

func (userMessage) message()     {}
func (approvalMessage) message() {}
func (answersMessage) message()  {}
func (consentMessage) message()  {}
func (cancelMessage) message()   {}
func (endMessage) message()      {}

// A decision is the decision about a call. An unknown decision denies it.
type decision string

// The values of decision.
const (
	deny   decision = "deny"
	allow  decision = "allow"
	always decision = "always" // Allow, and grant the same for later calls
)

// text returns the text of a message.
func (m userMessage) text() string {
	var words []string
	for _, p := range m.Parts {
		if p.Text != "" {
			words = append(words, p.Text)
		}
	}
	return strings.Join(words, "\n")
}

// longestID is the longest id of a message, in bytes; its results repeat the id.
const longestID = 256

// decode returns the message in a line, and the line's id, if readable. It ignores unknown fields.
func decode(line []byte) (m message, id string, err error) {
	if !utf8.Valid(line) {
		return nil, "", errors.New("it is not UTF-8")
	}
	var w wire
	line, twice := exactFields(line)
	if err = text.Unmarshal(line, &w); err != nil { // fields of a wrong type are left out
		return nil, w.ID, decodeError(err)
	}
	if twice != "" {
		return nil, w.ID, fmt.Errorf("it has the field %.100q twice", twice)
	}
	m, err = w.message()
	return m, w.ID, err
}

// exactFields removes fields whose names have capitals, which encoding/json would match, too. It
// also returns the name of a duplicate field.
func exactFields(line []byte) (exact []byte, twice string) {
	d := json.NewDecoder(bytes.NewReader(line))
	if t, _ := d.Token(); t != json.Delim('{') {
		return line, "" // json.Unmarshal reports the error
	}
	fields, odd := map[string]json.RawMessage{}, false
	for d.More() {
		t, _ := d.Token()
		name, _ := t.(string)
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return line, "" // likewise
		}
		switch {
		case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "":
			odd = true
		case fields[name] != nil:
			twice = name
		default:
			fields[name] = value
		}
	}
	if !odd || !json.Valid(line) { // a line may hold a large image, so it is rewritten only if needed
		return line, twice
	}
	exact, _ = json.Marshal(fields) // they were parsed from JSON, so it can't fail
	return exact, twice
}

// A wire has the fields of all messages.
type wire struct {
	Type    string
	ID      string
	Literal bool
	Hint    *bool
	Content json.RawMessage
	Parts   json.RawMessage
	Message *struct {
		Role    string
		Content json.RawMessage
	}
	Decision decision
	Grant    int
	Scope    string
	Note     string
	Args     map[string]any
	Text     *string
	Network  bool
	ReadOnly bool `json:"read_only"`
	Answers  []json.RawMessage
}

func (w *wire) message() (message, error) {
	switch w.Type {
	case "user":
		if len(w.ID) > longestID {
			w.ID = ""
			return nil, fmt.Errorf("its id is longer than %d bytes", longestID)
		}
		content := w.Content
		if content == nil {
			content = w.Parts
		}
		if m := w.Message; m != nil && content == nil {
			if m.Role != "user" && m.Role != "" {
				return nil, fmt.Errorf("a message of the role %.100q can't be sent; only user can", m.Role)
			}
			content = m.Content
		}
		parts, err := partsOf(content)
		if err != nil {
			return nil, err
		}
		return userMessage{ID: w.ID, Parts: parts, Literal: w.Literal, Hint: w.Hint}, nil
	case "approval":
		return approval(approvalMessage{w.ID, w.Decision, w.Grant, w.Scope, w.Note, w.Args, w.Text,
			w.Network, w.ReadOnly})
	case "answer":
		replies, err := replies(w.Answers)
		return answering(answersMessage{ID: w.ID, Replies: replies}, w.ID, err)
	case "consent":
		return answering(consentMessage{w.ID, string(w.Decision)}, w.ID, nil)
	case "cancel":
		return cancelMessage{ID: w.ID}, nil
	case "end":
		return endMessage{}, nil
	case "":
		return nil, errors.New("it has no type")
	}
	return nil, fmt.Errorf("the type %.100q is unknown; there are user, approval, answer, consent, cancel and end", w.Type)
}

// answering returns m, or an error if m lacks the id of its question.
func answering(m message, id string, err error) (message, error) {
	if err == nil && id == "" {
		err = errors.New("it needs the id of the question it answers")
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// approval returns a, or an error if its fields contradict each other.
func approval(a approvalMessage) (message, error) {
	var err error
	switch {
	case !slices.Contains([]decision{allow, deny, always}, a.Decision):
		err = fmt.Errorf("the decision must be allow, deny or always, not %.100q", a.Decision)
	case a.Args != nil && a.Decision != allow:
		err = errors.New("args go with the decision allow only")
	case a.Text != nil && (a.Decision != allow || a.Args != nil || a.Network || a.ReadOnly):
		err = errors.New("text goes with the decision allow only, without args, network and read_only")
	case a.Network && (a.Decision != allow || a.Args != nil):
		err = errors.New("network goes with the decision allow only, without args")
	case a.ReadOnly && (a.Decision != allow || a.Args != nil || a.Network):
		err = errors.New("read_only goes with the decision allow only, without args and network")
	case a.Scope != "" && a.Decision != always:
		err = errors.New("a scope goes with the decision always only")
	case !slices.Contains([]string{"", "session", "project", "user"}, a.Scope):
		err = fmt.Errorf("the scope must be session, project or user, not %.100q", a.Scope)
	}
	if a.Grant < 0 {
		err = errors.New("grant must not be negative")
	}
	return answering(a, a.ID, err)
}

// replies reads one reply to each question: a text, a list, a boolean, or null.
func replies(raw []json.RawMessage) ([]string, error) {
	out := make([]string, len(raw))
	for i, r := range raw {
		var v any
		if json.Unmarshal(r, &v) != nil {
			v = 0 // an invalid number
		}
		switch v := v.(type) {
		case nil:
		case string:
			out[i] = strings.TrimSpace(v)
		case bool:
			out[i] = map[bool]string{true: "Yes", false: "No"}[v]
		case []any:
			words := make([]string, len(v))
			for j := range v {
				s, ok := v[j].(string)
				if !ok {
					return nil, fmt.Errorf("answers[%d] must hold nothing but strings", i)
				}
				words[j] = strings.TrimSpace(s)
			}
			out[i] = strings.Join(words, ", ")
		default:
			return nil, fmt.Errorf("answers[%d] must be a string, a list of strings, true, false or null", i)
		}
	}
	return out, nil
}

// partsOf reads the content of a message: a string, or a list of parts.
func partsOf(content json.RawMessage) ([]*genai.Part, error) {
	if content = bytes.TrimSpace(content); len(content) == 0 || string(content) == "null" {
		return nil, errors.New("the message has no content")
	}
	if content[0] == '"' {
		var text string
		json.Unmarshal(content, &text) // as the whole line was
		return notEmpty([]*genai.Part{genai.NewPartFromText(text)})
	}
	if content[0] != '[' {
		return nil, errors.New("content must be a string or a list of parts")
	}
	var parts []json.RawMessage
	json.Unmarshal(content, &parts)
	out := make([]*genai.Part, len(parts))
	for i, raw := range parts {
		var p part
		err := json.Unmarshal(raw, &p)
		if err == nil {
			out[i], err = p.part()
		} else {
			err = decodeError(err)
		}
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
	}
	return notEmpty(out)
}

// notEmpty returns parts, or an error if they are empty.
func notEmpty(parts []*genai.Part) ([]*genai.Part, error) {
	for _, p := range parts {
		if p.InlineData != nil || strings.TrimSpace(p.Text) != "" {
			return parts, nil
		}
	}
	return nil, errors.New("the message is empty")
}

// A part is a part of a message, in the format of either of two APIs.
type part struct {
	Type string

	Text *string

	// Gemini's.
	InlineData  *blob
	InlineData2 *blob `json:"inline_data"`

	// Anthropic's image and document.
	Source *struct {
		Type      string
		MediaType string `json:"media_type"`
		Data      []byte
	}
}

type blob struct {
	MIMEType  string
	MIMEType2 string `json:"mime_type"`
	Data      []byte
}

func (p part) part() (*genai.Part, error) {
	inline := cmp.Or(p.InlineData, p.InlineData2)
	if s := p.Source; s != nil && inline == nil {
		if s.Type != "base64" {
			return nil, fmt.Errorf("a source of the type %.100q can't be sent; only base64 can", s.Type)
		}
		inline = &blob{MIMEType: s.MediaType, Data: s.Data}
	}
	switch {
	case inline != nil && p.Text != nil:
		return nil, errors.New("it has both text and data")
	case inline != nil:
		kind := cmp.Or(inline.MIMEType, inline.MIMEType2)
		if kind == "" || len(inline.Data) == 0 {
			return nil, errors.New("its data needs a mime type and a value in base64")
		}
		return genai.NewPartFromBytes(inline.Data, kind), nil
	case p.Text != nil:
		return genai.NewPartFromText(*p.Text), nil
	}
	return nil, errors.New("it is neither text nor data")
}

// decodeError describes the error of a line in gemline's words.
func decodeError(err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("it is not an object, but %s", article(kind.Value))
	case errors.As(err, &kind):
		return fmt.Errorf("%.100s must not be %s", strings.ToLower(kind.Field), article(kind.Value))
	case errors.As(err, &syntax):
		return errors.New("it is not JSON")
	}
	return fmt.Errorf("%.200s", strings.TrimPrefix(err.Error(), "json: "))
}

// article returns the name of a JSON type with its article.
func article(kind string) string {
	switch {
	case kind == "bool":
		return "true or false"
	case kind == "array" || kind == "object":
		return "an " + kind
	case strings.HasPrefix(kind, "number"):
		return "this number"
	}
	return "a " + kind
}
