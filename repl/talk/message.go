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
)

// A message is what a line says.
type message interface{ message() }

type (
	// userMessage is something for the model.
	userMessage struct {
		ID      string // the client's name for it; may be empty
		Parts   []*genai.Part
		Literal bool  // no command or @path in it means anything
		Hint    *bool // for the running turn, if any; nil if the message does not say
	}

	// approvalMessage decides about a call.
	approvalMessage struct {
		ID       string // of the question
		Decision decision
		Grant    int            // for Always: which of the grants that were offered
		Scope    string         // for Always: how long, one of session, project and user
		Note     string         // for Deny: what the model is told
		Args     map[string]any // for Allow: replaces the arguments; nil if they stay
		Text     *string        // for Allow: replaces the text of the draft; nil if it stays
		Network  bool           // for Allow: with the network, if that was offered
		ReadOnly bool           // for Allow: held to looking, if that was offered
	}

	// answersMessage are the replies to the questions of a call, empty where there
	// is none.
	answersMessage struct {
		ID      string
		Replies []string
	}

	// consentMessage is the decision about a folder and its programs.
	consentMessage struct{ ID, Decision string }

	// cancelMessage stops the turn that runs, or with an ID the message of that
	// name, which may be waiting.
	cancelMessage struct{ ID string }

	// endMessage says that nothing follows, as the end of the input does.
	endMessage struct{}
)

func (userMessage) message()     {}
func (approvalMessage) message() {}
func (answersMessage) message()  {}
func (consentMessage) message()  {}
func (cancelMessage) message()   {}
func (endMessage) message()      {}

// A decision is what becomes of a call. Any other denies it.
type decision string

// The decisions.
const (
	deny   decision = "deny"
	allow  decision = "allow"
	always decision = "always" // Allow, and what a grant covers from now on
)

// text returns the words of a message.
func (m userMessage) text() string {
	var words []string
	for _, p := range m.Parts {
		if p.Text != "" {
			words = append(words, p.Text)
		}
	}
	return strings.Join(words, "\n")
}

// longestID is how many bytes the id of a message may have, which is repeated
// in its results.
const longestID = 256

// decode returns what a line says, and the id in it, if that can be read. Fields that it
// does not know are ignored.
func decode(line []byte) (m message, id string, err error) {
	if !utf8.Valid(line) {
		return nil, "", errors.New("it is not UTF-8")
	}
	var w wire
	line, twice := exactFields(line)
	if err = json.Unmarshal(line, &w); err != nil { // fields of another type are left out
		return nil, w.ID, decodeError(err)
	}
	if twice != "" {
		return nil, w.ID, fmt.Errorf("it has the field %.100q twice", twice)
	}
	m, err = w.message()
	return m, w.ID, err
}

// exactFields returns an object without the fields whose names are not in lower case, which
// encoding/json takes for ours, and the name of a field that it has twice.
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
	if !odd || !json.Valid(line) { // a line may hold an image: it is not written anew in vain
		return line, twice
	}
	exact, _ = json.Marshal(fields) // which are JSON
	return exact, twice
}

// A wire is the fields of all messages.
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

// answering returns m, or an error if m lacks the id of the question that it answers.
func answering(m message, id string, err error) (message, error) {
	if err == nil && id == "" {
		err = errors.New("it needs the id of the question it answers")
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// approval returns a unless it contradicts itself.
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

// replies reads one reply to each question: words, several, yes or no, or null.
func replies(raw []json.RawMessage) ([]string, error) {
	out := make([]string, len(raw))
	for i, r := range raw {
		var v any
		if json.Unmarshal(r, &v) != nil {
			v = 0 // a number out of all bounds
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

// notEmpty returns parts unless there is nothing in them.
func notEmpty(parts []*genai.Part) ([]*genai.Part, error) {
	for _, p := range parts {
		if p.InlineData != nil || strings.TrimSpace(p.Text) != "" {
			return parts, nil
		}
	}
	return nil, errors.New("the message is empty")
}

// A part is a piece of a message, as either of two APIs has it.
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

// decodeError describes the fault of a line in our words.
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

// article returns a kind of JSON value as a sentence has it.
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
