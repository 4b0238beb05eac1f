package front

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/commands/program/project/projecttest"
	"gemline/engine"
	et "gemline/engine/enginetest"
)

// A user sits at a client, and says what is asked.
type user struct {
	mu      sync.Mutex
	asked   []string
	answers []map[string]any // nil declines
	told    []string
	before  func() // an answer
}

// Elicit implements the library's handler.
func (u *user) Elicit(_ context.Context, q protocol.ElicitationRequest) (*protocol.ElicitationResult, error) {
	if u.before != nil {
		u.before()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = append(u.asked, q.Params.Message)
	res := &protocol.ElicitationResult{ElicitationResponse: protocol.ElicitationResponse{Action: protocol.ElicitationResponseActionDecline}}
	if len(u.answers) > 0 {
		if a := u.answers[0]; a != nil {
			if begins, ok := a["decision"].(string); ok {
				a["decision"] = offered(q.Params.RequestedSchema, begins)
			}
			res.Action, res.Content = protocol.ElicitationResponseActionAccept, a
		}
		u.answers = u.answers[1:]
	}
	return res, nil
}

// offered returns the decision that a form offers and that begins with some words.
func offered(schema any, begins string) string {
	var s struct {
		Properties struct{ Decision struct{ Enum []string } }
	}
	b, _ := json.Marshal(schema)
	json.Unmarshal(b, &s)
	for _, one := range s.Properties.Decision.Enum {
		if strings.HasPrefix(one, begins) {
			return one
		}
	}
	return "none of " + strings.Join(s.Properties.Decision.Enum, ", ")
}

// served serves a project over a transport, and returns how to begin clients, and where
// these are.
func served(t *testing.T, over string, replies ...et.Reply) (begin func(*user) *client.Client, dir, url, token string, script *et.Script) {
	t.Helper()
	args := []string{"--skip-trust", "--sandbox=off", "mcp", "serve"}
	if over == "http" {
		args = append(args, "--http")
	}
	r := start(t, args...)
	dir = t.TempDir()
	p := projecttest.Open(t, r.Options, dir, func(text string) { t.Log(text) })
	script = et.NewScript(replies...)
	p.Model.Generator = script
	in, out := pipe(t)
	back, feed := pipe(t)
	r.Options.Env.Process.Stdin, r.Options.Env.Process.Stdout = in, feed
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); r.serveMCP(ctx, p) }()
	t.Cleanup(func() { stop(); <-ended })
	if over == "http" {
		var at struct{ URL, Token string }
		line, err := bufio.NewReader(back).ReadBytes('\n')
		if err != nil || json.Unmarshal(line, &at) != nil || at.Token == "" {
			t.Fatalf("%q, %v", line, err)
		}
		url, token = at.URL, at.Token
	}
	return func(u *user) *client.Client {
		var tr transport.Interface = transport.NewIO(back, out, io.NopCloser(strings.NewReader("")))
		if over == "http" {
			var err error
			if tr, err = transport.NewStreamableHTTP(url, transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + token})); err != nil {
				t.Fatal(err)
			}
		}
		var options []client.ClientOption
		if u != nil {
			options = append(options, client.WithElicitationHandler(u))
		}
		c := client.NewClient(tr, options...)
		if u != nil {
			c.OnNotification(func(n protocol.JSONRPCNotification) {
				u.mu.Lock()
				defer u.mu.Unlock()
				said, _ := n.Params.AdditionalFields["message"].(string)
				u.told = append(u.told, said)
			})
		}
		if err := c.Start(ctx); err != nil {
			t.Fatal(err)
		}
		res, err := c.Initialize(ctx, protocol.InitializeRequest{Params: protocol.InitializeParams{ProtocolVersion: protocol.LATEST_PROTOCOL_VERSION}})
		if err != nil || res.ServerInfo.Name != "gemline" || !strings.Contains(res.Instructions, dir) {
			t.Fatalf("%+v, %v", res, err)
		}
		return c
	}, dir, url, token, script
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// call calls a tool, and returns what it says.
func call(ctx context.Context, c *client.Client, name string, args map[string]any) (string, *protocol.CallToolResult, error) {
	req := protocol.CallToolRequest{Params: protocol.CallToolParams{Name: name, Arguments: args, Meta: &protocol.Meta{ProgressToken: "p"}}}
	res, err := c.CallTool(ctx, req)
	if err != nil {
		return "", res, err
	}
	var all []string
	for _, c := range res.Content {
		all = append(all, protocol.GetTextFromContent(c))
	}
	return strings.Join(all, "\n"), res, nil
}

// A client that is built on another library gives tasks, over each transport: its user
// allows a call for the session, and refuses one with a reason; what the model asks is
// answered; a task is cancelled while its user is asked, and the session goes on.
func TestServe(t *testing.T) {
	t.Parallel()
	for _, over := range []string{"stdio", "http"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			touch := et.Says("", et.Call("1", "run_shell_command", "command", "touch made"))
			colour := map[string]any{"header": "Colour", "question": "Which colour?", "type": "choice",
				"options": []any{map[string]any{"label": "red", "description": "warm"}, map[string]any{"label": "blue", "description": "cold"}}}
			u := &user{}
			begin, dir, _, _, script := served(t, over, touch, et.Says("Made."), touch, et.Says("Made unasked."),
				et.Says("", et.Call("2", "write_file", "file_path", "b.txt", "content", "x")), et.Says("Not written."),
				et.Says("", et.Call("3", "ask_user", "questions", []any{colour})), et.Says("Blue it is."),
				et.Says("", et.Call("4", "write_file", "file_path", "c.txt", "content", "x")), et.Says("Still here."))
			c := begin(u)
			ask := func(prompt, want string, answers ...map[string]any) {
				t.Helper()
				u.asked, u.answers, u.told = nil, answers, nil
				got, _, err := call(t.Context(), c, "ask", map[string]any{"prompt": prompt, "session": "s"})
				if err != nil || !strings.Contains(got, want) || len(u.asked) != len(answers) {
					t.Fatalf("%s: %q, %v; want %q; asked %q", prompt, got, err, want, u.asked)
				}
			}
			ask("touch it", "Made.", map[string]any{"decision": "always"})
			if !strings.Contains(u.asked[0], "touch made") || !strings.Contains(u.asked[0], "not confined") || !slices.Contains(u.told, "the user is asked") {
				t.Errorf("asked %q, told %q", u.asked, u.told)
			}
			ask("touch it again", "Made unasked.")
			ask("write b", "Not written.", map[string]any{"decision": "deny", "note": "not that one"})
			ask("which colour", "Blue it is.", map[string]any{"answer1": "blue"})
			said, err := json.Marshal(script.Requests()[len(script.Requests())-1].Contents)
			if err != nil || !strings.Contains(string(said), "not that one") || !strings.Contains(string(said), `\"blue\"`) {
				t.Errorf("the model was not told: %s, %v", said, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			answered := make(chan struct{}) // not before all is over
			defer close(answered)
			u.before = func() { cancel(); <-answered }
			if got, _, err := call(ctx, c, "ask", map[string]any{"prompt": "write c", "session": "s"}); err == nil {
				t.Errorf("it was cancelled, and said %q", got)
			}
			u.before = nil
			ask("are you there?", "Still here.")
			for name, want := range map[string]bool{"made": true, "b.txt": false, "c.txt": false} {
				if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// A client that can't ask has what a run has that nobody watches: what would be asked about
// is denied, and the result says what would allow it. Single tools are judged likewise.
func TestServeUnasked(t *testing.T) {
	t.Parallel()
	begin, dir, _, _, script := served(t, "stdio", et.Says("", et.Call("1", "write_file", "file_path", "a.txt", "content", "x")), et.Says("I could not."),
		et.Says("I see."), et.Says("Again."))
	c := begin(nil)
	got, res, err := call(t.Context(), c, "ask", map[string]any{"prompt": "write it"})
	if err != nil || res.IsError || !strings.Contains(got, "I could not.\nnot done: ") || !strings.Contains(got, "allow it with --allowed-tools") {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("Remember the milk.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, res, err = call(t.Context(), c, "write_file", map[string]any{"file_path": "a.txt", "content": "x", "session": "s"})
	if err != nil || !res.IsError || !strings.Contains(got, "requires user confirmation") {
		t.Errorf("%q, %v", got, err)
	}
	got, res, err = call(t.Context(), c, "read_file", map[string]any{"file_path": "notes.txt", "session": "s"})
	if err != nil || res.IsError || !strings.Contains(got, "the milk") {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.txt")); err == nil {
		t.Error("it was written")
	}
	if got, _, err = call(t.Context(), c, "ask", map[string]any{"prompt": "what was read?", "session": "s"}); err != nil || got != "I see." {
		t.Errorf("%q, %v", got, err)
	}
	requests := script.Requests()
	said, err := json.Marshal(requests[len(requests)-1].Contents)
	if err != nil || !strings.Contains(string(said), "Remember the milk") {
		t.Errorf("the session does not know what was done in it: %s, %v", said, err)
	}
	if got, res, err = call(t.Context(), c, "ask", map[string]any{"prompt": "and again", "session": "s"}); err != nil || got != "Again." {
		t.Fatalf("%q, %v", got, err)
	}
	if meta, err := json.Marshal(res.Meta); err != nil || !strings.Contains(string(meta), `"totalRequests":1}`) {
		t.Errorf("the numbers are not of this call alone: %s, %v", meta, err)
	}
	for name, args := range map[string]map[string]any{"ask": {"prompt": " "}, "ask_user": {"questions": []any{}}, "nothing": nil} {
		if got, _, err := call(t.Context(), c, name, args); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got, res, err := call(t.Context(), c, "ask", map[string]any{"prompt": "x", "session": "../x"}); err != nil || !res.IsError || !strings.Contains(got, "letters, digits") {
		t.Errorf("%q, %v", got, err)
	}
}

// By HTTP, nobody is answered who has not the token, comes from elsewhere or says what is no
// message, and no conversation can be told from one that was never there.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	begin, _, url, token, _ := served(t, "http")
	begin(&user{})
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	for _, c := range []struct {
		name, method, body string
		more               map[string]string
		host               string
		want               int
	}{
		{"begins", "POST", hello, nil, "", 200},
		{"from here", "POST", hello, map[string]string{"Origin": "http://localhost:3000"}, "localhost:1", 200},
		{"no token", "POST", hello, map[string]string{"Authorization": ""}, "", 401},
		{"another token", "POST", hello, map[string]string{"Authorization": "Bearer x"}, "", 401},
		{"another name", "POST", hello, nil, "evil.example", 403},
		{"a page", "POST", hello, map[string]string{"Origin": "https://evil.example"}, "", 403},
		{"a page of nowhere", "POST", hello, map[string]string{"Origin": "null"}, "", 403},
		{"a form", "POST", hello, map[string]string{"Content-Type": "text/plain"}, "", 415},
		{"no JSON", "POST", "{", nil, "", 400},
		{"too much", "POST", `"` + strings.Repeat("x", 17<<20) + `"`, nil, "", 413},
		{"no beginning", "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil, "", 400},
		{"over", "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, map[string]string{"Mcp-Session-Id": "x"}, "", 404},
		{"of the future", "POST", hello, map[string]string{"Mcp-Protocol-Version": "2099-01-01"}, "", 400},
		{"listens", "GET", "", nil, "", 405},
		{"ends nothing", "DELETE", "", map[string]string{"Mcp-Session-Id": "x"}, "", 404},
	} {
		req, err := http.NewRequest(c.method, url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		for name, value := range c.more {
			req.Header.Set(name, value)
		}
		if req.Host = c.host; c.host == "" {
			req.Host = req.URL.Host
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			if c.want != 413 { // which may be said before all was sent
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		b, err := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != c.want || err != nil || strings.Contains(string(b), token) {
			t.Errorf("%s: %s, %v: %s", c.name, res.Status, err, b)
		}
		if c.want == 200 && (!strings.Contains(string(b), `"name":"gemline"`) || res.Header.Get("Mcp-Session-Id") == "") {
			t.Errorf("%s: %s", c.name, b)
		}
	}
}

// Clients by HTTP that never say that they are gone do not add up: the one that was idle for
// longest gives way.
func TestServeMany(t *testing.T) {
	t.Parallel()
	begin, _, _, _, _ := served(t, "http")
	first := begin(&user{})
	for range 64 {
		begin(&user{})
	}
	if _, err := first.ListTools(t.Context(), protocol.ListToolsRequest{}); err == nil {
		t.Error("the first one is still there")
	}
	last := begin(&user{})
	if _, err := last.ListTools(t.Context(), protocol.ListToolsRequest{}); err != nil {
		t.Error(err)
	}
}

// A task that fails says why, in a result that a model reads; what the model had said before
// stands there, too. A panic of a call goes on where the program can say its last word.
func TestServeFails(t *testing.T) {
	t.Parallel()
	r := start(t, "--skip-trust", "--sandbox=off", "--max-turns", "1", "mcp", "serve")
	projecttest.Write(t, filepath.Join(r.Options.Env.Process.Getenv("GEMINI_CLI_HOME"), ".gemini", "settings.json"),
		`{"mcpServers": {"self": {"command": "gemline", "args": ["mcp", "serve"]}}}`)
	p := projecttest.Open(t, r.Options, t.TempDir(), func(text string) { t.Log(text) })
	if st := p.MCP.Servers.Status(); len(st) != 1 || st[0].DisabledReason == "" {
		t.Errorf("it would begin itself: %+v", st)
	}
	fall := et.Says("x")
	fall.Inspect = func(context.Context, *engine.Request) { panic("oh no") }
	p.Model.Generator = et.NewScript(et.Says("I look.", et.Call("1", "list_directory", "dir_path", ".")), fall)
	in, out := pipe(t)
	back, feed := pipe(t)
	r.Options.Env.Process.Stdin, r.Options.Env.Process.Stdout = in, feed
	ended := make(chan any, 1)
	go func() {
		defer func() { ended <- recover() }()
		r.serveMCP(t.Context(), p)
	}()
	c := client.NewClient(transport.NewIO(back, out, io.NopCloser(strings.NewReader(""))))
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(t.Context(), protocol.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	got, res, err := call(t.Context(), c, "ask", map[string]any{"prompt": "look"})
	if err != nil || !res.IsError || !strings.Contains(got, "--max-turns") || !strings.Contains(got, "I look.") {
		t.Errorf("%q, %v", got, err)
	}
	go call(t.Context(), c, "ask", map[string]any{"prompt": "fall"})
	if v := <-ended; v == nil || !strings.HasPrefix(fmt.Sprint(v), "oh no") {
		t.Errorf("%v", v)
	}
}

// Calls of several clients, and several of one, are worked on side by side, but for those of
// one session.
func TestServeSideBySide(t *testing.T) {
	t.Parallel()
	both := make(chan bool)
	meet := et.Says("Met.")
	meet.Inspect = func(context.Context, *engine.Request) {
		select {
		case both <- true:
		case <-both:
		}
	}
	begin, _, _, _, script := served(t, "http", meet, meet)
	var all sync.WaitGroup
	for i := range 2 {
		c := begin(nil)
		all.Go(func() {
			if got, _, err := call(t.Context(), c, "ask", map[string]any{"prompt": "x", "session": fmt.Sprint("s", i)}); err != nil || got != "Met." {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	all.Wait()
	script.Add(et.Says("One."), et.Says("Two."))
	c := begin(nil)
	for range 2 {
		all.Go(func() {
			if got, _, err := call(t.Context(), c, "ask", map[string]any{"prompt": "x", "session": "same"}); err != nil || !strings.HasSuffix(got, "o.") && !strings.HasSuffix(got, "e.") {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	all.Wait()
	if n := len(script.Requests()[3].Contents); n != 3 { // what was asked, what was said, what is asked
		t.Errorf("the second call knows of %d messages", n)
	}
}
