package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine/parallel"
	"gemline/engine/text"
)

// A Remote describes a server that is reached by HTTP.
type Remote struct {
	URL    string // is valid
	Header http.Header
	Client *http.Client // adds the credentials that the server requires
}

// A RefusedError is the error of a request that lacks authorization.
type RefusedError struct{ Status int } // 401 or 403

// Error returns the error in one line.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("the server wants authorization (HTTP %d)", e.Status)
}

// A StatusError is a response with an HTTP error status.
type StatusError struct {
	Code int
	Text string // the beginning of the response
}

// Error returns the status code and the response.
func (e *StatusError) Error() string {
	s := fmt.Sprintf("the server answered HTTP %d %s", e.Code, http.StatusText(e.Code))
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s
}

// ErrSessionEnded is the error of a connection whose session the server has ended, or lost
// in a restart. Servers respond with 404, as the protocol demands, or with 400.
var ErrSessionEnded = errors.New("the server has ended the session")

// A NotServedError is the error of a request that the server has rejected unprocessed, for
// [ErrSessionEnded]. The outcome of other open requests is unknown.
type NotServedError struct{ error }

// Unwrap returns the error of the connection.
func (e *NotServedError) Unwrap() error { return e.error }

var unknownSession = text.Pattern(`(?i)\b(no valid|invalid|unknown) session|\bsession( id)? (not found|expired|has expired)|mcp-session-id`)

const (
	eventStream = "text/event-stream"
	farewell    = 2 * time.Second  // for ending a session
	behind      = 10 * time.Second // for ending a stream after its answer
)

// A remote is a [Stream] over a transport of the library, which makes requests, resumes
// their responses, listens, and keeps the session. As the transport's [http.RoundTripper],
// it reads the server's messages before the library does.
type remote struct {
	Remote
	ctx    context.Context
	cancel context.CancelCauseFunc
	came   chan came
	by     transport.Interface
	older  bool   // of the two transports
	to     string // the address for messages

	versionSet chan struct{} // closed when version is known
	version    string

	last  string        // the id of the listener's last event
	since time.Time     // the listener's last request
	rest  time.Duration // the pause before the next request
}

type came struct {
	text []byte
	err  error // nil or ErrTooLong
}

// An exchange is a request to the server. It is a value in the request's context.
type exchange struct {
	id    json.RawMessage
	begin func(error) // called with nil when the response begins

	// cancel ends the request. stop detaches the request from its context: the library
	// cancels that after the answer, but the rest is read so that the connection can be
	// reused.
	cancel context.CancelFunc
	stop   func() bool
}

func newRemote(r Remote) (*remote, *http.Client) {
	s := &remote{Remote: r, to: r.URL, came: make(chan came), versionSet: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s, &http.Client{Transport: s}
}

var silent = slog.New(slog.DiscardHandler)

// HTTP returns the Stream of a server over streamable HTTP.
func HTTP(r Remote) Stream {
	s, client := newRemote(r)
	//lint:ignore SA1019 in the revisions that are asked for, servers ask on this stream
	listening := transport.WithContinuousListening()
	s.by, _ = transport.NewStreamableHTTP(r.URL, transport.WithHTTPBasicClient(client), listening, transport.WithHTTPLogger(silent))
	s.by.Start(s.ctx) // it can't fail
	return s
}

// SSE returns the Stream of a server over the older HTTP: the server sends events, and the
// first names the address for messages. ctx bounds only the connection set-up.
func SSE(ctx context.Context, r Remote) (Stream, error) {
	s, client := newRemote(r)
	by, _ := transport.NewSSE(r.URL, transport.WithHTTPClient(client), transport.WithSSELogger(silent))
	s.by, s.older = by, true
	by.SetConnectionLostHandler(func(err error) { s.cancel(fmt.Errorf("the server has ended its stream: %w", err)) })
	stop := context.AfterFunc(ctx, func() { s.cancel(context.Cause(ctx)) })
	defer stop()
	if err := by.Start(s.ctx); err != nil {
		s.cancel(plain(err))
		return nil, context.Cause(s.ctx)
	}
	s.to = by.GetEndpoint().String()
	return s, nil
}

// Next implements [Stream].
func (s *remote) Next() ([]byte, error) {
	select {
	case c := <-s.came:
		return c.text, c.err
	case <-s.ctx.Done():
		return nil, context.Cause(s.ctx)
	}
}

// push hands on a message or an error.
func (s *remote) push(text []byte, err error) {
	select {
	case s.came <- came{text, err}:
	case <-s.ctx.Done():
	}
}

// Send implements [Stream].
func (s *remote) Send(ctx context.Context, m *Message) error {
	if s.older || !m.isRequest() {
		return s.post(ctx, m)
	}
	head := make(chan error, 1) // whether the response begins
	begin := func(err error) {
		select {
		case head <- err:
		default:
		}
	}
	go func() {
		_, err := s.by.SendRequest(context.WithValue(ctx, s, &exchange{id: m.ID, begin: begin}),
			transport.JSONRPCRequest{JSONRPC: m.Version, ID: protocol.NewRequestId(m.ID), Method: string(m.Method), Params: m.Params})
		if begin(err); err != nil { // the request failed without an answer
			why := errUnanswered
			errors.As(err, &why)
			s.push((&Message{Version: m.Version, ID: m.ID, Error: why}).text(), nil)
		}
	}()
	err, refused := <-head, (*NotServedError)(nil)
	if err != nil && s.ctx.Err() != nil && !errors.As(err, &refused) {
		return context.Cause(s.ctx)
	}
	return plain(err)
}

var errUnanswered = Errorf(protocol.INTERNAL_ERROR, "the server ended its response without an answer")

// post sends a message that has no response.
func (s *remote) post(ctx context.Context, m *Message) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.to, bytes.NewReader(m.text()))
	if err != nil {
		return err
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, " + eventStream}}
	if id := s.by.GetSessionId(); id != "" {
		req.Header.Set(protocol.HeaderSessionID, id)
	}
	res, err := s.RoundTrip(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// plain returns why a request failed, without the address.
func plain(err error) error {
	for outer := (*url.Error)(nil); errors.As(err, &outer); {
		err = outer.Err
	}
	return err
}

// RoundTrip implements [http.RoundTripper] for the library.
func (s *remote) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if req.Method == http.MethodDelete { // the end of the session
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, farewell)
		defer cancel()
	}
	x, _ := ctx.Value(s).(*exchange)
	if x != nil {
		outer := ctx
		ctx, x.cancel = context.WithCancel(context.WithoutCancel(ctx))
		x.stop = context.AfterFunc(outer, x.cancel)
	}
	req = req.Clone(ctx)
	listens := !s.older && req.Method == http.MethodGet && x == nil
	if listens {
		if err := s.pause(req); err != nil {
			return nil, err
		}
	}
	for name, values := range s.Header {
		if req.Header[name] == nil {
			req.Header[name] = values
		}
	}
	select {
	case <-s.versionSet:
		req.Header.Set(protocol.HeaderProtocolVersion, s.version)
	default:
	}
	res, err := s.Client.Do(req)
	if err != nil {
		return nil, plain(err)
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch code := res.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden && res.Header.Get("WWW-Authenticate") != "":
		err = &RefusedError{code}
	case listens && code < 500 && (code >= 300 || kind != eventStream): // the server has no stream for listeners
		res.StatusCode = http.StatusMethodNotAllowed
	case code >= 300:
		const most = 200 // bytes
		b, _ := io.ReadAll(io.LimitReader(res.Body, most))
		err = &StatusError{code, text.Words(string(b))}
		unknown := code == http.StatusNotFound || code == http.StatusBadRequest && unknownSession().Match(b)
		if unknown && req.Method == http.MethodPost && req.Header.Get(protocol.HeaderSessionID) != "" {
			err = fmt.Errorf("%w: %w", ErrSessionEnded, err)
			s.cancel(err)
			err = &NotServedError{err}
		}
	case kind == eventStream, x != nil:
		from, stream := *res, kind == eventStream
		r, w := io.Pipe()
		res.StatusCode = http.StatusOK // the library rejects other success codes
		if res.Body = r; !stream {
			res.Header.Set("Content-Type", "application/json")
		}
		go func() { w.CloseWithError(s.take(w, &from, stream, x)) }()
	case req.Method == http.MethodGet:
		err = fmt.Errorf("the server sends no events, but %q", kind)
	}
	if err != nil {
		res.Body.Close()
		return nil, err
	}
	if x != nil {
		x.begin(nil)
	}
	return res, nil
}

// pause delays the listener's requests, which the library repeats each second.
func (s *remote) pause(req *http.Request) error {
	select {
	case <-s.versionSet:
	case <-s.ctx.Done():
	}
	if time.Since(s.since) > time.Minute {
		s.rest = 0
	}
	if err := parallel.Sleep(s.ctx, s.rest); err != nil {
		return err
	}
	if s.since, s.rest = time.Now(), min(2*s.rest+time.Second, time.Minute); s.last != "" {
		req.Header.Set("Last-Event-ID", s.last)
	}
	return nil
}

// take reads the response of a server, and writes to w the parts for the library: the ids of
// events, the address for messages, and that the request is answered. The server's messages
// wait until the library reads, as it knows the session then.
func (s *remote) take(w io.Writer, from *http.Response, stream bool, x *exchange) error {
	defer from.Body.Close()
	if x != nil {
		defer x.cancel()
		defer context.AfterFunc(s.ctx, x.cancel)()
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	if !stream {
		return s.takeDocument(w, from.Body, x.id)
	}
	first, over := s.older, false
	for es, pace := NewEvents(from.Body), (pace{}); ; pace.wait(s.ctx) {
		ev, err := es.Next()
		if err != nil && err != ErrTooLong {
			return err
		}
		if x == nil {
			s.last = ev.ID
		}
		reads := "id: " + ev.ID + "\n"
		var m Message
		switch at := from.Request.URL; {
		case first && (ev.Name != "endpoint" || len(ev.Data) == 0):
			err := errors.New("the server does not say where it takes messages")
			s.cancel(err)
			return err
		case s.older && ev.Name == "endpoint":
			if to, err := at.Parse(string(ev.Data)); err != nil || to.Scheme != at.Scheme || to.Host != at.Host {
				err = fmt.Errorf("the server wants messages sent to another one, %.100q", ev.Data)
				s.cancel(err)
				return err
			}
			reads += "event: endpoint\ndata: " + string(ev.Data) + "\n"
		case len(ev.Data) > 0:
			s.push(ev.Data, err)
			if x != nil && !over && json.Unmarshal(ev.Data, &m) == nil && m.Method == "" && bytes.Equal(m.ID, x.id) {
				reads += fmt.Sprintf("data: "+answered+"\n", x.id)
				over = true
				x.stop()
				defer time.AfterFunc(behind, x.cancel).Stop()
			}
		}
		if _, err := io.WriteString(w, reads+"\n"); err != nil && !over {
			return err
		}
		first = false
	}
}

// answered is the message to the library that the request with an id is answered.
const answered = `{"jsonrpc":"2.0","id":%s,"result":{}}`

// takeDocument is [remote.take] for a response that is one document, to the request of an id.
func (s *remote) takeDocument(w io.Writer, from io.Reader, id json.RawMessage) error {
	b, err := io.ReadAll(io.LimitReader(from, MaxMessage+1))
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	begin := text.OneLine(string(b[:min(len(b), 1000)]), 100)
	switch {
	case len(b) > MaxMessage:
		s.push(b[:MaxMessage], ErrTooLong)
	case err == nil && (startsWith(b, '{') || startsWith(b, '[')) && json.Valid(b):
		s.push(b, nil)
	case begin != "":
		return Errorf(protocol.INTERNAL_ERROR, "the server's answer is no message of the protocol: %s", begin)
	default:
		return errUnanswered
	}
	_, err = fmt.Fprintf(w, answered, id)
	return err
}

// SetProtocolVersion implements [ProtocolVersionSetter].
func (s *remote) SetProtocolVersion(version string) {
	s.version = version
	close(s.versionSet)
}

// Close implements [Stream].
func (s *remote) Close() error {
	s.cancel(ErrClosed)
	return s.by.Close()
}
