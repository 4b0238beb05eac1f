package rpc

import (
	"encoding/json"
	"errors"
	"fmt"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine/text"
)

// MaxMessage is how many bytes a message may have.
const MaxMessage = 16 << 20

// A Message is a request, a notification or an answer. A request has an ID and a Method, a
// notification a Method, an answer an ID.
type Message struct {
	Version string             `json:"jsonrpc"`
	ID      json.RawMessage    `json:"id,omitempty"`
	Method  protocol.MCPMethod `json:"method,omitempty"`
	Params  json.RawMessage    `json:"params,omitempty"`
	Result  json.RawMessage    `json:"result,omitempty"`
	Error   *Error             `json:"error,omitempty"`

	Peer  Peer            `json:"-"` // the sender of a received request
	about json.RawMessage // the id of the other side's request that the message belongs to
}

// isRequest reports whether m is a request.
func (m *Message) isRequest() bool { return m.Method != "" && m.ID != nil }

// text returns m in JSON.
func (m *Message) text() []byte {
	b, _ := json.Marshal(m) // its parts are JSON already
	return b
}

// An Error is the answer to a request that fails.
type Error struct{ protocol.JSONRPCErrorDetails }

// Errorf returns an Error of a code.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{protocol.NewJSONRPCErrorDetails(code, fmt.Sprintf(format, args...), nil)}
}

// UnmarshalJSON reads an error in any form, such as a string.
func (e *Error) UnmarshalJSON(b []byte) error {
	json.Unmarshal(b, &e.JSONRPCErrorDetails) // in part, for another form
	if e.Message == "" && json.Unmarshal(b, &e.Message) != nil {
		e.Message = string(b)
	}
	return nil
}

// Error returns the message and the code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Codes of our own errors.
const (
	Busy             = -32005 // the other side sends too many requests at once
	Refused          = -1     // the user refuses; the code is the protocol's
	RequestCancelled = -32800
)

// Errors of connections.
var (
	ErrClosed  = errors.New("the connection is closed")
	ErrTooLong = fmt.Errorf("a message of more than %d MB", MaxMessage>>20)
)

// errMissing is the error of a message without the field that is read.
var errMissing = errors.New("params are missing")

// Decode puts a JSON text into v. It omits values of a wrong type, as servers differ.
func Decode(b []byte, v any) error {
	if b == nil {
		return errMissing
	}
	err := text.Unmarshal(b, v)
	if odd := (*json.UnmarshalTypeError)(nil); errors.As(err, &odd) && odd.Field != "" {
		return nil
	}
	return unfit(err)
}

// Unmarshal decodes a JSON text into v. A value of another type than v's is an error.
func Unmarshal(b []byte, v any) error {
	if b == nil {
		return errMissing
	}
	return unfit(text.Unmarshal(b, v))
}

// unfit rewords an error of decoding JSON, without terms of Go.
func unfit(err error) error {
	odd := (*json.UnmarshalTypeError)(nil)
	switch {
	case !errors.As(err, &odd):
		return err
	case odd.Field == "":
		return fmt.Errorf("JSON of the type %s where an object belongs", odd.Value)
	}
	return fmt.Errorf("%s can't be of the JSON type %s", odd.Field, odd.Value)
}

// maxDepth is how many levels are read of a message that is nested too deep for the JSON
// decoder.
const maxDepth = 1000

// shallow returns a JSON text in which null replaces values nested deeper than most levels.
func shallow(text []byte, most int) []byte {
	out := make([]byte, 0, len(text))
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		char, from := text[i], i
		switch {
		case quoted && char == '\\' && i+1 < len(text):
			i++
		case char == '"':
			quoted = !quoted
		case quoted:
		case char == '{', char == '[':
			if depth++; depth == most+1 {
				out = append(out, "null"...)
			}
		case char == '}', char == ']':
			if depth--; depth == most {
				continue
			}
		}
		if depth <= most {
			out = append(out, text[from:i+1]...)
		}
	}
	return out
}

// errNoMessage is the error of a text that is no [Message].
var errNoMessage = errors.New("an answer that is no JSON")
