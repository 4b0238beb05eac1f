package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"
	"time"

	protocol "github.com/a2aproject/a2a-go/a2a"

	"gemline/repl/output"
	"gemline/repl/serve"
)

const (
	mostBody = 16 << 20         // bytes of a request
	beat     = 15 * time.Second // between signs of life
)

// The codes of the protocol's errors.
const (
	parseError     = -32700
	invalidRequest = -32600
	noMethod       = -32601
	invalidParams  = -32602
	internalError  = -32603
	serverError    = -32000
	taskNotFound   = -32001
	notCancelable  = -32002
	noPush         = -32003
	unsupported    = -32004
	wrongContent   = -32005
	noCard         = -32007
)

// A fault is an error as the protocol has it.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (f *fault) Error() string { return f.Message }

var noPushes = faultf(noPush, "nothing is sent to where a client says; tasks/resubscribe follows a task")

// faultf returns a fault. Some clients look for its words in the data.
func faultf(code int, format string, a ...any) error {
	words := output.Valid(fmt.Sprintf(format, a...))
	return &fault{code, words, map[string]any{"error": words}}
}

// failure is the reply to a request that failed.
func failure(id any, err error) reply { return reply{"2.0", id, nil, faultOf(err)} }

// faultOf returns an error as a fault.
func faultOf(err error) *fault {
	f := &fault{Code: internalError, Message: err.Error()}
	errors.As(err, &f)
	return f
}

// body reads what a request has to say. With an error it returns the status of the answer.
func body(w http.ResponseWriter, r *http.Request) (b []byte, status int, err error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return nil, http.StatusUnsupportedMediaType, faultf(invalidRequest, "a request is application/json")
	}
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(serve.Patience))
	if b, err = io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody)); err != nil {
		return nil, http.StatusRequestEntityTooLarge,
			faultf(invalidRequest, "a request has at most 16 MB, and comes at once")
	}
	control.SetReadDeadline(time.Time{})
	return b, 0, nil
}

// A request is one of JSON-RPC.
type request struct {
	Version string `json:"jsonrpc"`
	ID      any
	Method  string
	Params  json.RawMessage
}

// A reply answers a request, or is one event of its answer.
type reply struct {
	Version string `json:"jsonrpc"`
	ID      any    `json:"id"`
	Result  any    `json:"result,omitempty"`
	Error   *fault `json:"error,omitempty"`
}

// parse reads a request.
func parse(b []byte) (q request, err error) {
	err = json.Unmarshal(b, &q)
	number, counted := q.ID.(float64)
	words, named := q.ID.(string)
	switch {
	case err != nil && !json.Valid(b):
		return q, faultf(parseError, "a request is one JSON object: %v", err)
	case err != nil:
		return q, faultf(invalidRequest, "a request is one JSON object: %v", err)
	case q.ID != nil && !counted && !named, math.Abs(number) > 1<<53, len(words) > 1000:
		q.ID = nil
		return q, faultf(invalidRequest, "id is a short text or a number")
	case q.Version != "2.0" || q.Method == "":
		return q, faultf(invalidRequest, `a request has "jsonrpc": "2.0" and a method`)
	}
	return q, nil
}

// rpc answers a request of JSON-RPC.
func (s *Server) rpc(w http.ResponseWriter, r *http.Request) {
	var q request
	b, status, err := body(w, r)
	if err == nil {
		status = http.StatusOK
		q, err = parse(b)
	}
	if err != nil {
		serve.WriteJSON(w, status, failure(q.ID, err))
		return
	}
	t, last, st, err := s.carryOut(r.Context(), q)
	switch {
	case q.Method == streams, q.Method == resubscribe:
		s.stream(w, q.ID, st, err)
	case err != nil:
		serve.WriteJSON(w, status, failure(q.ID, err))
	default:
		serve.WriteJSON(w, status, reply{"2.0", q.ID, t.shown(last), nil})
	}
}

const (
	streams     = "message/stream"
	resubscribe = "tasks/resubscribe"
)

// carryOut does what a request asks for. It returns the task that the request is about, with
// how many messages of its history are asked for, and a stream if one is.
func (s *Server) carryOut(ctx context.Context, q request) (t *task, last *int, st *stream, err error) {
	switch q.Method {
	case "message/send", streams:
		var p protocol.MessageSendParams
		if err = q.read(&p); err == nil {
			t, st, err = s.say(ctx, &p, q.Method == streams)
		}
		if p.Config != nil {
			last = p.Config.HistoryLength
		}
	case "tasks/get", "tasks/cancel", resubscribe:
		var p protocol.TaskQueryParams
		if err = q.read(&p); err == nil {
			t, err = s.find(p.ID)
		}
		switch {
		case err != nil:
		case q.Method == resubscribe:
			st = t.follow(ctx)
		case q.Method == "tasks/cancel":
			err = t.cancel(ctx)
		default:
			last = p.HistoryLength
		}
	case "agent/getAuthenticatedExtendedCard":
		err = faultf(noCard, "there is no other card than the public one")
	default:
		err = faultf(noMethod, "there is no such method")
		if strings.HasPrefix(q.Method, "tasks/pushNotificationConfig/") {
			err = noPushes
		}
	}
	return t, last, st, err
}

// read reads the parameters of a request.
func (q request) read(into any) error {
	if err := json.Unmarshal(q.Params, into); err != nil {
		return faultf(invalidParams, "the parameters can't be used: %v", err)
	}
	return nil
}

// stream writes what a stream tells, until it ends or its reader is gone, or else why there is
// no stream.
func (s *Server) stream(w http.ResponseWriter, id any, st *stream, err error) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	control := http.NewResponseController(w)
	write := func(format string, a ...any) bool {
		control.SetWriteDeadline(time.Now().Add(s.patience))
		fmt.Fprintf(w, format, a...)
		return control.Flush() == nil
	}
	tell := func(r reply) bool {
		b, _ := json.Marshal(r)
		return write("data: %s\n\n", b)
	}
	if err != nil {
		tell(failure(id, err))
		return
	}
	alive := time.NewTicker(beat)
	defer alive.Stop()
	for {
		select {
		case ev := <-st.events:
			if ev == nil || !tell(reply{"2.0", id, ev, nil}) {
				return
			}
		case <-alive.C:
			write(":\n")
		}
	}
}
