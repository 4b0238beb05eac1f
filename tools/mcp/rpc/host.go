package rpc

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

// A Host accepts conversations over streamable HTTP. The code that serves the Host decides
// who may connect.
type Host struct {
	// Begin is called with each new conversation, and must close it. It returns at once.
	Begin func(Stream)

	mu   sync.Mutex
	open []*hosted // the most recently used last
}

const (
	maxHosted  = 64               // conversations
	timeToPass = 30 * time.Second // for a message, in or out
)

// ServeHTTP implements [http.Handler].
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch version := r.Header.Get(protocol.HeaderProtocolVersion); {
	case version != "" && !slices.Contains(protocol.LegacyProtocolVersions(), version):
		http.Error(w, "this version of the protocol is not spoken", http.StatusBadRequest)
	case r.Method == http.MethodPost:
		h.post(w, r)
	case r.Method == http.MethodDelete:
		if s := h.find(w, r); s != nil {
			s.Close()
		}
	default: // the server sends no messages outside of requests
		w.Header().Set("Allow", "POST, DELETE")
		http.Error(w, "POST messages here", http.StatusMethodNotAllowed)
	}
}

// find returns the conversation of a request, or responds with an error.
func (h *Host) find(w http.ResponseWriter, r *http.Request) *hosted {
	id := r.Header.Get(protocol.HeaderSessionID)
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.open, func(s *hosted) bool { return s.id == id })
	switch {
	case id == "":
		http.Error(w, "the header "+protocol.HeaderSessionID+" is missing; a conversation begins with initialize", http.StatusBadRequest)
		return nil
	case i < 0:
		http.Error(w, "this conversation is over; begin another", http.StatusNotFound)
		return nil
	}
	s := h.open[i]
	h.open = append(slices.Delete(h.open, i, i+1), s)
	return s
}

// begin begins a conversation. If there are too many, the longest idle conversation ends.
func (h *Host) begin() (*hosted, error) {
	s := &hosted{host: h, id: rand.Text(), came: make(chan []byte), waiting: map[string]*reply{}}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	h.mu.Lock()
	var old *hosted
	if len(h.open) >= maxHosted {
		i := slices.IndexFunc(h.open, (*hosted).idle)
		if i < 0 {
			h.mu.Unlock()
			return nil, errors.New("too many conversations at once")
		}
		old = h.open[i]
	}
	h.open = append(h.open, s)
	h.mu.Unlock()
	if old != nil {
		old.Close()
	}
	h.Begin(s)
	return s, nil
}

// post handles a message. The response to a request is a stream of events, which ends with
// the answer.
func (h *Host) post(w http.ResponseWriter, r *http.Request) {
	body, status, err := ReadBody(w, r)
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	var m Message
	if err := json.Unmarshal(body, &m); err != nil {
		http.Error(w, "a message is one JSON object", http.StatusBadRequest)
		return
	}
	var s *hosted
	if m.isRequest() && m.Method == protocol.MethodInitialize && r.Header.Get(protocol.HeaderSessionID) == "" {
		if s, err = h.begin(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set(protocol.HeaderSessionID, s.id)
	} else if s = h.find(w, r); s == nil {
		return
	}
	if !m.isRequest() {
		s.push(body)
		if m.Method == protocol.MethodNotificationCancelled { // a cancelled request has no answer
			s.drop(requestID(m.Params))
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.answer(w, r, m.ID, body)
}

// ReadBody reads the body of a request in JSON, within limits. It returns the status of the
// response: OK, or the status for the error.
func ReadBody(w http.ResponseWriter, r *http.Request) (b []byte, status int, err error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return nil, http.StatusUnsupportedMediaType, errors.New("a request is application/json")
	}
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(timeToPass))
	if b, err = io.ReadAll(http.MaxBytesReader(w, r.Body, MaxMessage)); err != nil {
		return nil, http.StatusRequestEntityTooLarge, errors.New("a request has at most 16 MB, and comes at once")
	}
	control.SetReadDeadline(time.Time{})
	return b, http.StatusOK, nil
}

// errGone is the error of a message that belongs to no open request.
var errGone = errors.New("nobody waits for this any more")

// A hosted is a [Stream] over HTTP requests: the response to a request carries its answer
// and notifications.
type hosted struct {
	host   *Host
	id     string
	ctx    context.Context
	cancel context.CancelCauseFunc
	came   chan []byte

	mu      sync.Mutex
	waiting map[string]*reply // by the ids of requests
}

// A reply takes the messages that answer a request, until its context is over.
type reply struct {
	ctx context.Context
	end context.CancelCauseFunc
	out chan []byte
}

func (s *hosted) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting) == 0
}

// push hands on a message.
func (s *hosted) push(text []byte) {
	select {
	case s.came <- text:
	case <-s.ctx.Done():
	}
}

// answer passes on a request, and sends its notifications and its answer. If the client
// disconnects, the request is cancelled.
func (s *hosted) answer(w http.ResponseWriter, r *http.Request, id json.RawMessage, body []byte) {
	s.mu.Lock()
	if s.waiting[string(id)] != nil {
		s.mu.Unlock()
		http.Error(w, "a request with this id is not answered yet", http.StatusBadRequest)
		return
	}
	re := &reply{out: make(chan []byte)}
	re.ctx, re.end = context.WithCancelCause(s.ctx)
	s.waiting[string(id)] = re
	s.mu.Unlock()
	defer s.drop(id)
	write := EventWriter(w, timeToPass)
	write("")
	s.push(body)
	for {
		select {
		case text := <-re.out:
			write("event: message\ndata: %s\n\n", text)
		case <-r.Context().Done():
			params, _ := json.Marshal(map[string]any{"requestId": id})
			gone := Message{Version: protocol.JSONRPC_VERSION, Method: protocol.MethodNotificationCancelled, Params: params}
			s.push(gone.text())
			return
		case <-re.ctx.Done():
			return
		}
	}
}

// EventWriter begins a stream of server-sent events. write sends a part of the stream, and
// reports whether the client read it within patience.
func EventWriter(w http.ResponseWriter, patience time.Duration) (write func(format string, a ...any) bool) {
	w.Header().Set("Content-Type", eventStream)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // so that nginx does not buffer events
	control := http.NewResponseController(w)
	return func(format string, a ...any) bool {
		control.SetWriteDeadline(time.Now().Add(patience))
		fmt.Fprintf(w, format, a...)
		return control.Flush() == nil
	}
}

// drop ends the reply to a request.
func (s *hosted) drop(id json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if re := s.waiting[string(id)]; re != nil {
		re.end(errGone)
		delete(s.waiting, string(id))
	}
}

// Send implements [Stream].
func (s *hosted) Send(ctx context.Context, m *Message) error {
	id := m.about
	if m.Method == "" {
		id = m.ID
	}
	s.mu.Lock()
	re := s.waiting[string(id)]
	s.mu.Unlock()
	if re == nil {
		return errGone
	}
	select {
	case re.out <- m.text():
	case <-re.ctx.Done():
		return context.Cause(re.ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if m.Method == "" { // nothing follows
		s.drop(id)
	}
	return nil
}

// Next implements [Stream].
func (s *hosted) Next() ([]byte, error) {
	select {
	case text := <-s.came:
		return text, nil
	case <-s.ctx.Done():
		return nil, ErrClosed
	}
}

// Close implements [Stream].
func (s *hosted) Close() error {
	s.cancel(ErrClosed)
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	s.host.open = slices.DeleteFunc(s.host.open, func(one *hosted) bool { return one == s })
	return nil
}
