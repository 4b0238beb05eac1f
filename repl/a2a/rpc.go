package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	protocol "github.com/a2aproject/a2a-go/a2a"
	"github.com/mark3labs/mcp-go/mcp"

	"gemline/repl/output"
	"gemline/repl/serve"
	"gemline/tools/mcp/rpc"
)

const (
	mostBody = rpc.MaxMessage   // bytes of a request
	beat     = 15 * time.Second // between keep-alive comments
)

// Error codes beyond those of JSON-RPC.
const (
	serverError   = -32000
	taskNotFound  = -32001
	notCancelable = -32002
	noPush        = -32003
	unsupported   = -32004
	wrongContent  = -32005
	noCard        = -32007
)

// faultf returns a JSON-RPC error. Its data repeat the message, since some clients read only the
// data.
func faultf(code int, format string, a ...any) *rpc.Error {
	e := rpc.Errorf(code, "%s", output.Valid(fmt.Sprintf(format, a...)))
	e.Data = map[string]any{"error": e.Message}
	return e
}

// reply returns the answer to a request, or an event of its stream.
func reply(id json.RawMessage, v any, err error) rpc.Message {
	m := rpc.Message{Version: "2.0", ID: id}
	if id == nil {
		m.ID = json.RawMessage("null")
	}
	if err == nil {
		m.Result, err = json.Marshal(v)
	}
	if err != nil && !errors.As(err, &m.Error) {
		m.Error = faultf(mcp.INTERNAL_ERROR, "%v", err)
	}
	return m
}

// parse reads a request.
func parse(b []byte) (q rpc.Message, err error) {
	var id any
	if err = rpc.Unmarshal(b, &q); q.ID != nil {
		json.Unmarshal(q.ID, &id)
	}
	number, counted := id.(float64)
	words, named := id.(string)
	switch {
	case err != nil && !json.Valid(b):
		return q, faultf(mcp.PARSE_ERROR, "a request is one JSON object: %v", err)
	case err != nil:
		return q, faultf(mcp.INVALID_REQUEST, "a request is one JSON object: %v", err)
	case id != nil && !counted && !named, math.Abs(number) > 1<<53, len(words) > 1000:
		q.ID = nil
		return q, faultf(mcp.INVALID_REQUEST, "id is a short text or a number")
	case q.Version != "2.0" || q.Method == "":
		return q, faultf(mcp.INVALID_REQUEST, `a request has "jsonrpc": "2.0" and a method`)
	}
	return q, nil
}

// rpc answers a request of JSON-RPC.
func (s *Server) rpc(w http.ResponseWriter, r *http.Request) {
	b, status, err := rpc.ReadBody(w, r)
	if err != nil {
		serve.WriteJSON(w, status, reply(nil, nil, faultf(mcp.INVALID_REQUEST, "%v", err)))
		return
	}
	q, err := parse(b)
	if err != nil {
		serve.WriteJSON(w, status, reply(q.ID, nil, err))
		return
	}
	t, last, st, err := s.carryOut(r.Context(), q)
	switch {
	case q.Method == streams, q.Method == resubscribe:
		s.stream(w, q.ID, st, err)
	case err != nil:
		serve.WriteJSON(w, status, reply(q.ID, nil, err))
	default:
		serve.WriteJSON(w, status, reply(q.ID, t.shown(last), nil))
	}
}

const (
	streams     = "message/stream"
	resubscribe = "tasks/resubscribe"
)

// carryOut handles a request. It returns the task, the wanted number of history messages, and the
// stream if the client wants a stream.
func (s *Server) carryOut(ctx context.Context, q rpc.Message) (t *task, last *int, st *stream, err error) {
	switch q.Method {
	case "message/send", streams:
		var p protocol.MessageSendParams
		if err = params(q, &p); err == nil {
			t, st, err = s.say(ctx, &p, q.Method == streams)
		}
		if p.Config != nil {
			last = p.Config.HistoryLength
		}
	case "tasks/get", "tasks/cancel", resubscribe:
		var p protocol.TaskQueryParams
		if err = params(q, &p); err == nil {
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
		err = faultf(noCard, "extended card not configured")
	default:
		err = faultf(mcp.METHOD_NOT_FOUND, "method not found")
		if strings.HasPrefix(string(q.Method), "tasks/pushNotificationConfig/") {
			err = faultf(noPush, "push notification not supported")
		}
	}
	return t, last, st, err
}

// params reads the parameters of a request.
func params(q rpc.Message, into any) error {
	if err := rpc.Unmarshal(q.Params, into); err != nil {
		return faultf(mcp.INVALID_PARAMS, "the parameters can't be used: %v", err)
	}
	return nil
}

// stream writes the events of a stream, until the stream or its reader ends. If there is no stream,
// it writes the error.
func (s *Server) stream(w http.ResponseWriter, id json.RawMessage, st *stream, err error) {
	write := rpc.EventWriter(w, s.patience)
	tell := func(m rpc.Message) bool {
		b, _ := json.Marshal(m)
		return write("data: %s\n\n", b)
	}
	if err != nil {
		tell(reply(id, nil, err))
		return
	}
	alive := time.NewTicker(beat)
	defer alive.Stop()
	for {
		select {
		case ev := <-st.events:
			if ev == nil || !tell(reply(id, ev, nil)) {
				return
			}
		case <-alive.C:
			write(":\n")
		}
	}
}
