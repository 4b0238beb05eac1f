package rpc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine/text"
)

// A Remote describes a server that is reached by HTTP.
type Remote struct {
	URL    string
	Header http.Header
	Client *http.Client // adds the credentials that the server requires
}

// A Challenge is a server's refusal of a request.
type Challenge struct {
	Status int    // 401 or 403
	Header string // WWW-Authenticate
}

// A RefusedError is the error of a request that a server refuses for want of authorization.
type RefusedError struct{ Challenge }

// Error says so in a line.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("the server wants authorization (HTTP %d)", e.Status)
}

// A StatusError is an answer with an HTTP status of failure.
type StatusError struct {
	Code int
	Text string // the beginning of what the server said
}

// Error returns the code and what the server said.
func (e *StatusError) Error() string {
	s := fmt.Sprintf("the server answered HTTP %d %s", e.Code, http.StatusText(e.Code))
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s
}

const (
	eventStream = "text/event-stream"
	farewell    = 2 * time.Second // for ending a session
)

// A remote is what both streams over HTTP are made of: what has come, and when it is over.
type remote struct {
	Remote
	ctx    context.Context
	cancel context.CancelCauseFunc
	came   chan came
}

type came struct {
	text []byte
	err  error // nil or ErrTooLong
}

func newRemote(r Remote) remote {
	ctx, cancel := context.WithCancelCause(context.Background())
	return remote{Remote: r, ctx: ctx, cancel: cancel, came: make(chan came)}
}

// Next implements [Stream].
func (r *remote) Next() ([]byte, error) {
	select {
	case c := <-r.came:
		return c.text, c.err
	case <-r.ctx.Done():
		return nil, context.Cause(r.ctx)
	}
}

// push hands on what has come.
func (r *remote) push(text []byte, err error) {
	select {
	case r.came <- came{text, err}:
	case <-r.ctx.Done():
	}
}

// do makes a request. Whoever gets a response closes its body.
func (r *remote) do(ctx context.Context, method, at string, body []byte, more http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, h := range []http.Header{r.Header, more} {
		for name, values := range h {
			req.Header[name] = values
		}
	}
	res, err := r.Client.Do(req)
	if err != nil {
		if outer := (*url.Error)(nil); errors.As(err, &outer) { // the address is known
			err = outer.Err
		}
		return nil, err
	}
	c := Challenge{Status: res.StatusCode, Header: res.Header.Get("WWW-Authenticate")}
	if c.Status == http.StatusUnauthorized || c.Status == http.StatusForbidden && c.Header != "" {
		res.Body.Close()
		return nil, &RefusedError{c}
	}
	return res, nil
}

// failed returns the error of a response, nil if it is none.
func failed(res *http.Response) error {
	if res.StatusCode < 300 {
		return nil
	}
	const most = 200 // bytes
	b, _ := io.ReadAll(io.LimitReader(res.Body, most))
	return &StatusError{res.StatusCode, strings.Join(strings.Fields(string(b)), " ")}
}

// HTTP returns the Stream of a server that speaks streamable HTTP.
func HTTP(r Remote) Stream { return &streamable{remote: newRemote(r)} }

// A streamable is a [Stream] of requests, each with its answer, and of what comes beside
// them.
type streamable struct {
	remote
	left    sync.Once // the server was told
	mu      sync.Mutex
	session string
	version string
}

// headers returns those of the next request.
func (s *streamable) headers(more ...string) http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := http.Header{}
	if s.session != "" {
		h.Set(protocol.HeaderSessionID, s.session)
	}
	if s.version != "" {
		h.Set(protocol.HeaderProtocolVersion, s.version)
	}
	for i := 0; i < len(more); i += 2 {
		h.Set(more[i], more[i+1])
	}
	return h
}

// Send implements [Stream].
func (s *streamable) Send(ctx context.Context, m *Message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	res, err := s.do(ctx, http.MethodPost, s.URL, body,
		s.headers("Content-Type", "application/json", "Accept", "application/json, "+eventStream))
	if err == nil {
		if err = failed(res); err != nil {
			res.Body.Close()
		}
	}
	if err != nil {
		stop()
		cancel(nil)
		return s.ended(err)
	}
	go func() {
		defer stop()
		defer cancel(nil)
		defer res.Body.Close()
		s.take(res, m)
	}()
	return nil
}

// ended returns the error of a request. A session that the server has forgotten is over.
func (s *streamable) ended(err error) error {
	se := (*StatusError)(nil)
	if errors.As(err, &se) && se.Code == http.StatusNotFound && s.headers().Get(protocol.HeaderSessionID) != "" {
		err = fmt.Errorf("the server has ended the session: %w", err)
		s.cancel(err)
	}
	return err
}

// take takes in the response to m.
func (s *streamable) take(res *http.Response, m *Message) {
	if m.Method == protocol.MethodInitialize {
		s.mu.Lock()
		s.session = res.Header.Get(protocol.HeaderSessionID)
		s.mu.Unlock()
	}
	answered, lacks := !m.isRequest(), "the server ended its response without an answer"
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case kind == eventStream:
		answered = s.stream(NewEvents(res.Body), m.ID) || answered
	case answered:
	default:
		b, err := io.ReadAll(io.LimitReader(res.Body, MaxMessage+1))
		if len(b) > MaxMessage {
			s.push(b[:MaxMessage], ErrTooLong)
			return
		}
		b = bytes.TrimPrefix(b, []byte("\ufeff"))
		if answered = err == nil && (startsWith(b, '{') || startsWith(b, '[')) && json.Valid(b); answered {
			s.push(b, nil)
		} else if begin := text.OneLine(string(b), 100); begin != "" {
			lacks = "the server answered with what is no message of the protocol: " + begin
		}
	}
	if !answered { // as the other side should have said
		b, _ := json.Marshal(&Message{Version: protocol.JSONRPC_VERSION, ID: m.ID,
			Error: Errorf(protocol.INTERNAL_ERROR, "%s", lacks)})
		s.push(b, nil)
	}
}

// stream takes in events, and reports whether the answer to id was among them.
func (s *streamable) stream(es *Events, id json.RawMessage) (answered bool) {
	for {
		ev, err := es.Next()
		if err != nil && err != ErrTooLong {
			return answered
		}
		var m Message
		if json.Unmarshal(ev.Data, &m) == nil && m.Method == "" && id != nil && bytes.Equal(m.ID, id) {
			answered = true
		}
		s.push(ev.Data, err)
	}
}

// Begun implements [Beginner].
func (s *streamable) Begun(version string) {
	s.mu.Lock()
	s.version = version
	s.mu.Unlock()
	go s.listen()
}

// listen takes in what the server says of its own accord, until the stream is closed.
func (s *streamable) listen() {
	last := ""
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		more := s.headers("Accept", eventStream)
		if last != "" {
			more.Set("Last-Event-ID", last)
		}
		res, err := s.do(s.ctx, http.MethodGet, s.URL, nil, more)
		if err == nil {
			kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
			if err = failed(res); err == nil && kind == eventStream {
				es := NewEvents(res.Body)
				began := time.Now()
				s.stream(es, nil)
				last = cmp.Or(es.id, last)
				if time.Since(began) > time.Minute {
					wait = time.Second
				}
			}
			res.Body.Close()
			if code := res.StatusCode; code >= 400 && code < 500 || err == nil && kind != eventStream {
				return // it says nothing of its own accord
			}
		}
		select {
		case <-time.After(wait):
		case <-s.ctx.Done():
			return
		}
	}
}

// Close implements [Stream].
func (s *streamable) Close() error {
	s.cancel(ErrClosed)
	s.left.Do(func() {
		more := s.headers()
		if more.Get(protocol.HeaderSessionID) == "" {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		if res, err := s.do(ctx, http.MethodDelete, s.URL, nil, more); err == nil {
			res.Body.Close()
		}
	})
	return nil
}
