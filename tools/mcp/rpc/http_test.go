package rpc_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/tools/mcp/rpc"
)

// What a server says in a stream of events ends the call that it answers, and no other
// call. A stream that ends before the answer is resumed where the server says how.
func TestEvents(t *testing.T) {
	t.Parallel()
	const answer, event = `{"jsonrpc":"2.0","id":1,"result":{"of":"it"}}`, "data: %s\n\n"
	for name, c := range map[string]struct {
		says string // in answer to the call
		ends bool   // the stream ends then
		then string // in answer to who listens on
		err  string // of the call, "" if it is answered
	}{
		"an answer":                  {says: fmt.Sprintf(event, answer)},
		"another's answer":           {says: fmt.Sprintf(event, `{"jsonrpc":"2.0","id":7,"result":{}}`) + fmt.Sprintf(event, answer)},
		"an answer, twice":           {says: fmt.Sprintf(event+event, answer, answer)},
		"requests before it":         {says: strings.Repeat(fmt.Sprintf(event, `{"jsonrpc":"2.0","id":"x","method":"elicitation/create"}`), 1000) + fmt.Sprintf(event, answer)},
		"on several lines":           {says: "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{\"of\":\"it\"}}\n\n"},
		"a cut answer":               {says: fmt.Sprintf(event, answer[:30]), err: "no JSON"},
		"an answer that is too long": {says: `data: {"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", rpc.MaxMessage) + "\"}\n\n", err: "16 MB"},
		"an error that is a text":    {says: fmt.Sprintf(event, `{"jsonrpc":"2.0","id":1,"error":"no such table"}`), err: "no such table"},
		"no answer":                  {ends: true, err: "without an answer"},
		"an answer later":            {says: "id: 5\ndata:\n\n", ends: true, then: fmt.Sprintf(event, answer)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{})
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				switch body, _ := io.ReadAll(r.Body); {
				case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") == "5":
					io.WriteString(w, c.then)
				case strings.Contains(string(body), `"method":"x"`):
					io.WriteString(w, c.says)
					w.(http.Flusher).Flush()
					if !c.ends {
						<-over
					}
				}
			}))
			defer s.Close()
			defer close(over)
			conn := rpc.New(rpc.HTTP(rpc.Remote{URL: s.URL, Client: s.Client()}), rpc.Handler{Notify: func(protocol.MCPMethod, json.RawMessage) {}})
			defer conn.Close()
			var got struct{ Of string }
			err := conn.Call(t.Context(), "x", nil, &got)
			if c.err == "" && (err != nil || got.Of != "it") || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%+v, %v; want %q", got, err, c.err)
			}
		})
	}
}

// A body tells when it is closed whether it was read to its end.
type body struct {
	io.ReadCloser
	read bool
	told chan bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read = b.read || err == io.EOF
	return n, err
}

func (b *body) Close() error {
	b.told <- b.read
	return b.ReadCloser.Close()
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// A stream is read to its end behind the answer, so that its connection can be used again.
func TestBehindAnswer(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if said, _ := io.ReadAll(r.Body); strings.Contains(string(said), `"method":"y"`) {
			io.WriteString(w, `{"jsonrpc":"2.0","id":2,"result":{}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
		w.(http.Flusher).Flush()
		<-next
	}))
	defer s.Close()
	told := make(chan bool, 1)
	client := &http.Client{Transport: tripper(func(req *http.Request) (*http.Response, error) {
		res, err := s.Client().Transport.RoundTrip(req)
		if err == nil && res.Header.Get("Content-Type") == "text/event-stream" {
			res.Body = &body{res.Body, false, told}
		}
		return res, err
	})}
	conn := rpc.New(rpc.HTTP(rpc.Remote{URL: s.URL, Client: client}), rpc.Handler{})
	defer conn.Close()
	err := errors.Join(conn.Call(t.Context(), "x", struct{}{}, nil), conn.Call(t.Context(), "y", struct{}{}, nil))
	close(next)
	if err != nil || !<-told {
		t.Errorf("the stream was left behind, %v", err)
	}
}

// A second request with the id of an open request is refused, and the first is answered.
func TestIDTwice(t *testing.T) {
	t.Parallel()
	begun, over := make(chan bool), make(chan bool)
	s := httptest.NewServer(&rpc.Host{Begin: func(s rpc.Stream) {
		go rpc.New(s, rpc.Handler{Request: func(_ context.Context, m *rpc.Message) (any, error) {
			if m.Method == "slow" {
				begun <- true
				<-over
			}
			return "done " + string(m.Method), nil
		}})
	}})
	defer s.Close()
	session := ""
	post := func(method string, id int) (int, string) {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`, id, method)))
		req.Header.Set("Content-Type", "application/json")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		res, err := s.Client().Do(req)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		session = cmp.Or(session, res.Header.Get("Mcp-Session-Id"))
		return res.StatusCode, string(b)
	}
	post("initialize", 1)
	first := make(chan string)
	go func() {
		_, said := post("slow", 7)
		first <- said
	}()
	<-begun
	if code, said := post("fast", 7); code != http.StatusBadRequest {
		t.Error(code, said)
	}
	close(over)
	if said := <-first; !strings.Contains(said, "done slow") {
		t.Errorf("%q", said)
	}
}

// An event goes out at once, also through a proxy that would gather answers.
func TestEventWriter(t *testing.T) {
	w := httptest.NewRecorder()
	if passed := rpc.EventWriter(w, time.Minute)("data: %d\n\n", 1); !passed || !w.Flushed || w.Header().Get("X-Accel-Buffering") != "no" {
		t.Errorf("%v, %v, %v", passed, w.Flushed, w.Header())
	}
}

// A server of the older transport that does not begin with where it takes messages is not
// waited for.
func TestNoEndpoint(t *testing.T) {
	t.Parallel()
	for _, says := range []string{"event: ping\ndata: 1\n\n", "event: endpoint\ndata:\n\n"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, says)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}))
		defer s.Close()
		if _, err := rpc.SSE(t.Context(), rpc.Remote{URL: s.URL, Client: s.Client()}); err == nil || !strings.Contains(err.Error(), "does not say where it takes messages") {
			t.Errorf("%q: %v", says, err)
		}
	}
}

// A session begins whichever status of success its server answers.
func TestCreated(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Mcp-Session-Id", "s")
		w.WriteHeader(http.StatusCreated)
		body, _ := io.ReadAll(r.Body)
		var m rpc.Message
		json.Unmarshal(body, &m)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%q}`, m.ID, r.Header.Get("Mcp-Session-Id"))
	}))
	defer s.Close()
	conn := rpc.New(rpc.HTTP(rpc.Remote{URL: s.URL, Client: s.Client()}), rpc.Handler{})
	defer conn.Close()
	var session string
	for _, method := range []protocol.MCPMethod{protocol.MethodInitialize, protocol.MethodToolsList} {
		if err := conn.Call(t.Context(), method, struct{}{}, &session); err != nil {
			t.Fatal(err)
		}
	}
	if session != "s" {
		t.Errorf("the session is %q", session)
	}
}

// A server of the older transport may not have messages sent to another server.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: endpoint\ndata: http://example.com/\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer s.Close()
	if _, err := rpc.SSE(t.Context(), rpc.Remote{URL: s.URL, Client: s.Client()}); err == nil || !strings.Contains(err.Error(), `sent to another one, "http://example.com/"`) {
		t.Error(err)
	}
}
