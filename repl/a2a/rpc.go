package a2a

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	protocol "github.com/a2aproject/a2a-go/a2a"

	"gemline/engine/text"
)

const (
	mostBody = 16 << 20         // bytes of a request
	patience = 30 * time.Second // with a body that comes, and with a reader that stalls
	beat     = 15 * time.Second // between signs of life
)

// A request is one of JSON-RPC 2.0.
type request struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// A reply answers it.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *fault          `json:"error,omitempty"`
}

// A fault is an error as the protocol has it.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// codes are the numbers of the errors that are told. All others are internal.
var codes = []struct {
	err  error
	code int
}{
	{protocol.ErrParseError, -32700}, {protocol.ErrInvalidRequest, -32600}, {protocol.ErrMethodNotFound, -32601},
	{protocol.ErrInvalidParams, -32602}, {protocol.ErrServerError, -32000}, {protocol.ErrTaskNotFound, -32001},
	{protocol.ErrTaskNotCancelable, -32002}, {protocol.ErrPushNotificationNotSupported, -32003}, {protocol.ErrUnsupportedOperation, -32004},
	{protocol.ErrUnsupportedContentType, -32005}, {protocol.ErrAuthenticatedExtendedCardNotConfigured, -32007},
}

// An invalid is an error whose class is one of the protocol's.
type invalid struct {
	class error
	said  string
}

func (e *invalid) Error() string { return e.said }
func (e *invalid) Unwrap() error { return e.class }

func invalidf(class error, format string, a ...any) error {
	return &invalid{class, fmt.Sprintf(format, a...)}
}

// faultOf returns an error as a client is told of it.
func (s *Server) faultOf(err error) *fault {
	f := &fault{Code: -32603, Message: s.plain(err.Error())}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			f.Code, f.Data = c.code, map[string]any{"error": f.Message} // where some clients look
			break
		}
	}
	return f
}

// body reads what a request has to say, or answers it.
func body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		reject(w, r, http.StatusUnsupportedMediaType, "a request is application/json")
		return nil, false
	}
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(patience))
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	if err != nil {
		reject(w, r, http.StatusRequestEntityTooLarge, "a request has at most 16 MB, and comes at once")
		return nil, false
	}
	control.SetReadDeadline(time.Time{})
	return b, true
}

// reject answers a request that can't be read, as a client of its address expects.
func reject(w http.ResponseWriter, r *http.Request, status int, said string) {
	if r.URL.Path == "/" {
		write(w, status, reply{Version: "2.0", Error: &fault{Code: -32600, Message: said}})
		return
	}
	write(w, status, failure{said})
}

// write answers with a JSON document.
func write(w http.ResponseWriter, status int, v any) {
	b, err := text.JSON(v, "")
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"the answer is no JSON"}`)
	}
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(append(b, '\n'))
}

// rpc answers a request of JSON-RPC.
func (s *Server) rpc(w http.ResponseWriter, r *http.Request) {
	b, ok := body(w, r)
	if !ok {
		return
	}
	var q request
	fail := func(err error) { write(w, http.StatusOK, reply{Version: "2.0", ID: q.ID, Error: s.faultOf(err)}) }
	if err := json.Unmarshal(b, &q); err != nil {
		q.ID = nil
		class := protocol.ErrInvalidRequest
		if !json.Valid(b) {
			class = protocol.ErrParseError
		}
		fail(invalidf(class, "a request is one JSON object: %v", err))
		return
	}
	switch id := bytes.TrimSpace(q.ID); {
	case len(id) > 0 && (id[0] == '{' || id[0] == '[' || id[0] == 't' || id[0] == 'f') || len(id) > 1000:
		q.ID = nil
		fail(invalidf(protocol.ErrInvalidRequest, "id is a short text or a number"))
		return
	case q.Version != "2.0" || q.Method == "":
		fail(invalidf(protocol.ErrInvalidRequest, `a request has "jsonrpc": "2.0" and a method`))
		return
	}
	switch q.Method {
	case "message/stream", "tasks/resubscribe":
		var st *stream
		var err error
		if q.Method == "message/stream" {
			var p protocol.MessageSendParams
			if err = read(q.Params, &p); err == nil {
				_, st, err = s.say(r.Context(), &p, true)
			}
		} else {
			st, err = s.resubscribe(q.Params)
		}
		s.send(w, r, st, err, func(ev json.RawMessage) any { return reply{Version: "2.0", ID: q.ID, Result: ev} }, q.ID)
	default:
		result, err := s.answer(r.Context(), q.Method, q.Params)
		if err != nil {
			fail(err)
			return
		}
		write(w, http.StatusOK, reply{Version: "2.0", ID: q.ID, Result: result})
	}
}

// read reads parameters.
func read(params json.RawMessage, into any) error {
	if err := json.Unmarshal(params, into); err != nil {
		return invalidf(protocol.ErrInvalidParams, "the parameters can't be used: %v", err)
	}
	return nil
}

// answer answers a request that has one answer.
func (s *Server) answer(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case "message/send":
		var p protocol.MessageSendParams
		if err := read(params, &p); err != nil {
			return nil, err
		}
		t, _, err := s.say(ctx, &p, false)
		if err != nil {
			return nil, err
		}
		var last *int
		if p.Config != nil {
			last = p.Config.HistoryLength
		}
		return t.shown(last)
	case "tasks/get":
		var p protocol.TaskQueryParams
		if err := read(params, &p); err != nil {
			return nil, err
		}
		t, err := s.find(p.ID)
		if err != nil {
			return nil, err
		}
		return t.shown(p.HistoryLength)
	case "tasks/cancel":
		var p protocol.TaskIDParams
		if err := read(params, &p); err != nil {
			return nil, err
		}
		t, err := s.find(p.ID)
		if err == nil {
			err = t.cancel(ctx)
		}
		if err != nil {
			return nil, err
		}
		return t.shown(nil)
	case "tasks/pushNotificationConfig/set", "tasks/pushNotificationConfig/get", "tasks/pushNotificationConfig/list", "tasks/pushNotificationConfig/delete":
		return nil, errNoPush
	case "agent/getAuthenticatedExtendedCard":
		return nil, invalidf(protocol.ErrAuthenticatedExtendedCardNotConfigured,
			"there is one card, which all may read")
	}
	return nil, invalidf(protocol.ErrMethodNotFound, "there is no method %.100q here", method)
}

var errNoPush = invalidf(protocol.ErrPushNotificationNotSupported,
	"nothing is sent to where a client says; tasks/resubscribe follows a task")

func (s *Server) resubscribe(params json.RawMessage) (*stream, error) {
	var p protocol.TaskIDParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	t, err := s.find(p.ID)
	if err != nil {
		return nil, err
	}
	return t.follow()
}

// send sends a stream as events, until it ends or its reader is gone. An error in its place
// is one event.
func (s *Server) send(w http.ResponseWriter, r *http.Request, st *stream, failed error,
	wrap func(json.RawMessage) any, id json.RawMessage) {
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	event := func(v any) bool {
		b, err := text.JSON(v, "")
		if err == nil {
			control.SetWriteDeadline(time.Now().Add(patience))
			_, err = fmt.Fprintf(w, "data: %s\n\n", b)
		}
		return err == nil && control.Flush() == nil
	}
	if failed != nil {
		event(reply{Version: "2.0", ID: id, Error: s.faultOf(failed)})
		return
	}
	defer st.leave()
	control.Flush() // so that the client knows that it follows
	life := time.NewTicker(beat)
	defer life.Stop()
	for {
		select {
		case ev, open := <-st.events:
			if !open || !event(wrap(ev)) {
				return
			}
		case <-life.C:
			control.SetWriteDeadline(time.Now().Add(patience))
			if _, err := io.WriteString(w, ": \n\n"); err != nil || control.Flush() != nil {
				return
			}
		case <-r.Context().Done():
			return
		case <-st.cut:
			return
		}
	}
}
