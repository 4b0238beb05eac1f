package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
)

// MaxMessage is how many bytes a message may have.
const MaxMessage = 16 << 20

// A Message is a request, a notification or an answer. A request has an ID and a Method, a
// notification a Method, an answer an ID.
type Message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// isRequest reports whether m wants an answer.
func (m *Message) isRequest() bool { return m.Method != "" && m.ID != nil }

// An Error is what the other side answers if it can't do what it was asked for.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error returns the message and the code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Codes of errors.
const (
	MethodNotFound = -32601
	InvalidParams  = -32602
	InternalError  = -32603
	Busy           = -32000
)

// Errors of connections.
var (
	ErrClosed  = errors.New("the connection is closed")
	ErrTooLong = fmt.Errorf("a message of more than %d MB", MaxMessage>>20)
)

// errNoMessage is why a text is no [Message].
var errNoMessage = errors.New("an answer that is no JSON")
