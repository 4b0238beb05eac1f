// Package remotelab is an agent on a server, for tests. It is built on the protocol's
// library, obeys the first word of a message, and records requests.
package remotelab

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2apb"
	"github.com/a2aproject/a2a-go/a2apb/pbconv"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// A Config configures the agent.
type Config struct {
	REST      bool   // it prefers REST
	Streaming bool   // it streams
	Header    string // required of requests, such as "Authorization: Bearer x"; "" requires none
	Locked    bool   // the card requires it, too
	Version   string // of the protocol, "" is 0.3.0
}

// A Lab is the agent on its server.
type Lab struct {
	URL string // without a path

	config Config
	mu     sync.Mutex
	asked  []string
	came   chan struct{} // receives a value for each request
}

// Card returns the address of the agent's card.
func (l *Lab) Card() string { return l.URL + a2asrv.WellKnownAgentCardPath }

// Asked returns the requests so far: "said WORDS", "cancelled", and so on.
func (l *Lab) Asked() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.asked...)
}

// Await waits for a request.
func (l *Lab) Await(ctx context.Context, what string) error {
	for {
		for _, a := range l.Asked() {
			if a == what {
				return nil
			}
		}
		select {
		case <-l.came:
		case <-ctx.Done():
			return fmt.Errorf("it was not asked %q, but %q", what, l.Asked())
		}
	}
}

func (l *Lab) note(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, what)
	select {
	case l.came <- struct{}{}:
	default:
	}
}

// New starts the agent on this machine. It passes its clean-up to end, such as
// [testing.T.Cleanup].
func New(end func(func()), cfg Config) *Lab {
	l := &Lab{config: cfg, came: make(chan struct{}, 1000)}
	handler := a2asrv.NewHandler(l, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
	mux := http.NewServeMux()
	mux.Handle("POST /rpc", l.guard(a2asrv.NewJSONRPCHandler(handler)))
	mux.Handle("/rest/", l.guard(http.StripPrefix("/rest", rest(handler))))
	mux.HandleFunc("GET "+a2asrv.WellKnownAgentCardPath, func(w http.ResponseWriter, r *http.Request) {
		l.note("card")
		if cfg.Locked && !l.shown(r) {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		json.NewEncoder(w).Encode(l.card())
	})
	s := httptest.NewServer(mux)
	end(s.Close)
	end(s.CloseClientConnections)
	end(func() { s.Listener.Close() })
	l.URL = s.URL
	return l
}

func (l *Lab) card() *a2a.AgentCard {
	c := &a2a.AgentCard{Name: "lab", Description: "Does what it is told.", ProtocolVersion: "0.3.0",
		URL: l.URL + "/rpc", PreferredTransport: a2a.TransportProtocolJSONRPC,
		Capabilities: a2a.AgentCapabilities{Streaming: l.config.Streaming}, DefaultInputModes: []string{"text"}, DefaultOutputModes: []string{"text"}, Skills: []a2a.AgentSkill{}}
	if l.config.Version != "" {
		c.ProtocolVersion = l.config.Version
	}
	if l.config.REST {
		c.URL, c.PreferredTransport = l.URL+"/rest/", a2a.TransportProtocolHTTPJSON
	}
	return c
}

// shown reports whether a request has the required header.
func (l *Lab) shown(r *http.Request) bool {
	name, value, _ := strings.Cut(l.config.Header, ": ")
	return name == "" || r.Header.Get(name) == value
}

func (l *Lab) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !l.shown(r) {
			l.note("refused")
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Execute implements [a2asrv.AgentExecutor]: the first word chooses the behaviour.
func (l *Lab) Execute(ctx context.Context, in *a2asrv.RequestContext, q eventqueue.Queue) error {
	said := ""
	for _, p := range in.Message.Parts {
		if t, ok := p.(a2a.TextPart); ok {
			said += t.Text
		}
	}
	l.note("said " + said)
	word, rest, _ := strings.Cut(said, " ")
	says := func(words string) *a2a.Message {
		return a2a.NewMessageForTask(a2a.MessageRoleAgent, in, a2a.TextPart{Text: words})
	}
	var err error
	write := func(ev a2a.Event) {
		if err == nil {
			err = q.Write(ctx, ev)
		}
	}
	status := func(state a2a.TaskState, words string, final bool) {
		var m *a2a.Message
		if words != "" {
			m = says(words)
		}
		ev := a2a.NewStatusUpdateEvent(in, state, m)
		ev.Final = final
		write(ev)
	}
	if word == "hello" {
		write(a2a.NewMessage(a2a.MessageRoleAgent, a2a.TextPart{Text: "Hello, " + rest + "."}))
		return err
	}
	if in.StoredTask != nil {
		status(a2a.TaskStateCompleted, "It is "+said+", then.", true)
		return err
	}
	write(a2a.NewSubmittedTask(in, in.Message))
	status(a2a.TaskStateWorking, "I am at it.", false)
	switch word {
	case "wait":
		l.note("waiting")
		<-ctx.Done()
		return ctx.Err()
	case "ask":
		status(a2a.TaskStateInputRequired, "Which one?", true)
	case "login":
		status(a2a.TaskStateAuthRequired, "Visit the office.", true)
	case "fail":
		status(a2a.TaskStateFailed, "I can't.", true)
	default:
		made := a2a.NewArtifactEvent(in, a2a.TextPart{Text: "one, "})
		made.Artifact.Name = "list"
		write(made)
		write(a2a.NewArtifactUpdateEvent(in, made.Artifact.ID, a2a.TextPart{Text: "two"},
			a2a.DataPart{Data: map[string]any{"n": 3}},
			a2a.FilePart{File: a2a.FileURI{URI: "https://example.com/f", FileMeta: a2a.FileMeta{Name: "f.txt"}}}))
		status(a2a.TaskStateCompleted, "Done: "+said+".", true)
	}
	return err
}

// Cancel implements [a2asrv.AgentExecutor].
func (l *Lab) Cancel(ctx context.Context, in *a2asrv.RequestContext, q eventqueue.Queue) error {
	l.note("cancelled")
	ev := a2a.NewStatusUpdateEvent(in, a2a.TaskStateCanceled, nil)
	ev.Final = true
	return q.Write(ctx, ev)
}

// rest serves a handler by REST, for which the library has types but no server.
func rest(h a2asrv.RequestHandler) http.Handler {
	fail := func(w http.ResponseWriter, err error) {
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(map[string]any{"code": -32602, "message": err.Error()})
	}
	reply := func(w http.ResponseWriter, m proto.Message, err error) {
		if err != nil {
			fail(w, err)
			return
		}
		b, _ := protojson.Marshal(m)
		w.Header().Set("Content-Type", "application/json")
		w.Write(b)
	}
	params := func(r *http.Request) (*a2a.MessageSendParams, error) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		b = []byte(strings.Replace(string(b), `"content":`, `"parts":`, 1)) // the name in version 0.3
		var m a2apb.SendMessageRequest
		if err := protojson.Unmarshal(b, &m); err != nil {
			return nil, err
		}
		return pbconv.FromProtoSendMessageRequest(&m)
	}
	mux := http.NewServeMux()
	for _, version := range []string{"", "/v1"} {
		mux.HandleFunc("POST "+version+"/message:send", func(w http.ResponseWriter, r *http.Request) {
			p, err := params(r)
			if err != nil {
				fail(w, err)
				return
			}
			result, err := h.OnSendMessage(r.Context(), p)
			if err != nil {
				fail(w, err)
				return
			}
			m, err := pbconv.ToProtoSendMessageResponse(result)
			reply(w, m, err)
		})
		mux.HandleFunc("POST "+version+"/message:stream", func(w http.ResponseWriter, r *http.Request) {
			p, err := params(r)
			if err != nil {
				fail(w, err)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			for ev, err := range h.OnSendMessageStream(r.Context(), p) {
				var b []byte
				if err == nil {
					m, merr := pbconv.ToProtoStreamResponse(ev)
					if err = merr; err == nil {
						b, err = protojson.Marshal(m)
					}
				}
				if err != nil {
					b, _ = json.Marshal(map[string]any{"code": -32603, "message": err.Error()})
					fmt.Fprintf(w, "event: error\ndata: %s\n\n", b)
					return
				}
				fmt.Fprintf(w, ": comment\ndata: %s\n\n", b)
				w.(http.Flusher).Flush()
			}
		})
		task := func(w http.ResponseWriter, t *a2a.Task, err error) {
			var m *a2apb.Task
			if err == nil {
				m, err = pbconv.ToProtoTask(t)
			}
			reply(w, m, err)
		}
		mux.HandleFunc("GET "+version+"/tasks/{id}", func(w http.ResponseWriter, r *http.Request) {
			t, err := h.OnGetTask(r.Context(), &a2a.TaskQueryParams{ID: a2a.TaskID(r.PathValue("id"))})
			task(w, t, err)
		})
		mux.HandleFunc("POST "+version+"/tasks/{id}", func(w http.ResponseWriter, r *http.Request) {
			t, err := h.OnCancelTask(r.Context(),
				&a2a.TaskIDParams{ID: a2a.TaskID(strings.TrimSuffix(r.PathValue("id"), ":cancel"))})
			task(w, t, err)
		})
	}
	return mux
}
