package front

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	protocol "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2aclient/agentcard"

	"gemline/commands/program/project/projecttest"
	et "gemline/engine/enginetest"
)

// An agentServer is a server of tasks, and a client of it that is built on a library.
type agentServer struct {
	*a2aclient.Client
	url, token, dir string
	script          *et.Script
	stop            func()
}

// withToken sends a token.
type withToken string

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(w))
	return http.DefaultTransport.RoundTrip(r)
}

// servedA2A serves a project to agents.
func servedA2A(t *testing.T, replies ...et.Reply) *agentServer {
	t.Helper()
	return servedIn(t, t.TempDir(), t.TempDir(), replies...)
}

func servedIn(t *testing.T, home, dir string, replies ...et.Reply) *agentServer {
	t.Helper()
	r := start(t, "--skip-trust", "--sandbox=off", "a2a", "serve")
	lookup := r.Options.Env.Process.Lookup
	r.Options.Env.Process.Lookup = func(name string) (string, bool) {
		if name == "GEMINI_CLI_HOME" {
			return home, true
		}
		return lookup(name)
	}
	a := &agentServer{dir: dir, script: et.NewScript(replies...)}
	p := projecttest.Open(t, r.Options, a.dir, func(text string) { t.Log(text) })
	p.Model.Generator = a.script
	back, feed := pipe(t)
	r.Options.Env.Process.Stdout = feed
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); r.serveA2A(ctx, p) }()
	a.stop = func() { stop(); <-ended }
	t.Cleanup(a.stop)
	var at struct{ URL, Token string }
	line, err := bufio.NewReader(back).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &at) != nil || at.Token == "" {
		t.Fatalf("%q, %v", line, err)
	}
	a.url, a.token = at.URL, at.Token
	card, err := agentcard.DefaultResolver.Resolve(t.Context(), a.url)
	if err != nil || card.ProtocolVersion != "0.3.0" || card.URL != a.url || !card.Capabilities.Streaming || card.Skills[0].ID != "code_generation" {
		t.Fatalf("%+v, %v", card, err)
	}
	if a.Client, err = a2aclient.NewFromCard(t.Context(), card, a2aclient.WithJSONRPCTransport(&http.Client{Transport: withToken(a.token)})); err != nil {
		t.Fatal(err)
	}
	return a
}

// said returns a message of the user's.
func said(of protocol.TaskInfoProvider, parts ...protocol.Part) *protocol.MessageSendParams {
	m := protocol.NewMessage(protocol.MessageRoleUser, parts...)
	if of != nil {
		m = protocol.NewMessageForTask(protocol.MessageRoleUser, of, parts...)
	}
	return &protocol.MessageSendParams{Message: m}
}

// A heard is what a stream has told.
type heard struct {
	task  *protocol.Task
	info  protocol.TaskInfo
	text  string
	kinds []string
	asked map[string]any // of the call that is asked about
	state protocol.TaskState
	final bool
	out   string
}

// hear reads a stream to its end.
func hear(t *testing.T, events func(func(protocol.Event, error) bool)) (h heard) {
	t.Helper()
	for ev, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		h.info = ev.TaskInfo()
		switch ev := ev.(type) {
		case *protocol.Task:
			h.task = ev
		case *protocol.TaskArtifactUpdateEvent:
			h.out += ev.Artifact.Parts[0].(protocol.TextPart).Text
		case *protocol.TaskStatusUpdateEvent:
			kind := ev.Metadata["coderAgent"].(map[string]any)["kind"].(string)
			h.kinds, h.state, h.final = append(h.kinds, kind), ev.Status.State, ev.Final
			if kind == "text-content" {
				h.text += ev.Status.Message.Parts[0].(protocol.TextPart).Text
			}
			if kind == "tool-call-confirmation" {
				h.asked = ev.Status.Message.Parts[0].(protocol.DataPart).Data
			}
		}
	}
	return h
}

// TaskInfo implements the library's interface.
func (h heard) TaskInfo() protocol.TaskInfo { return h.info }

// reply answers what is asked.
func (h heard) reply(outcome string, more ...any) protocol.Part {
	d := map[string]any{"callId": h.asked["request"].(map[string]any)["callId"], "outcome": outcome}
	for i := 0; i < len(more); i += 2 {
		d[more[i].(string)] = more[i+1]
	}
	return protocol.DataPart{Data: d}
}

func words(s string) protocol.Part { return protocol.TextPart{Text: s} }

// An agent that is built on a library gives a task and reads along: a call is allowed for the
// task, one is refused with a reason, one is changed, what the model asks is answered, and
// the task is cancelled, once.
func TestA2A(t *testing.T) {
	t.Parallel()
	write := func(id, name string) et.Reply {
		return et.Says("", et.Call(id, "write_file", "file_path", name, "content", "mine\n"))
	}
	colour := map[string]any{"header": "Colour", "question": "Which colour?", "type": "choice",
		"options": []any{map[string]any{"label": "red", "description": "warm"}, map[string]any{"label": "blue", "description": "cold"}}}
	touch := et.Says("", et.Call("1", "run_shell_command", "command", "echo done; touch made"))
	a := servedA2A(t, touch, et.Says("Made."), touch, et.Says("Made unasked."), write("2", "b.txt"), et.Says("Not written."),
		write("3", "c.txt"), et.Says("Changed."), et.Says("", et.Call("4", "ask_user", "questions", []any{colour})), et.Says("Blue it is."), write("5", "d.txt"))
	ctx := t.Context()
	h := hear(t, a.SendStreamingMessage(ctx, said(nil, words("touch it @b /help"))))
	if h.task == nil || h.task.Status.State != protocol.TaskStateSubmitted || h.state != protocol.TaskStateInputRequired || !h.final || h.asked == nil {
		t.Fatalf("%+v", h)
	}
	if d := h.asked["confirmationDetails"].(map[string]any); d["type"] != "exec" || d["command"] != "echo done; touch made" || h.asked["status"] != "awaiting_approval" {
		t.Errorf("%v", h.asked)
	}
	task, err := a.GetTask(ctx, &protocol.TaskQueryParams{ID: h.info.TaskID})
	if err != nil || task.Status.State != protocol.TaskStateInputRequired || task.Status.Message == nil {
		t.Fatalf("%+v, %v", task, err)
	}
	step := func(h heard, want string, parts ...protocol.Part) heard {
		t.Helper()
		next := hear(t, a.SendStreamingMessage(ctx, said(h, parts...)))
		if next.text != want || next.state != protocol.TaskStateInputRequired || !next.final {
			t.Fatalf("%+v, want %q", next, want)
		}
		return next
	}
	h = step(h, "Made.", h.reply("proceed_always"))
	if h.out != "done\n" || h.asked != nil {
		t.Errorf("%+v", h)
	}
	h = step(h, "Made unasked.", words("again"))
	h = step(h, "", words("write b"))
	h = step(h, "Not written.", h.reply("cancel"), words("not that one"))
	h = step(h, "", words("write c"))
	h = step(h, "", h.reply("modify_with_editor", "newContent", "other\n"))
	if d := h.asked["confirmationDetails"].(map[string]any); d["type"] != "edit" || !strings.Contains(d["fileDiff"].(string), "+other") || d["newContent"] != "other\n" {
		t.Errorf("%v", d)
	}
	h = step(h, "Changed.", h.reply("proceed_once", "newContent", "third\n"))
	h = step(h, "", words("which colour"))
	h = step(h, "Blue it is.", h.reply("proceed_once", "answers", map[string]any{"0": "blue"}))
	asked := a.script.Requests()
	b, _ := json.Marshal(asked[len(asked)-1].Contents)
	for _, want := range []string{"touch it @b /help", "not that one", `blue`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the model was not told %q", want)
		}
	}
	h = step(h, "", words("write d"))
	task, err = a.CancelTask(ctx, &protocol.TaskIDParams{ID: h.info.TaskID})
	if err != nil || task.Status.State != protocol.TaskStateCanceled {
		t.Fatalf("%+v, %v", task, err)
	}
	if _, err = a.CancelTask(ctx, &protocol.TaskIDParams{ID: h.info.TaskID}); !errors.Is(err, protocol.ErrTaskNotCancelable) {
		t.Errorf("cancelled twice: %v", err)
	}
	a.script.Add(et.Says("I know."))
	m := said(nil, words("what was said?"))
	m.Message.ContextID = h.info.ContextID
	res, err := a.SendMessage(ctx, m)
	if task, ok := res.(*protocol.Task); err != nil || !ok || task.ID == h.info.TaskID || task.Status.State != protocol.TaskStateInputRequired ||
		task.Status.Message.Parts[0].(protocol.TextPart).Text != "I know." {
		t.Fatalf("%+v, %v", res, err)
	}
	requests := a.script.Requests()
	if b, _ := json.Marshal(requests[len(requests)-1].Contents); !strings.Contains(string(b), "Blue it is.") {
		t.Error("the context does not go on")
	}
	for name, want := range map[string]string{"made": "", "c.txt": "third\n"} {
		if b, err := os.ReadFile(filepath.Join(a.dir, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for _, name := range []string{"b.txt", "d.txt"} {
		if _, err := os.Stat(filepath.Join(a.dir, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

// post sends a body, and returns what is answered.
func (a *agentServer) post(t *testing.T, method, path, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, strings.TrimSuffix(a.url, "/")+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + a.token}, "Content-Type": {"application/json"}}
	for i := 0; i < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 413, err.Error() // which may be said before all was sent
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), a.token) {
		t.Errorf("the token is told: %s", b)
	}
	return res.StatusCode, string(b)
}

// Nobody is answered who has not the token, comes from elsewhere or says what is no request,
// and what can't be done is said in the protocol's errors.
func TestA2ARefuses(t *testing.T) {
	t.Parallel()
	a := servedA2A(t, et.Says("", et.Call("1", "write_file", "file_path", "a.txt", "content", "x")), et.Says("Left."))
	ctx := t.Context()
	get := `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"x"}}`
	for _, c := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		want                     string
	}{
		{"no token", "POST", "/", get, []string{"Authorization", ""}, 401, "token"},
		{"another token", "POST", "/", get, []string{"Authorization", "Bearer x"}, 401, "token"},
		{"basic", "GET", "/tasks/metadata", "", []string{"Authorization", "Basic YWRtaW46cGFzc3dvcmQ="}, 401, "token"},
		{"a page", "POST", "/", get, []string{"Origin", "https://evil.example"}, 403, "this machine"},
		{"a page reads the card", "GET", "/.well-known/agent-card.json", "", []string{"Origin", "https://evil.example"}, 403, "this machine"},
		{"another name", "POST", "/", get, []string{"Host", "evil.example"}, 403, "this machine"},
		{"a form", "POST", "/", get, []string{"Content-Type", "text/plain"}, 415, "application/json"},
		{"a form for a command", "POST", "/executeCommand", "{}", []string{"Content-Type", "text/plain"}, 415, `{"error":"a request is application/json"}`},
		{"a form for a task", "POST", "/tasks", "{}", []string{"Content-Type", "text/plain"}, 415, `{"error":"a request is application/json"}`},
		{"too much", "POST", "/", `"` + strings.Repeat("x", 17<<20) + `"`, nil, 413, ""},
		{"no JSON", "POST", "/", "{", nil, 200, `"code":-32700`},
		{"several", "POST", "/", "[" + get + "]", nil, 200, `"code":-32600`},
		{"no version", "POST", "/", `{"id":1,"method":"tasks/get"}`, nil, 200, `"code":-32600`},
		{"an object for an id", "POST", "/", `{"jsonrpc":"2.0","id":{},"method":"tasks/get"}`, nil, 200, `"id":null`},
		{"no method", "POST", "/", `{"jsonrpc":"2.0","id":"a","method":"tasks/list"}`, nil, 200, `"code":-32601`},
		{"no parameters", "POST", "/", `{"jsonrpc":"2.0","id":1,"method":"tasks/cancel"}`, nil, 200, `"code":-32602`},
		{"no task", "POST", "/", get, nil, 200, `"code":-32001`},
		{"a path for a task", "POST", "/", `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"../chats"}}`, nil, 200, `"code":-32001`},
		{"follows nothing", "POST", "/", `{"jsonrpc":"2.0","id":1,"method":"tasks/resubscribe","params":{"id":"x"}}`, nil, 200, `data: {"jsonrpc":"2.0","id":1,"error":{"code":-32001`},
		{"no message", "POST", "/", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}`, nil, 200, `"code":-32602`},
		{"an unknown part", "POST", "/", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"1","role":"user","parts":[{"kind":"x"}]}}}`, nil, 200, `"code":-32602`},
		{"a file", "POST", "/", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"1","role":"user","parts":[{"kind":"file","file":{"uri":"file:///etc/passwd"}}]}}}`, nil, 200, `"code":-32005`},
		{"elsewhere", "POST", "/", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"1","role":"user","parts":[{"kind":"text","text":"x"}],"metadata":{"coderAgent":{"workspacePath":"/"}}}}}`, nil, 200, `"code":-32602`},
		{"sent elsewhere", "POST", "/", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"configuration":{"pushNotificationConfig":{"url":"http://x"}},"message":{"messageId":"1","role":"user","parts":[{"kind":"text","text":"x"}]}}}`, nil, 200, `"code":-32003`},
		{"another card", "POST", "/", `{"jsonrpc":"2.0","id":1,"method":"agent/getAuthenticatedExtendedCard"}`, nil, 200, `"code":-32007`},
		{"a list for a command", "POST", "/executeCommand", `[]`, nil, 400, `{"error":"this can't be read: JSON of the type array where an object belongs"}`},
		{"no such command", "POST", "/executeCommand", `{"command":"quit"}`, nil, 404, `{"error":`},
		{"no command", "POST", "/executeCommand", `{"args":"x"}`, nil, 400, `{"error":`},
		{"no such page", "GET", "/x", "", nil, 404, ""},
		{"no such verb", "DELETE", "/", "", nil, 405, "takes such a request"},
		{"no tasks", "GET", "/tasks/metadata", "", nil, 204, ""},
		{"no such task", "GET", "/tasks/01234567-89ab-7cde-8f01-23456789abcd/metadata", "", nil, 404, `{"error":`},
	} {
		status, got := a.post(t, c.method, c.path, c.body, c.header...)
		if status != c.status || c.status != 413 && !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %s", c.name, status, got)
		}
		if status >= 400 && c.name != "too much" && !json.Valid([]byte(got)) {
			t.Errorf("%s: no JSON: %s", c.name, got)
		}
	}
	h := hear(t, a.SendStreamingMessage(ctx, said(nil, words("write it"))))
	again := said(h, h.reply("proceed_once"))
	other := said(h, words("x"))
	other.Message.ContextID = "another"
	for name, c := range map[string]struct {
		p    *protocol.MessageSendParams
		want error
	}{
		"what is not offered":      {said(h, h.reply("proceed_always_and_save")), protocol.ErrInvalidParams},
		"nonsense":                 {said(h, h.reply("yes")), protocol.ErrInvalidParams},
		"a grant too many":         {said(h, h.reply("proceed_always", "grant", 7)), protocol.ErrInvalidParams},
		"no editor":                {said(h, h.reply("modify_with_editor")), protocol.ErrInvalidParams},
		"another call":             {said(h, protocol.DataPart{Data: map[string]any{"callId": "x", "outcome": "proceed_once"}}), protocol.ErrInvalidParams},
		"another context":          {other, protocol.ErrInvalidParams},
		"an answer without a task": {said(nil, h.reply("proceed_once")), protocol.ErrInvalidParams},
	} {
		if _, err := a.SendMessage(ctx, c.p); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(a.dir, "a.txt")); err == nil {
		t.Error("it was written")
	}
	// What is merely said allows nothing.
	if h = hear(t, a.SendStreamingMessage(ctx, said(h, words("yes, proceed_once")))); h.text != "Left." {
		t.Errorf("%+v", h)
	}
	a.script.Add(et.Says("Once."))
	once := said(h, words("once"))
	if _, err := a.SendMessage(ctx, once); err != nil {
		t.Error(err)
	}
	if _, err := a.SendMessage(ctx, once); !errors.Is(err, protocol.ErrInvalidParams) { // as a client may that got no answer
		t.Errorf("the same message twice: %v", err)
	}
	if _, err := a.SendMessage(ctx, again); !errors.Is(err, protocol.ErrInvalidParams) {
		t.Errorf("an answer to nothing: %v", err)
	}
	if _, err := os.Stat(filepath.Join(a.dir, "a.txt")); err == nil {
		t.Error("it was written")
	}
}

// A client that dies while it is asked ends nothing: another one follows the task, and
// answers. Many tasks in which nothing is said do not add up.
func TestA2AGone(t *testing.T) {
	t.Parallel()
	a := servedA2A(t, et.Says("", et.Call("1", "write_file", "file_path", "a.txt", "content", "x")), et.Says("Written."))
	ctx, die := context.WithCancel(t.Context())
	defer die()
	var id protocol.TaskID
	for ev, err := range a.SendStreamingMessage(ctx, said(nil, words("write it"))) {
		if err != nil {
			break
		}
		if id = ev.TaskInfo().TaskID; ev.(interface{ Meta() map[string]any }).Meta() != nil {
			die()
		}
	}
	for ; ; time.Sleep(5 * time.Millisecond) {
		if task, err := a.GetTask(t.Context(), &protocol.TaskQueryParams{ID: id}); err != nil || task.Status.State == protocol.TaskStateInputRequired {
			break
		}
	}
	h := hear(t, a.ResubscribeToTask(t.Context(), &protocol.TaskIDParams{ID: id}))
	if h.task == nil || h.asked == nil || !h.final || h.state != protocol.TaskStateInputRequired {
		t.Fatalf("%+v", h)
	}
	if h = hear(t, a.SendStreamingMessage(t.Context(), said(h, h.reply("proceed_once")))); h.text != "Written." {
		t.Errorf("%+v", h)
	}
	made, refused := 0, 0
	for range 10_000 {
		switch status, got := a.post(t, "POST", "/tasks", `{"contextId":"c"}`); status {
		case 201:
			made++
		case 503:
			refused++
		default:
			t.Fatalf("%d %s", status, got)
		}
	}
	if made != 64 || made+refused != 10_000 {
		t.Errorf("%d made, %d refused", made, refused)
	}
	if status, got := a.post(t, "GET", "/tasks/metadata", ""); status != 200 || strings.Count(got, `"taskState":"submitted"`) != 64 || strings.Count(got, `"taskState":"input-required"`) != 1 {
		t.Errorf("%d %.300s", status, got)
	}
	if status, got := a.post(t, "GET", "/tasks/"+string(id)+"/metadata", ""); status != 200 || !strings.Contains(got, `"name":"write_file"`) || !strings.Contains(got, `"mcpServers":[]`) {
		t.Errorf("%d %.300s", status, got)
	}
}

// Commands of the Gemini CLI's are there: what they print is an answer, and what they have to
// say to the model is a task.
func TestA2ACommands(t *testing.T) {
	t.Parallel()
	a := servedA2A(t, et.Says("Written down."))
	projecttest.Write(t, filepath.Join(a.dir, "GEMINI.md"), "Use tabs.\n")
	status, got := a.post(t, "GET", "/listCommands", "")
	var list struct {
		Commands []struct {
			Name, Description string
			Arguments         []any
			SubCommands       []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(got), &list); status != 200 || err != nil || len(list.Commands) != 4 || list.Commands[2].Name != "memory" || len(list.Commands[2].SubCommands) != 3 {
		t.Errorf("%d %s %v", status, got, err)
	}
	for command, want := range map[string]string{`"memory show"`: "Use tabs.", `"memory list"`: "GEMINI.md", `"memory refresh"`: "reloaded", `"extensions list"`: `"data":[]`, `"restore list"`: `"content":"[]"`} {
		if status, got := a.post(t, "POST", "/executeCommand", `{"command":`+command+`}`); status != 200 || !strings.Contains(got, want) || !strings.Contains(got, `"name":`+command) {
			t.Errorf("%s: %d %s", command, status, got)
		}
	}
	if status, got := a.post(t, "POST", "/executeCommand", `{"command":"init"}`); status != 500 || !strings.Contains(got, "GEMINI.md is there already") {
		t.Errorf("%d %s", status, got)
	}
	os.Remove(filepath.Join(a.dir, "GEMINI.md"))
	status, got = a.post(t, "POST", "/executeCommand", `{"command":"init","args":["briefly"]}`)
	if status != 200 || !strings.HasPrefix(got, `data: {"jsonrpc":"2.0","id":"`) || !strings.Contains(got, "Written down.") || !strings.HasSuffix(got, "}\n\n") {
		t.Errorf("%d %s", status, got)
	}
	if b, _ := json.Marshal(a.script.Requests()[0].Contents); !strings.Contains(string(b), "briefly") {
		t.Error("the arguments are lost")
	}
}

// What a task has changed is listed for clients in the Gemini CLI's form, also where the session
// is another one's, and one name of the list is enough to go back.
func TestA2ARestore(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	a := servedIn(t, home, dir, et.Says("", et.Call("1", "write_file", "file_path", "a.txt", "content", "one\n")), et.Says("Written."),
		et.Says("", et.Call("2", "write_file", "file_path", "a.txt", "content", "two\n")), et.Says("Again."))
	for _, w := range []string{"write it", "once more"} {
		h := hear(t, a.SendStreamingMessage(t.Context(), said(nil, words(w))))
		hear(t, a.SendStreamingMessage(t.Context(), said(h, h.reply("proceed_once"))))
	}
	b := a // whose tasks still hold their conversations
	listed := func() (all []restorable) {
		t.Helper()
		status, got := b.post(t, "POST", "/executeCommand", `{"command":"restore list"}`)
		var doc struct{ Data restoreReply }
		err := json.Unmarshal([]byte(got), &doc)
		if err == nil {
			err = json.Unmarshal([]byte(doc.Data.Content), &all)
		}
		if status != 200 || err != nil || doc.Data.Type != "message" || doc.Data.Kind != "info" {
			t.Fatalf("%d %s, %v", status, got, err)
		}
		return all
	}
	all := listed()
	if len(all) != 2 || all[0].Message == "" || !strings.HasSuffix(all[0].Checkpoint, "-write_file") {
		t.Fatalf("%+v", all)
	}
	for _, c := range []struct{ name, want, holds string }{
		{"", "Please provide a checkpoint name", "two\n"},
		{"none", "File not found: none.json", "two\n"},
		{all[0].Checkpoint, "Restored project", "one\n"},
		{"again", "", "one\n"},
		{all[1].Checkpoint + ".json", "Restored project", ""},
	} {
		if c.name == "again" { // what was kept is there for the next server, too
			a.stop()
			b = servedIn(t, home, dir)
			if left := listed(); len(left) != 2 {
				t.Errorf("after a restart: %+v", left)
			}
			continue
		}
		status, got := b.post(t, "POST", "/executeCommand", `{"command":"restore","args":["`+c.name+`"]}`)
		is, _ := os.ReadFile(filepath.Join(dir, "a.txt"))
		if status != 200 || !strings.Contains(got, c.want) || !strings.Contains(got, `"data":[`) || string(is) != c.holds {
			t.Errorf("%q: %d %s; the file holds %q", c.name, status, got, is)
		}
	}
}

// A task in which nothing was said knows its model and its tools, with what they take, and
// tells as much while it is worked on.
func TestA2AMetadata(t *testing.T) {
	t.Parallel()
	a := servedA2A(t, et.Says("", et.Call("1", "write_file", "file_path", "a.txt", "content", "x")), et.Says("Left."))
	_, id := a.post(t, "POST", "/tasks", `{"contextId":"c","agentSettings":{"kind":"agent-settings","workspacePath":"`+a.dir+`"}}`)
	h := hear(t, a.SendStreamingMessage(t.Context(), said(nil, words("write it"))))
	type metadata struct {
		TaskState, Model string
		McpServers       []any
		AvailableTools   []struct {
			Name, Description string
			ParameterSchema   map[string]any
		}
	}
	for id, state := range map[string]string{strings.Trim(id, "\"\n"): "submitted", string(h.info.TaskID): "input-required"} {
		var one struct{ Metadata metadata }
		status, got := a.post(t, "GET", "/tasks/"+id+"/metadata", "")
		err := json.Unmarshal([]byte(got), &one)
		if m := one.Metadata; status != 200 || err != nil || m.TaskState != state || m.Model == "" || m.McpServers == nil || len(m.AvailableTools) < 10 {
			t.Errorf("%s: %d %s, %v", state, status, got, err)
		}
		for _, tool := range one.Metadata.AvailableTools {
			if tool.Name == "" || tool.Description == "" || tool.ParameterSchema["type"] != "object" {
				t.Errorf("%+v", tool)
			}
		}
	}
	var all []metadata
	if _, got := a.post(t, "GET", "/tasks/metadata", ""); json.Unmarshal([]byte(got), &all) != nil || len(all) != 2 || all[0].Model != all[1].Model {
		t.Errorf("%s", got)
	}
}

// A call that is asked about when the server is stopped is still asked about by the next one,
// which makes it when it is allowed. A task that was worked on has failed, and says why.
func TestA2AStopped(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	writes := func(id, name string) et.Reply {
		return et.Says("", et.Call(id, "write_file", "file_path", name, "content", "x"))
	}
	a := servedIn(t, home, dir, writes("1", "a.txt"), writes("2", "b.txt"))
	h := hear(t, a.SendStreamingMessage(t.Context(), said(nil, words("write it"))))
	other := hear(t, a.SendStreamingMessage(t.Context(), said(nil, words("write b"))))
	a.stop()
	b := servedIn(t, home, dir, et.Says("Written."))
	again := hear(t, b.ResubscribeToTask(t.Context(), &protocol.TaskIDParams{ID: h.info.TaskID}))
	if again.asked == nil || again.state != protocol.TaskStateInputRequired {
		t.Fatalf("%+v", again)
	}
	if no := hear(t, b.SendStreamingMessage(t.Context(), said(other, other.reply("cancel")))); !no.final ||
		no.state != protocol.TaskStateInputRequired || len(b.script.Requests()) > 0 {
		t.Errorf("cancelled: %+v, %d requests", no, len(b.script.Requests()))
	}
	if again = hear(t, b.SendStreamingMessage(t.Context(), said(again, again.reply("proceed_once")))); again.text != "Written." {
		t.Errorf("%+v", again)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
}
