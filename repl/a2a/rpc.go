package a2a

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	protocol "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/log"

	"gemline/engine/parallel"
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
	invalidParams  = -32602
	internalError  = -32603
	serverError    = -32000
	taskNotFound   = -32001
	notCancelable  = -32002
	noPush         = -32003
	unsupported    = -32004
	wrongContent   = -32005
)

// A fault is an error as the protocol has it.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (f *fault) Error() string { return f.Message }

// As makes the fault the library's own error, whose type has no public name. Any other error
// the library answers with the name of its class in the place of its words.
func (f *fault) As(target any) bool {
	b, err := json.Marshal(f)
	return err == nil && fmt.Sprintf("%T", target) == "**jsonrpc.Error" && json.Unmarshal(b, target) == nil
}

// faultf returns a fault. Some clients look for its words in the data.
func faultf(code int, format string, a ...any) error {
	words := output.Valid(fmt.Sprintf(format, a...))
	return &fault{code, words, map[string]any{"error": words}}
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

// fail answers a request that the library does not get.
func fail(w http.ResponseWriter, status int, id any, err error) {
	serve.WriteJSON(w, status, map[string]any{"jsonrpc": "2.0", "id": id, "error": err})
}

// The methods whose parameters are read.
const (
	streams     = "message/stream"
	resubscribe = "tasks/resubscribe"
)

var methods = []string{"message/send", streams, resubscribe, "tasks/get", "tasks/cancel"}

// rpc answers a request of JSON-RPC. A request that the library would misread does not reach
// it: it reads no further than the first value, changes ids, and says of parameters of a
// wrong type that they are no JSON.
func (s *Server) rpc(w http.ResponseWriter, r *http.Request) {
	b, status, err := body(w, r)
	if err != nil {
		fail(w, status, nil, err)
		return
	}
	var q struct {
		Version string `json:"jsonrpc"`
		ID      any
		Method  string
		Params  json.RawMessage
	}
	err = json.Unmarshal(b, &q)
	number, counted := q.ID.(float64)
	words, named := q.ID.(string)
	switch {
	case err != nil && !json.Valid(b):
		err = faultf(parseError, "a request is one JSON object: %v", err)
	case err != nil:
		err = faultf(invalidRequest, "a request is one JSON object: %v", err)
	case q.ID != nil && !counted && !named, math.Abs(number) > 1<<53, len(words) > 1000:
		q.ID, err = nil, faultf(invalidRequest, "id is a short text or a number")
	case q.Version != "2.0" || q.Method == "":
		err = faultf(invalidRequest, `a request has "jsonrpc": "2.0" and a method`)
	case slices.Contains(methods, q.Method):
		params := any(&protocol.TaskQueryParams{})
		if strings.HasPrefix(q.Method, "message/") {
			params = &protocol.MessageSendParams{}
		}
		if err = json.Unmarshal(q.Params, params); err != nil {
			err = faultf(invalidParams, "the parameters can't be used: %v", err)
		}
	}
	if err != nil {
		fail(w, http.StatusOK, q.ID, err)
		return
	}
	requests{a2asrv.NewHandler(nil), s, s.say}.serve(w, r, b, q.Method == streams || q.Method == resubscribe)
}

// requests are those of a client, as the library hands them on.
type requests struct {
	a2asrv.RequestHandler // refuses what is not offered: push notifications, and another card
	server                *Server
	say                   func(ctx context.Context, p *protocol.MessageSendParams, along bool) (*task, *stream, error)
}

// serve has the library answer a request.
func (q requests) serve(w http.ResponseWriter, r *http.Request, b []byte, streams bool) {
	ctx, stop := context.WithCancel(log.WithLogger(r.Context(), slog.New(slog.DiscardHandler)))
	out := &wire{ResponseWriter: w, patience: q.server.patience}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	defer stop()
	if streams {
		defer parallel.Every(beat, out.live)()
	}
	r = r.WithContext(ctx)
	r.Body = io.NopCloser(bytes.NewReader(b))
	a2asrv.NewJSONRPCHandler(q).ServeHTTP(out, r)
}

// A wire is what the library writes to, which sets no deadline, shows no signs of life, and
// numbers events, though a stream can't be resumed by their numbers.
type wire struct {
	http.ResponseWriter
	patience time.Duration // with a client that reads nothing
	mu       sync.Mutex
}

// WriteHeader implements [http.ResponseWriter].
func (o *wire) WriteHeader(status int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ResponseWriter.WriteHeader(status)
}

// Write implements [io.Writer].
func (o *wire) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("id: ")) {
		return len(b), nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	http.NewResponseController(o.ResponseWriter).SetWriteDeadline(time.Now().Add(o.patience))
	return o.ResponseWriter.Write(b)
}

// Flush implements [http.Flusher].
func (o *wire) Flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	http.NewResponseController(o.ResponseWriter).Flush()
}

// live writes a comment, which may stand between any two lines of a stream.
func (o *wire) live() {
	o.Write([]byte(":\n"))
	o.Flush()
}

// OnSendMessage implements [a2asrv.RequestHandler], as the methods below do.
func (q requests) OnSendMessage(ctx context.Context, p *protocol.MessageSendParams) (protocol.SendMessageResult, error) {
	t, _, err := q.say(ctx, p, false)
	if err != nil {
		return nil, err
	}
	var last *int
	if p.Config != nil {
		last = p.Config.HistoryLength
	}
	return t.shown(last), nil
}

func (q requests) OnSendMessageStream(ctx context.Context, p *protocol.MessageSendParams) iter.Seq2[protocol.Event, error] {
	return q.events(func() (*stream, error) {
		_, st, err := q.say(ctx, p, true)
		return st, err
	})
}

func (q requests) OnResubscribeToTask(ctx context.Context, p *protocol.TaskIDParams) iter.Seq2[protocol.Event, error] {
	return q.events(func() (*stream, error) {
		t, err := q.server.find(p.ID)
		if err != nil {
			return nil, err
		}
		return t.follow(ctx), nil
	})
}

func (q requests) OnGetTask(_ context.Context, p *protocol.TaskQueryParams) (*protocol.Task, error) {
	t, err := q.server.find(p.ID)
	if err != nil {
		return nil, err
	}
	return t.shown(p.HistoryLength), nil
}

func (q requests) OnCancelTask(ctx context.Context, p *protocol.TaskIDParams) (*protocol.Task, error) {
	t, err := q.server.find(p.ID)
	if err == nil {
		err = t.cancel(ctx)
	}
	if err != nil {
		return nil, err
	}
	return t.shown(nil), nil
}

// begun begins a stream. The library calls it on a goroutine of its own, where a panic would
// end the program.
func (q requests) begun(from func() (*stream, error)) (st *stream, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = faultf(internalError, "gemline has a fault: %s", q.server.plain(fmt.Sprint(v)))
		}
	}()
	return from()
}

// events yields what a stream tells, until it ends or its reader is gone.
func (q requests) events(from func() (*stream, error)) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		st, err := q.begun(from)
		if err != nil {
			yield(nil, err)
			return
		}
		defer st.leave()
		for {
			select {
			case ev, open := <-st.events:
				if !open || !yield(ev, nil) {
					return
				}
			case <-st.ctx.Done():
				return
			}
		}
	}
}
