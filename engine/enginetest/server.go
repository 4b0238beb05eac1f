package enginetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
)

// A Server implements the Gemini API, and Code Assist's, over HTTP on 127.0.0.1. It gives its
// replies in order, one for each request that generates. Requests that count tokens don't use
// these replies. Close stops it.
type Server struct {
	// URL is the address of the API, without a final slash.
	URL string

	// Respond, if not nil, returns the reply to a request once the scripted replies are used up.
	// It must be set before the first request.
	Respond func(r Received) Reply

	// Tokens is the answer of countTokens, unless CountReplies has a reply. Set them before the
	// first request.
	Tokens       int
	CountReplies []Reply

	// ListReplies are the replies to requests for the list of models, in order; later
	// requests get a list of one model. Set them before the first request.
	ListReplies []Reply

	// Assist has Code Assist's replies to other methods than generating and counting, by name,
	// and to requests for operations: the replies of each in order, the last repeatedly. Set it
	// before the first request.
	Assist map[string][]Reply

	// Dialect, if not nil, is the protocol of the server instead of Gemini's. Others are the
	// replies to other paths, by the end of the path: the replies of each in order, the last
	// repeatedly. Set them before the first request.
	Dialect *Dialect
	Others  map[string][]Reply

	// Forget makes Requests return nil, so that a long-running Server needs no memory for
	// requests. It must be set before the first request.
	Forget bool

	// Polls is how often the client asks about a batch job before it is over. The first
	// Unanswered jobs are accepted, but their requests get no response. Set them before the first
	// request.
	Polls, Unanswered int

	server   *httptest.Server
	jobs     []*job
	mu       sync.Mutex
	replies  []Reply
	requests []Received
	count    int
	arrived  chan struct{}
	ended    chan struct{}
}

// Received is a received request.
type Received struct {
	Method string
	Path   string
	Query  string
	Header http.Header
	Body   []byte
	From   string // the address and port of the client

	// Model and Action are taken from the path, such as "gemini-2.5-pro"
	// and "streamGenerateContent"; Code Assist has the model in the body.
	Model, Action string
}

// JSON returns the decoded body, nil if it is no JSON object.
func (r Received) JSON() map[string]any {
	var m map[string]any
	if json.Unmarshal(r.Body, &m) != nil {
		return nil
	}
	return m
}

// Contents returns the conversation that the request carries.
func (r Received) Contents() []*genai.Content {
	type contents struct{ Contents []*genai.Content }
	var body struct {
		contents
		Request contents // of Code Assist
	}
	if json.Unmarshal(r.Body, &body) != nil {
		return nil
	}
	return append(body.Contents, body.Request.Contents...)
}

// NewServer starts a Server that gives replies.
func NewServer(replies ...Reply) *Server {
	return newServer(replies).start()
}

// start starts to listen.
func (s *Server) start() *Server {
	s.server = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.server.URL
	return s
}

func newServer(replies []Reply) *Server {
	return &Server{replies: replies, Tokens: 7, arrived: make(chan struct{}, 1024), ended: make(chan struct{}, 1024)}
}

// Close breaks open connections and waits until all requests are over.
func (s *Server) Close() {
	s.server.Listener.Close() // so that Close does not wait for a client that reconnects at once
	s.server.CloseClientConnections()
	s.server.Close()
}

// Add appends replies.
func (s *Server) Add(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, replies...)
}

// Requests returns the received requests, including token counts.
func (s *Server) Requests() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Received(nil), s.requests...)
}

// Arrived delivers once for every request that has come in.
func (s *Server) Arrived() <-chan struct{} { return s.arrived }

// Ended delivers once for every finished or cancelled request.
func (s *Server) Ended() <-chan struct{} { return s.ended }

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	defer deliver(s.ended)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	got := Received{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		Header: r.Header.Clone(), Body: body, From: r.RemoteAddr}
	if s.Dialect != nil {
		got.Model, got.Action = bodyModel(body), s.action(r.URL.Path)
	} else if _, model, ok := strings.Cut(r.URL.Path, "/models/"); ok {
		got.Model, got.Action, _ = strings.Cut(model, ":")
	} else if action, ok := assistAction(r.URL.Path); ok {
		got.Model, got.Action = assistModel(body), action
	}
	reply := s.reply(got)
	deliver(s.arrived)
	if reply.Ended != nil {
		defer reply.Ended()
	}
	if reply.Inspect != nil {
		reply.Inspect(r.Context(), &engine.Request{Model: got.Model, Contents: got.Contents()})
	}
	answer(w, r, got, reply, s.Dialect)
}

// bodyModel returns the model in a body.
func bodyModel(body []byte) string {
	var b struct{ Model string }
	json.Unmarshal(body, &b) // what is no JSON names none
	return b.Model
}

// action returns the action in a path of the dialect.
func (s *Server) action(path string) string {
	if strings.HasSuffix(path, s.Dialect.Path) {
		return "streamGenerateContent"
	}
	return ""
}

// deliver sends to c, unless it is full.
func deliver(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (s *Server) reply(got Received) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.Forget {
		s.requests = append(s.requests, got)
	}
	s.count++
	for end, replies := range s.Others {
		if strings.HasSuffix(got.Path, end) {
			if len(replies) > 1 {
				s.Others[end] = replies[1:]
			}
			return replies[0]
		}
	}
	switch got.Action {
	case "countTokens":
		if len(s.CountReplies) > 0 {
			return take(&s.CountReplies)
		}
		return Whole(fmt.Sprintf(`{"totalTokens":%d}`, s.Tokens))
	case "streamGenerateContent", "generateContent":
		return s.generate(got)
	}
	if got.Method == http.MethodGet && strings.HasSuffix(got.Path, "/models") {
		if len(s.ListReplies) > 0 {
			return take(&s.ListReplies)
		}
		return Whole(`{"models":[{"name":"models/gemini-2.5-flash","displayName":"Flash","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent"]}]}`)
	}
	if reply, ok := s.batch(got); ok {
		return reply
	}
	if reply, ok := s.assist(got); ok {
		return reply
	}
	return Status(http.StatusNotFound, "NOT_FOUND", "no such method: "+got.Method+" "+got.Path)
}

func take(from *[]Reply) Reply {
	r := (*from)[0]
	*from = (*from)[1:]
	r.Chunks = copiedChunks(r.Chunks)
	return r
}

// generate returns the reply to a request for an answer.
func (s *Server) generate(got Received) Reply {
	switch {
	case len(s.replies) > 0:
		return take(&s.replies)
	case s.Respond != nil:
		return s.Respond(got)
	}
	return Status(http.StatusBadRequest, "INVALID_ARGUMENT",
		fmt.Sprintf("the server has no reply to request %d", s.count))
}

// answer sends reply.
func answer(w http.ResponseWriter, r *http.Request, got Received, reply Reply, d *Dialect) {
	wire := reply.Wire
	if wire == nil {
		wire = &Wire{}
	}
	if _, ok := assistAction(r.URL.Path); ok {
		wire = wire.enveloped()
	}
	if !pause(r, wire.Delay) {
		return
	}
	stream := got.Action == "streamGenerateContent" && r.URL.Query().Get("alt") == "sse"
	if d != nil {
		stream = got.Action != "" && got.JSON()["stream"] != false && got.JSON()["stream"] != nil
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	if stream && wire.Body == "" && wire.Status == 0 {
		w.Header().Set("Content-Type", "text/event-stream")
		if d != nil {
			w.Header().Set("Content-Type", d.Type)
		}
	}
	for k, v := range wire.Header {
		w.Header()[k] = v
	}
	if wire.Status != 0 {
		w.WriteHeader(wire.Status)
	}
	flush := http.NewResponseController(w).Flush
	all := pieces
	if d != nil && got.Action != "" {
		all = d.pieces
	}
	for _, piece := range all(reply, wire, stream) {
		if _, err := io.WriteString(w, piece); err != nil {
			return
		}
		if flush() != nil {
			return
		}
	}
	if flush() != nil {
		return
	}
	if reply.Stall {
		<-r.Context().Done()
		return
	}
	if wire.Reset || reply.Err != nil {
		reset(w)
	}
}

// pieces returns the pieces of a response body.
func pieces(reply Reply, wire *Wire, stream bool) []string {
	switch {
	case wire.Body != "":
		return []string{wire.Body}
	case wire.Pieces != nil:
		return wire.Pieces
	case !stream:
		return []string{unary(reply.Chunks)}
	}
	frame := wire.Frame
	if frame == nil {
		frame = Event
	}
	all := []string{wire.Before}
	for _, c := range reply.Chunks {
		all = append(all, frame(text(c)))
	}
	return append(all, wire.After)
}

// unary joins chunks into the one document of a request that doesn't stream.
func unary(chunks []*genai.GenerateContentResponse) string {
	if len(chunks) == 0 {
		return "{}"
	}
	whole := chunks[len(chunks)-1]
	if len(whole.Candidates) > 0 && whole.Candidates[0].Content != nil {
		var parts []*genai.Part
		for _, c := range chunks {
			if len(c.Candidates) > 0 && c.Candidates[0].Content != nil {
				parts = append(parts, c.Candidates[0].Content.Parts...)
			}
		}
		whole.Candidates[0].Content.Parts = parts
	}
	return text(whole)
}

// Event returns the usual frame of a chunk: an event with a single data line.
func Event(json string) string { return "data: " + json + "\r\n\r\n" }

// text returns the JSON of a chunk as the API writes it.
func text(c *genai.GenerateContentResponse) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		panic(fmt.Sprintf("enginetest: a chunk that is not JSON: %v", err))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// pause waits for d and reports whether the client is still connected.
func pause(r *http.Request, d time.Duration) bool {
	if d == 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// reset breaks the connection so that the client sees a reset, not an end.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}
