//lint:file-ignore SA1019 servers go on asking for samples and roots while they may

package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gemline/engine"
	et "gemline/engine/enginetest"
)

// What a server asks is answered within one of its calls alone, by the user, and as the user says.
func TestAsked(t *testing.T) {
	t.Parallel()
	var rooted atomic.Int32
	server := sdk.NewServer(&sdk.Implementation{Name: "asker", Version: "1"}, &sdk.ServerOptions{
		RootsListChangedHandler: func(context.Context, *sdk.RootsListChangedRequest) { rooted.Add(1) }})
	ask := func(name string, run func(context.Context, *sdk.ServerSession) (string, error)) {
		sdk.AddTool(server, &sdk.Tool{Name: name}, func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			said, err := run(ctx, r.Session)
			if err != nil {
				said = "error: " + err.Error()
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: said}}}, nil, nil
		})
	}
	elicit := func(p *sdk.ElicitParams) func(context.Context, *sdk.ServerSession) (string, error) {
		return func(ctx context.Context, ss *sdk.ServerSession) (string, error) {
			r, err := ss.Elicit(ctx, p)
			if err != nil {
				return "", err
			}
			b, _ := json.Marshal(r.Content)
			return r.Action + " " + string(b), nil
		}
	}
	object := func(names ...string) map[string]any {
		fields := map[string]any{}
		for _, name := range names {
			fields[name] = map[string]any{"type": "integer"}
		}
		return map[string]any{"type": "object", "properties": fields}
	}
	var many []string
	for i := range mostFields + 1 {
		many = append(many, fmt.Sprint("f", i))
	}
	ask("agree", elicit(&sdk.ElicitParams{Message: "Go on?", RequestedSchema: object()}))
	ask("form", elicit(&sdk.ElicitParams{Message: "Which?", RequestedSchema: object("n")}))
	ask("many", elicit(&sdk.ElicitParams{Message: "Which?", RequestedSchema: object(many...)}))
	sample := func(p *sdk.CreateMessageParams) func(context.Context, *sdk.ServerSession) (string, error) {
		return func(ctx context.Context, ss *sdk.ServerSession) (string, error) {
			r, err := ss.CreateMessage(ctx, p)
			if err != nil {
				return "", err
			}
			return r.Content.(*sdk.TextContent).Text, nil
		}
	}
	messages := func(n int) (list []*sdk.SamplingMessage) {
		for i := range n {
			list = append(list, &sdk.SamplingMessage{Role: []sdk.Role{"user", "assistant"}[i%2], Content: &sdk.TextContent{Text: fmt.Sprint("m", i)}})
		}
		return list
	}
	ask("sample", sample(&sdk.CreateMessageParams{Messages: messages(2)}))
	ask("nothing", sample(&sdk.CreateMessageParams{Messages: messages(0)}))
	ask("much", sample(&sdk.CreateMessageParams{Messages: messages(mostMessages + 1)}))
	sdk.AddTool(server, &sdk.Tool{Name: "media"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		r := &sdk.CallToolResult{Content: []sdk.Content{&sdk.AudioContent{Data: []byte("x"), MIMEType: "audio/wav"}, &sdk.ImageContent{Data: []byte{}, MIMEType: "image/gif"}, &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "a:b", Blob: []byte("x"), MIMEType: "image/png"}}}}
		for range mostMedia {
			r.Content = append(r.Content, &sdk.ImageContent{Data: []byte("x"), MIMEType: "image/png"})
		}
		return r, nil, nil
	})
	server.AddResource(&sdk.Resource{URI: "r:blob", Name: "r"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "r:blob", Blob: []byte("abcdef"), MIMEType: "image/png"}}}, nil
	})
	server.AddPrompt(&sdk.Prompt{Name: "p"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "assistant", Content: &sdk.TextContent{Text: "said"}}, {Role: "user", Content: &sdk.ImageContent{Data: []byte("x"), MIMEType: "image/png"}}}}, nil
	})
	server.AddPrompt(&sdk.Prompt{Name: "empty"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{}, nil
	})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(web.Close)
	s, said := unconnected(t, Server{Name: "go", URL: web.URL})
	dirs := atomic.Pointer[[]string]{}
	dirs.Store(&[]string{"/a"})
	s.Roots = func() []string { return *dirs.Load() }
	s.Start()
	et.Eventually(t, "it is there", func() bool { return s.Status()[0].State == Connected })
	var reply engine.Answer
	var askedFor []string
	d := &desk{answer: func(p engine.Proposal) engine.Answer {
		if len(p.Intent.Questions) > 0 {
			askedFor = append(askedFor, p.Intent.Questions[0].Text)
		}
		return reply
	}}
	answered := Callbacks{Policy: alwaysAsk{}, Answer: func(context.Context, engine.Host, Sampling) (Answer, error) { return Answer{Text: "Ahoy."}, nil }}
	failing := Callbacks{Policy: alwaysAsk{}, Answer: func(context.Context, engine.Host, Sampling) (Answer, error) {
		return Answer{}, fmt.Errorf("the key is CANARY")
	}}
	for _, test := range []struct {
		tool  string
		in    Callbacks
		reply engine.Answer
		want  string
	}{
		{"agree", Callbacks{}, engine.Replied{Replies: []string{engine.Yes}}, "accept {}"},
		{"agree", Callbacks{}, engine.Replied{Replies: []string{"no"}}, "decline null"},
		{"agree", Callbacks{}, engine.Refused{}, "cancel null"},
		{"form", Callbacks{}, engine.Replied{Replies: []string{"3"}}, `accept {"n":3}`},
		{"form", Callbacks{}, engine.Replied{Replies: []string{""}}, "decline null"},
		{"form", Callbacks{}, engine.Replied{Replies: []string{"x"}}, "cancel null"}, // asked three times
		{"many", Callbacks{}, engine.Replied{Replies: []string{"3"}}, "error: calling \"elicitation/create\": more than 30 fields"},
		{"sample", Callbacks{}, engine.Allowed{}, "error: "}, // nobody answers
		{"sample", answered, engine.Allowed{}, "Ahoy."},
		{"sample", answered, engine.Refused{}, "the user does not have the model answer this"},
		{"sample", failing, engine.Allowed{}, "the model has not answered"},
		{"nothing", answered, engine.Allowed{}, "no messages"},
		{"much", answered, engine.Allowed{}, "more than 100 messages"},
	} {
		reply = test.reply
		r, err := call(t, s.Tools(test.in), d, "mcp_go_"+test.tool, map[string]any{})
		if err != nil || !strings.Contains(r.Text, test.want) || strings.Contains(r.Text, "CANARY") {
			t.Errorf("%s, with %v: %s, %v; want %s", test.tool, test.reply, r.Text, err, test.want)
		}
	}
	if last := askedFor[len(askedFor)-1]; len(askedFor) != 8 || !strings.Contains(last, "the last answer does not fit: n is no number") {
		t.Errorf("asked %q", askedFor)
	}
	for ss := range server.Sessions() { // a question between calls is nobody's
		if said, err := elicit(&sdk.ElicitParams{Message: "password?", RequestedSchema: object()})(t.Context(), ss); err == nil || !strings.Contains(err.Error(), "nobody is asked") || len(askedFor) != 8 {
			t.Errorf("%s, %v, asked %q", said, err, askedFor)
		}
	}
	r, err := call(t, s.Tools(Callbacks{}), d, "mcp_go_media", map[string]any{})
	if err != nil || len(r.Media) != mostMedia || !strings.Contains(r.Text, "Binary content (audio/wav, image/gif) stripped") || !strings.Contains(r.Text, "image data of the mime-type image/png is left out") {
		t.Errorf("%d media, %v: %s", len(r.Media), err, r.Text)
	}
	if got, omitted, err := s.Read(t.Context(), "go", "r:blob"); err != nil || strings.Join(omitted, "") != "image/png" || strings.Join(got, "") != "[Binary resource content image/png, 6 bytes]" {
		t.Errorf("%q, %v", got, err)
	}
	for name, want := range map[string]string{"p": "(an answer, as the server has it) said", "empty": "the MCP server go has an empty prompt there"} {
		parts, err := s.Fill(t.Context(), Prompt{Server: "go", Name: name}, nil)
		if err == nil && (len(parts) != 2 || !strings.HasPrefix(parts[0].Text, want)) || err != nil && err.Error() != want {
			t.Errorf("%s: %v, %v", name, parts, err)
		}
	}
	if _, _, err := s.Read(t.Context(), "none", "r:blob"); err == nil || err.Error() != "there is no MCP server none" {
		t.Error(err)
	}
	dirs.Store(&[]string{"/a", "/b"})
	s.Tools(Callbacks{}).Tools()
	et.Eventually(t, "it knows that the directories have changed", func() bool { return rooted.Load() == 1 })
	if said.text() != "" {
		t.Error(said.text())
	}
}

// A redirect is followed to the same server alone: what is sent is meant for it.
func TestRedirects(t *testing.T) {
	t.Parallel()
	_, at := sdkServer(t)
	var strange atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strange.Add(1) }))
	t.Cleanup(other.Close)
	for _, kind := range []string{"http", "sse"} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}))
		t.Cleanup(web.Close)
		s, _ := set(t, Server{Name: "away", URL: web.URL, Kind: kind, Header: map[string]string{"X-Key": "CANARY"}})
		if st := s.Status()[0]; st.State != Failed || !strings.Contains(st.Err.Error(), "307") || strange.Load() != 0 {
			t.Errorf("%s: %s, %v; asked %d times", kind, st.State, st.Err, strange.Load())
		}
	}
	to, _ := url.Parse(at.URL)
	mux := http.NewServeMux()
	mux.Handle("/old", http.RedirectHandler("/new", http.StatusTemporaryRedirect))
	mux.Handle("/new", &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }})
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	s, _ := set(t, Server{Name: "near", URL: web.URL + "/old"})
	if st := s.Status()[0]; st.State != Connected {
		t.Errorf("%s: %v", st.State, st.Err)
	}
}
