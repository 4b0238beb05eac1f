package rpc

import (
	"encoding/json"
	"errors"
	"fmt"

	protocol "github.com/mark3labs/mcp-go/mcp"
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

	Peer  Peer            `json:"-"` // who has sent it, if it is a request that has come
	about json.RawMessage // the id of the request of the other side that it belongs to
}

// isRequest reports whether m wants an answer.
func (m *Message) isRequest() bool { return m.Method != "" && m.ID != nil }

// An Error is what the other side answers if it can't do what it was asked for.
type Error struct{ protocol.JSONRPCErrorDetails }

// Errorf returns an Error of a code.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{protocol.NewJSONRPCErrorDetails(code, fmt.Sprintf(format, args...), nil)}
}

// Error returns the message and the code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Codes of Errors of our own.
const (
	Busy             = -32005 // the other side asks for too much at once
	Refused          = -1     // the user says no, as the protocol has it
	RequestCancelled = -32800
)

// Errors of connections.
var (
	ErrClosed  = errors.New("the connection is closed")
	ErrTooLong = fmt.Errorf("a message of more than %d MB", MaxMessage>>20)
)

// Decode puts a JSON text into v. What is within it and of another type than it should be
// is left out, since servers are written by many people.
func Decode(b []byte, v any) error {
	err := json.Unmarshal(b, v)
	if odd := (*json.UnmarshalTypeError)(nil); errors.As(err, &odd) && odd.Field != "" {
		return nil
	}
	return err
}

// errNoMessage is why a text is no [Message].
var errNoMessage = errors.New("an answer that is no JSON")
