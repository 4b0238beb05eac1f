package batch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gemline/repl/input"
)

// An Item is one prompt of a batch, with its own options.
type Item struct {
	Index int    // counted from 0
	Line  int    // its first line, counted from 1; in a NUL-separated batch, its number
	ID    string // the user's name for it, or its index

	Prompt string // in the syntax of -p
	Options

	// Err is why the item can't be answered, an [*input.Error]; nil if it can.
	Err error
}

// Options are the options of an item. The zero value uses the options of the batch.
type Options struct {
	Model        string          `json:"model,omitempty"`
	System       string          `json:"system,omitempty"` // replaces gemline's system instruction
	Files        []string        `json:"files,omitempty"`  // paths, added to the prompt as @path
	Schema       json.RawMessage `json:"json_schema,omitempty"`
	MaxTurns     int             `json:"max_turns,omitempty"`
	MaxToolCalls int             `json:"max_tool_calls,omitempty"`
	MaxTokens    int             `json:"max_tokens,omitempty"`
	Timeout      time.Duration   `json:"timeout,omitempty"`
}

// Text returns the prompt, followed by references to the files.
func (it Item) Text() string {
	var b strings.Builder
	b.WriteString(it.Prompt)
	for i, path := range it.Files {
		switch {
		case i > 0:
			b.WriteByte(' ')
		case it.Prompt != "":
			b.WriteString("\n\n")
		}
		b.WriteByte('@')
		for _, r := range path { // every special character is quoted
			if r < 0x80 && !strings.ContainsRune("/._-", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hash returns a hash of the item and of the settings, which key identifies.
func (it Item) hash(key string) string {
	b, err := json.Marshal(struct {
		Key, ID, Prompt string
		Options
		Broken string `json:",omitempty"`
	}{key, it.ID, it.Prompt, it.Options, message(it.Err)})
	if err != nil {
		panic(err) // RawMessage was checked when it was read
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// mistake returns the error of an item that can't be answered.
func mistake(line int, format string, args ...any) error {
	return &input.Error{Message: fmt.Sprintf("line %d: ", line) + fmt.Sprintf(format, args...)}
}

// parse reads an item from a line of JSON. An error belongs to the item. The item has its id if the
// id comes before the error.
func (it *Item) parse(line []byte) {
	if !utf8.Valid(line) {
		it.Err = mistake(it.Line, "not UTF-8 text")
		return
	}
	if err := it.object(line); err != nil {
		var bad *json.SyntaxError
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
			it.Err = mistake(it.Line, "not a JSON object: it ends too soon")
		case errors.As(err, &bad):
			it.Err = mistake(it.Line, "not a JSON object: %v", err)
		default:
			it.Err = mistake(it.Line, "%v", err)
		}
		return
	}
	if strings.TrimSpace(it.Prompt) == "" && len(it.Files) == 0 {
		it.Err = mistake(it.Line, `there is no "prompt"`)
	}
}

func (it *Item) object(line []byte) error {
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return errors.New(`not a JSON object such as {"prompt": "..."}`)
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key := t.(string) // the decoder returns only strings here
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("%q is given twice", brief(key))
		}
		seen[key] = true
		if err := it.set(key, value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more text after the JSON object")
	}
	return nil
}

// set sets one option.
func (it *Item) set(key string, value json.RawMessage) (err error) {
	switch key {
	case "id":
		return it.name(value)
	case "prompt":
		return decode(key, "a text", value, &it.Prompt)
	case "model":
		return decode(key, "a text", value, &it.Model)
	case "system":
		return decode(key, "a text", value, &it.System)
	case "files":
		return decode(key, "a list of paths", value, &it.Files)
	case "json_schema":
		it.Schema = bytes.Clone(value)
	case "max_turns":
		return count(key, value, &it.MaxTurns)
	case "max_tool_calls":
		return count(key, value, &it.MaxToolCalls)
	case "max_tokens":
		return count(key, value, &it.MaxTokens)
	case "timeout":
		it.Timeout, err = duration(value)
		return err
	default:
		return fmt.Errorf("unknown option %q; there are %s", brief(key), strings.Join(options, ", "))
	}
	return nil
}

// options are the allowed keys of an item, in the order of messages. An item can't set permissions
// or trust: a batch may come from somebody else.
var options = []string{"id", "prompt", "files", "model", "system", "json_schema", "max_turns",
	"max_tool_calls", "max_tokens", "timeout"}

// name sets an id, a text or a number. Null is no id.
func (it *Item) name(value json.RawMessage) error {
	var n json.Number
	switch {
	case string(value) == "null":
		return nil
	case json.Unmarshal(value, &n) == nil && value[0] != '"':
		it.ID = string(value)
		return nil
	}
	var s string
	if err := decode("id", "a text or a number", value, &s); err != nil {
		return err
	}
	if s == "" || len(s) > 1000 || strings.ContainsFunc(s, unicode.IsControl) {
		return errors.New(`"id" must have between 1 and 1000 bytes, and no control characters`)
	}
	it.ID = s
	return nil
}

func decode[T any](key, kind string, value json.RawMessage, to *T) error {
	if string(value) == "null" || json.Unmarshal(value, to) != nil {
		return fmt.Errorf("%q must be %s", key, kind)
	}
	return nil
}

func count(key string, value json.RawMessage, to *int) error {
	if json.Unmarshal(value, to) != nil || *to <= 0 {
		return fmt.Errorf("%q must be a whole number above zero", key)
	}
	return nil
}

// duration reads a number of seconds or a text such as 5m.
func duration(value json.RawMessage) (time.Duration, error) {
	var seconds float64
	if json.Unmarshal(value, &seconds) == nil && seconds > 0 && seconds < 1e9 {
		return max(1, time.Duration(seconds*float64(time.Second))), nil
	}
	var s string
	if json.Unmarshal(value, &s) == nil {
		if d, err := time.ParseDuration(s); err == nil && d > 0 {
			return d, nil
		}
	}
	return 0, errors.New(`"timeout" must be a number of seconds or a time such as "5m"`)
}

// brief shortens the user's text for a message.
func brief(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "..."
	}
	return s
}

// plain reads a line that is only a prompt.
func (it *Item) plain(line []byte) {
	switch {
	case !utf8.Valid(line):
		it.Err = mistake(it.Line, "not UTF-8 text")
	case bytes.IndexByte(line, 0) >= 0:
		it.Err = mistake(it.Line, "a prompt holds a NUL byte; if NUL bytes separate the prompts, give --batch-format nul")
	default:
		it.Prompt = string(line)
	}
}
