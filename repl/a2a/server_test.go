package a2a

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	protocol "github.com/a2aproject/a2a-go/a2a"
	"github.com/google/uuid"
	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/repl/report"
	"gemline/repl/serve"
	"gemline/tools/mcp/rpc"
)

// A served is a server that tests speak HTTP with.
type served struct {
	t          *testing.T
	url, token string
	server     *Server
	stop       func() // which waits for its end
	warned     []string

	// What a session has for what is said while it works, and at its end.
	hint func(string)
	late func() string
	last func()
}

// work is what is done for a prompt.
type work func(ctx context.Context, w serve.SessionRequest, to report.Reporter, prompt string) error

// serving serves tasks of a folder, which are worked on by do.
func serving(t *testing.T, folder string, do work) *served {
	t.Helper()
	return (&served{t: t}).serve(folder, do)
}

func (s *served) serve(folder string, do work) *served {
	t := s.t
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	back, feed := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- serve.HTTP(ctx, feed, 0, "/", func(ctx context.Context, g *serve.Group, at serve.Address) (http.Handler, error) {
			var err error
			s.server, err = New(ctx, g, Config{Folder: folder, Address: at.URL, Dir: "/project",
				Outcome: func(err error) report.Outcome { return report.Outcome{Err: err} },
				Redact:  func(s string) string { return s },
				Warn:    func(said string) { s.warned = append(s.warned, said) },
				Servers: func() []Connected { return nil },
				Begin: func(_ context.Context, w serve.SessionRequest) (*serve.Session, error) {
					return &serve.Session{ID: w.Name, Model: func() string { return "model" }, Offered: func() []engine.Tool { return nil },
						Close: func() {
							if s.last != nil {
								s.last()
							}
						},
						Hint: s.hint, Late: s.late,
						Ask: func(ctx context.Context, to report.Reporter, prompt string) error { return do(ctx, w, to, prompt) },
						Again: func(ctx context.Context, _ string, _ map[string]any, _ func(engine.Event)) (bool, error) {
							return true, do(ctx, w, nil, "ask")
						}}, nil
				}})
			if err != nil {
				return nil, err
			}
			return serve.RequireToken(at.Token, s.server), nil
		})
		feed.CloseWithError(errors.New("it has ended"))
	}()
	line, err := bufio.NewReader(back).ReadBytes('\n')
	var at serve.Address
	if err != nil || json.Unmarshal(line, &at) != nil {
		t.Fatalf("%q, %v: %v", line, err, <-ended)
	}
	s.url, s.token = at.URL, at.Token
	s.stop = func() { cancel(errors.New("enough")); ended <- <-ended }
	t.Cleanup(s.stop)
	return s
}

// post posts a document, and returns the body of what is answered.
func (s *served) post(path, body string) io.ReadCloser {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + s.token}, "Content-Type": {"application/json"}}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.Body
}

// An answer is how a request ended.
type answer struct {
	Result protocol.Task
	Error  *rpc.Error
}

// call calls a method that has one answer.
func (s *served) call(method, params string) (a answer) {
	s.t.Helper()
	body := s.post("", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	defer body.Close()
	if err := json.NewDecoder(body).Decode(&a); err != nil {
		s.t.Fatal(err)
	}
	return a
}

// saying returns the parameters of a message with words.
func saying(words string) string {
	return fmt.Sprintf(`{"configuration":{"blocking":false},"message":{"messageId":%q,"role":"user","parts":[{"kind":"text","text":%q}]}}`, uuid.NewString(), words)
}

// naming returns the parameters of what is about a task.
func naming(id protocol.TaskID) string { return fmt.Sprintf(`{"id":%q}`, id) }

// A stalled is a client that asks for a stream and reads no more than that it has begun.
func (s *served) stalled(method, params string) net.Conn {
	s.t.Helper()
	host := strings.Trim(strings.TrimPrefix(s.url, "http://"), "/")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	conn.(*net.TCPConn).SetReadBuffer(4096)
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", host, s.token, len(body), body)
	if line, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil || !strings.Contains(line, "200 OK") {
		s.t.Fatalf("%q, %v", line, err)
	}
	return conn
}

// only returns the one task that there is.
func (s *served) only() *task {
	s.t.Helper()
	all := s.server.all()
	if len(all) != 1 {
		s.t.Fatalf("%d tasks", len(all))
	}
	return all[0]
}

// flooded serves a task that never ends, whose readers read nothing, and returns it when the
// work is held up.
func flooded(t *testing.T, readers int, patience time.Duration) (s *served, tk *task) {
	t.Helper()
	gate := make(chan struct{})
	var told atomic.Int64
	s = serving(t, t.TempDir(), func(ctx context.Context, _ serve.SessionRequest, to report.Reporter, _ string) error {
		for <-gate; ctx.Err() == nil; told.Add(mostPiece) {
			to.Event(engine.Text{Delta: strings.Repeat("x", mostPiece)})
		}
		return ctx.Err()
	})
	s.server.patience = patience
	s.stalled("message/stream", saying("flood"))
	tk = s.only()
	for range readers - 1 {
		s.stalled("tasks/resubscribe", naming(tk.record.Task.ID))
	}
	close(gate)
	full := func(st *stream) bool { return len(st.events) > farBehind }
	last, since := int64(0), time.Now()
	et.Eventually(t, "its end", func() bool { // the kernel takes some, too
		if n := told.Load(); n != last {
			last, since = n, time.Now()
		}
		list := tk.readers() // none where the patience is over by now
		return len(list) == 0 || slices.ContainsFunc(list, full) && time.Since(since) > 200*time.Millisecond
	})
	if n := told.Load(); n > 32<<20 { // which fills what the kernel holds for a connection
		t.Errorf("%d bytes were told to those who read nothing", n)
	}
	return s, tk
}

// readers returns those that are waited for.
func (t *task) readers() []*stream {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.streams)
}

// Clients that never read hold work up for a while in all, however many there are. Then it
// goes on without them.
func TestStalledReaders(t *testing.T) {
	t.Parallel()
	s, tk := flooded(t, 12, time.Second)
	et.Eventually(t, "no reader is left", func() bool { return len(tk.readers()) == 0 })
	if got := s.call("tasks/get", naming(tk.record.Task.ID)); got.Result.Status.State != protocol.TaskStateWorking {
		t.Errorf("%+v", got)
	}
}

// Whoever cancels a task does not wait for readers that stall, nor does the server's end.
func TestStalledAtEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*served, *task){
		"canceled": func(s *served, tk *task) {
			if a := s.call("tasks/cancel", naming(tk.record.Task.ID)); a.Result.Status.State != protocol.TaskStateCanceled {
				t.Errorf("%+v", a)
			}
		},
		"ended": func(s *served, _ *task) { s.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, tk := flooded(t, 3, 24*time.Hour)
			end(s, tk)
		})
	}
}

// Of tasks only so many are worked on. One more is refused, and nothing is forgotten for it.
// A task whose call is asked about makes room.
func TestTooManyAtOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	kept(t, folder, mostTasks-mostBusy, protocol.TaskStateCompleted)
	s := serving(t, folder, func(ctx context.Context, w serve.SessionRequest, _ report.Reporter, prompt string) error {
		if prompt == "ask" {
			_, err := w.Approver.Approve(ctx, engine.Proposal{ID: "1", Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "write_file"}}})
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})
	say := func(words string) protocol.TaskID {
		t.Helper()
		a := s.call("message/send", saying(words))
		if a.Error != nil {
			t.Fatalf("%+v", a.Error)
		}
		return a.Result.ID
	}
	there := func(want int) {
		t.Helper()
		if all, dirs := s.server.all(), entries(t, folder); len(all) != want || dirs != want {
			t.Errorf("%d tasks, %d folders; want %d", len(all), dirs, want)
		}
	}
	one := say("work")
	for range mostBusy - 1 {
		say("work")
	}
	there(mostTasks)
	for range 3 {
		if a := s.call("message/send", saying("one more")); a.Error == nil || a.Error.Code != -32000 || !strings.Contains(a.Error.Message, "16 tasks are worked on") {
			t.Errorf("%+v", a)
		}
	}
	there(mostTasks)
	if a := s.call("tasks/cancel", naming(one)); a.Result.Status.State != protocol.TaskStateCanceled {
		t.Errorf("%+v", a)
	}
	if a := s.call("tasks/cancel", naming(one)); a.Error == nil || a.Error.Code != -32002 {
		t.Errorf("canceled twice: %+v", a)
	}
	asks := say("ask")
	state := func(id protocol.TaskID) protocol.TaskState {
		return s.call("tasks/get", naming(id)).Result.Status.State
	}
	et.Eventually(t, "it asks", func() bool { return state(asks) == protocol.TaskStateInputRequired })
	if a := say("work"); state(a) != protocol.TaskStateWorking || state(asks) != protocol.TaskStateInputRequired {
		t.Errorf("%s works, %s asks", state(a), state(asks))
	}
	there(mostTasks)
}

// A call that is asked about is put aside for other tasks. An answer that comes while that is
// done is not lost.
func TestAnsweredWhilePutAside(t *testing.T) {
	t.Parallel()
	aside, gate, allowed := make(chan struct{}), make(chan struct{}), make(chan bool, 1)
	s := serving(t, t.TempDir(), func(ctx context.Context, w serve.SessionRequest, _ report.Reporter, prompt string) error {
		if prompt != "ask" {
			<-ctx.Done()
			return ctx.Err()
		}
		a, err := w.Approver.Approve(ctx, engine.Proposal{ID: "1", Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "write_file"}}})
		if err != nil {
			close(aside)
			<-gate
			return err
		}
		_, ok := a.(engine.Allowed)
		allowed <- ok
		return nil
	})
	say := func(params string) protocol.TaskID {
		t.Helper()
		a := s.call("message/send", params)
		if a.Error != nil {
			t.Fatalf("%+v", a.Error)
		}
		return a.Result.ID
	}
	asks := say(saying("ask"))
	et.Eventually(t, "its end", func() bool {
		return s.call("tasks/get", naming(asks)).Result.Status.State == protocol.TaskStateInputRequired
	})
	var last protocol.TaskID
	for range mostBusy {
		last = say(saying("work"))
	}
	<-aside
	reply := func() string {
		return fmt.Sprintf(`{"configuration":{"blocking":false},"message":{"messageId":%q,"taskId":%q,"role":"user","parts":[{"kind":"data","data":{"callId":"1","outcome":"proceed_once"}}]}}`, uuid.NewString(), asks)
	}
	early := make(chan answer)
	go func() { early <- s.call("message/send", reply()) }()
	for range 50 { // while it comes, and then waits
		s.call("tasks/get", naming(asks))
	}
	close(gate)
	if a := <-early; a.Error == nil || a.Error.Code != -32000 {
		t.Errorf("%+v", a)
	}
	s.call("tasks/cancel", naming(last))
	say(reply())
	if !<-allowed {
		t.Error("it was not allowed")
	}
}

// Tasks that nothing is ever said in are bounded, and keep nobody from saying something.
func TestUnusedTasks(t *testing.T) {
	t.Parallel()
	s := serving(t, t.TempDir(), func(context.Context, serve.SessionRequest, report.Reporter, string) error { return nil })
	for i := range mostUnused + 2 {
		body := s.post("tasks", "{}")
		b, err := io.ReadAll(body)
		body.Close()
		if full := strings.Contains(string(b), "64 tasks"); err != nil || full != (i >= mostUnused) {
			t.Errorf("%d: %s, %v", i, b, err)
		}
	}
	for range mostOpen + 2 { // nor does a conversation stay open for all that something was said in
		a := s.call("message/send", strings.Replace(saying("work"), "false", "true", 1))
		if a.Error != nil || a.Result.Status.State != protocol.TaskStateInputRequired {
			t.Errorf("%+v", a)
		}
	}
	et.Eventually(t, "few conversations are open", func() bool {
		return len(slices.DeleteFunc(s.server.all(), func(t *task) bool { return t.openSession.Load() == nil })) <= mostOpen
	})
	for _, body := range []string{"[]", `{"contextId": "a\n"}`} {
		answer := s.post("tasks", body)
		if b, err := io.ReadAll(answer); err != nil || !bytes.Contains(b, []byte(`"error"`)) {
			t.Errorf("%s: %s, %v", body, b, err)
		}
		answer.Close()
	}
}

// Tasks that all wait for an answer leave no room for one more, and are not forgotten for it.
func TestAllAsk(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	d := store(folder)
	for _, id := range kept(t, folder, mostTasks, protocol.TaskStateInputRequired) {
		r, err := d.read(id)
		if r.Pending = (&pending{CallID: "1"}); err != nil || d.save(r) != nil {
			t.Fatal(err)
		}
	}
	s := serving(t, folder, nil)
	if a := s.call("message/send", saying("one more")); a.Error == nil || a.Error.Code != -32000 || len(s.server.all()) != mostTasks {
		t.Errorf("%+v", a)
	}
	if b, err := io.ReadAll(s.post("tasks", "{}")); err != nil || !bytes.Contains(b, []byte("256 tasks are worked on or wait")) {
		t.Errorf("%s, %v", b, err)
	}
	if _, _, err := d.open(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "another gemline a2a serve") {
		t.Errorf("served twice: %v", err)
	}
}

// kept has so many tasks stand in a folder, each used a second before the next one.
func kept(t *testing.T, folder string, n int, state protocol.TaskState) (ids []protocol.TaskID) {
	t.Helper()
	d := store(folder)
	for i := range n {
		id := protocol.NewTaskID()
		used := time.Unix(int64(i), 0)
		b, err := json.Marshal(record{Session: string(id), Task: protocol.Task{ID: id, ContextID: string(id), Status: protocol.TaskStatus{State: state}}})
		if err == nil {
			err = os.Mkdir(filepath.Dir(d.path(id)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(d.path(id), b, 0o600)
		}
		if err == nil {
			err = os.Chtimes(d.path(id), used, used)
		}
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// entries returns how many folders of tasks there are.
func entries(t *testing.T, folder string) (n int) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(folder, "*-*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// Of many tasks that are kept, those are there that were used last. That the others are
// forgotten is said once.
func TestTooManyKept(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	ids := kept(t, folder, mostTasks+20, protocol.TaskStateInputRequired)
	s := serving(t, folder, nil)
	if all := s.server.all(); len(all) != mostTasks {
		t.Errorf("%d tasks", len(all))
	}
	et.Eventually(t, "the number of tasks kept", func() bool { return entries(t, folder) == mostTasks })
	if len(s.warned) != 1 || !strings.Contains(s.warned[0], "20 tasks ") {
		t.Errorf("warned: %q", s.warned)
	}
	if a := s.call("tasks/get", naming(ids[len(ids)-1])); a.Error != nil {
		t.Errorf("%+v", a.Error)
	}
	if a := s.call("tasks/get", naming(ids[0])); a.Error == nil || a.Error.Code != -32001 {
		t.Errorf("%+v", a)
	}
}

// Requests without the token, from a page elsewhere or too long are answered before anything
// is made of them.
func TestUnwanted(t *testing.T) {
	t.Parallel()
	s := serving(t, t.TempDir(), nil)
	long := `{"jsonrpc":"2.0","id":1,"method":"message/send","params":` + saying(strings.Repeat("x", mostBody)) + "}"
	for name, c := range map[string]struct {
		header http.Header
		body   string
		want   int
	}{
		"no token":    {http.Header{}, "{}", 401},
		"wrong token": {http.Header{"Authorization": {"Bearer " + strings.ToLower(s.token)}}, "{}", 401},
		"a page":      {http.Header{"Authorization": {"Bearer " + s.token}, "Origin": {"http://evil.example"}}, "{}", 403},
		"too long":    {http.Header{"Authorization": {"Bearer " + s.token}}, long, 413},
	} {
		c.header.Set("Content-Type", "application/json")
		req, err := http.NewRequest(http.MethodPost, s.url, onlyReader{strings.NewReader(c.body)}) // whose length is not told
		if err != nil {
			t.Fatal(err)
		}
		req.Header = c.header
		res, err := http.DefaultClient.Do(req)
		if err != nil { // it may break off while the client still sends
			if c.want != 413 {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		b, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != c.want || bytes.Contains(b, []byte(s.token)) {
			t.Errorf("%s: %d %s", name, res.StatusCode, b)
		}
	}
	if all := s.server.all(); len(all) > 0 {
		t.Errorf("%d tasks", len(all))
	}
}

type onlyReader struct{ io.Reader }

// What is wrong with a request is told with the protocol's number and in our words, in the
// place of an answer and of a stream, under the request's id.
func TestFaults(t *testing.T) {
	t.Parallel()
	s := serving(t, t.TempDir(), nil)
	for _, c := range []struct {
		id, method, params string // without a method the id is all that is sent
		code               int
		words              string
	}{
		{`{`, "", "", -32700, "one JSON object"},
		{`{} {}`, "", "", -32700, "one JSON object"},
		{`[{}]`, "", "", -32600, "one JSON object: JSON of the type array where an object belongs"},
		{`{"id": 7, "method": "tasks/get"}`, "", "", -32600, "jsonrpc"},
		{`{}`, "tasks/get", `{"id": "x"}`, -32600, "id is"},
		{`12345678901234567890`, "tasks/get", `{"id": "x"}`, -32600, "id is"},
		{`"a"`, "tasks/list", `{}`, -32601, ""},
		{`1`, "tasks/get", `{"id": 1}`, -32602, "the parameters can't be used: id can't be of the JSON type number"},
		{`1`, "tasks/get", `{"id": "x", "metadata": 1}`, -32602, "the parameters"},
		{`1`, "message/send", `{"metadata": 1}`, -32602, "the parameters"},
		{`1`, "tasks/resubscribe", `[]`, -32602, "the parameters"},
		{`1`, "message/send", `{"message": {"parts": [{"kind": "poem"}]}}`, -32602, "the parameters"},
		{`1`, "message/stream", `{}`, -32602, "a message has"},
		{`1`, "message/send", `{}`, -32602, "a message has"},
		{`1`, "message/send", `{"message": {"messageId": "1", "role": "user", "parts": [{"kind": "data"}]}}`, -32602, "a message has"},
		{`1`, "message/send", `{"message": {"messageId": "1", "role": "user", "parts": [null]}}`, -32602, "the parameters"},
		{`1`, "message/send", `{"message": {"messageId": "1", "role": "user", "parts": [{"kind": "text", "text": " "}]}}`, -32602, "the message is empty"},
		{`1`, "message/send", `{"message": {"messageId": "1", "role": "user", "metadata": {"coderAgent": 1}, "parts": [{"kind": "text", "text": "x"}]}}`, -32602, "metadata.coderAgent can't be used"},
		{`1`, "message/send", `{"message": {"messageId": "1", "role": "user", "contextId": "a\u001b", "parts": [{"kind": "text", "text": "x"}]}}`, -32602, "contextId is a short name"},
		{`1`, "tasks/get", `{"id": "x"}`, -32001, "there is no task"},
		{`0`, "tasks/get", `{"id": "x"}`, -32001, "there is no task"},
		{`"a"`, "tasks/cancel", `{"id": "x"}`, -32001, "there is no task"},
		{`"a"`, "tasks/resubscribe", `{"id": "x"}`, -32001, "there is no task"},
		{`1`, "tasks/pushNotificationConfig/set", `{}`, -32003, ""},
		{`1`, "agent/getAuthenticatedExtendedCard", `{}`, -32007, ""},
	} {
		sent, want := c.id, `null`
		if c.method != "" {
			sent = fmt.Sprintf(`{"jsonrpc": "2.0", "id": %s, "method": %q, "params": %s}`, c.id, c.method, c.params)
			if want = c.id; c.words == "id is" {
				want = `null`
			}
		}
		body := s.post("", sent)
		b, err := io.ReadAll(body)
		body.Close()
		_, data, streams := bytes.Cut(b, []byte("data: "))
		if !streams {
			data = b
		}
		var got struct {
			ID    json.RawMessage
			Error rpc.Error
		}
		if jerr := json.Unmarshal(data, &got); err != nil || jerr != nil || got.Error.Code != c.code || !strings.Contains(got.Error.Message, c.words) {
			t.Errorf("%s: %s, %v, %v", sent, b, err, jerr)
		}
		if streams && !bytes.HasPrefix(b, []byte("data: ")) {
			t.Errorf("%s: an event is numbered: %s", sent, b)
		}
		if string(got.ID) != want && !strings.Contains(sent, `"id": 7`) {
			t.Errorf("%s: the id is %s", sent, got.ID)
		}
		if c.code == -32001 && !strings.Contains(string(data), `"data":{"error":"there is no task`) {
			t.Errorf("%s: %s", sent, data)
		}
	}
}

// Tasks can be looked at while they are made: the race detector finds what is not guarded.
func TestTogether(t *testing.T) {
	t.Parallel()
	s := serving(t, "", nil)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 500 {
				if _, err := s.server.newTask("", settings{}); err != nil {
					t.Error(err)
				}
				s.server.all()[0].state()
				s.server.shrink()
			}
		})
	}
	all.Wait()
}

// A conversation whose hooks take long at its end holds up nobody who looks at its task or makes
// another one.
func TestSlowEnd(t *testing.T) {
	t.Parallel()
	closing, free := make(chan struct{}), make(chan struct{})
	s := &served{t: t, last: func() { closing <- struct{}{}; <-free }}
	s.serve("", func(_ context.Context, _ serve.SessionRequest, _ report.Reporter, prompt string) error {
		if prompt == "fail" {
			return errors.New("no")
		}
		return nil
	})
	for words, state := range map[string]protocol.TaskState{"fail": protocol.TaskStateFailed, "rest": protocol.TaskStateCanceled} {
		id := s.call("message/send", saying(words)).Result.ID
		canceled := make(chan answer, 1)
		if words == "rest" {
			et.Eventually(t, "its end", func() bool {
				return s.call("tasks/get", naming(id)).Result.Status.State == protocol.TaskStateInputRequired
			})
			go func() { canceled <- s.call("tasks/cancel", naming(id)) }()
		}
		<-closing
		if got := s.call("tasks/get", naming(id)); got.Result.Status.State != state {
			t.Errorf("%s: %+v", words, got)
		}
		body := s.post("", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tasks/resubscribe","params":%s}`, naming(id)))
		if all, err := io.ReadAll(body); err != nil || !strings.Contains(string(all), `"final":true`) {
			t.Errorf("%s: %s, %v", words, all, err)
		}
		s.post("tasks", "{}").Close()
		free <- struct{}{}
		if words == "rest" {
			<-canceled
		}
	}
}

// Those who read along are told what happens, in the kinds of the Gemini CLI. What a retry takes
// back is not mixed with what comes after it. The first piece of what a command prints makes the
// artifact, and the others are appended to it: clients have nothing to append the first one to.
func TestTold(t *testing.T) {
	t.Parallel()
	s := serving(t, t.TempDir(), func(_ context.Context, w serve.SessionRequest, to report.Reporter, _ string) error {
		for _, ev := range []engine.Event{
			engine.Thought{Delta: "**Guess"}, engine.Text{Delta: "Wrong"},
			engine.Retry{Attempt: 1, MaxAttempts: 2, Err: errors.New("cut"), Restart: true},
			engine.Thought{Delta: "**Plan** Look"}, engine.NestedEvent{Agent: "a", Event: engine.Thought{Delta: "Hm*"}},
			engine.NestedEvent{Agent: "a", Event: engine.AnswerFinished{}}, engine.NestedEvent{Agent: "a", Event: engine.Text{Delta: "unheard"}},
			engine.CallFinished{ID: "1", Name: "ls"}, engine.Output{ID: "1", Delta: "a"}, engine.Output{ID: "1", Delta: "b"},
			engine.Notice{Text: "By the way"}, engine.Text{Delta: "Right"}, engine.Usage{Prompt: 3, Output: 2},
			engine.NestedEvent{Agent: "a", Event: engine.Usage{Prompt: 30}}, engine.AnswerFinished{},
			engine.Citations{References: []engine.Reference{{Title: "T", URI: "http://t"}, {URI: "http://u"}}},
		} {
			to.Event(ev)
		}
		w.Notify("odd")
		return nil
	})
	body := s.post("", `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":`+saying("go")+`}`)
	defer body.Close()
	var got []string
	for lines := bufio.NewScanner(body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var ev struct {
			Result struct {
				Kind          string
				Append, Final bool
				Artifact      struct{ Parts json.RawMessage }
				Status        struct {
					State   string
					Message struct{ Parts json.RawMessage }
				}
				Metadata struct {
					CoderAgent    struct{ Kind string }
					UsageMetadata struct{ TotalTokenCount int }
				}
			}
		}
		if err := json.Unmarshal([]byte(data), &ev); err != nil {
			t.Fatal(err)
		}
		r := ev.Result
		said := []any{r.Kind, r.Append, string(r.Artifact.Parts)}
		switch r.Kind {
		case "task":
			said = said[:1]
		case "status-update":
			said = []any{r.Metadata.CoderAgent.Kind, r.Status.State, r.Final, r.Metadata.UsageMetadata.TotalTokenCount, string(r.Status.Message.Parts)}
		}
		got = append(got, strings.TrimSpace(fmt.Sprintln(said...)))
	}
	want := `task
state-change working false 0
text-content working false 0 [{"kind":"text","text":"Wrong"}]
thought working false 0 [{"kind":"data","data":{"agent":"","description":"**Guess","subject":""}}]
notice working false 0 [{"kind":"text","text":"cut; asking again, attempt 2 of 2; the answer begins again"}]
thought working false 0 [{"kind":"data","data":{"agent":"","description":"Look","subject":"Plan"}}]
thought working false 0 [{"kind":"data","data":{"agent":"a","description":"Hm*","subject":""}}]
tool-call-update working false 0 [{"kind":"data","data":{"agent":"","request":{"args":{},"callId":"1","isClientInitiated":false,"name":"ls"},"response":{"callId":"1","resultDisplay":""},"status":"success","tool":{"displayName":"ls","name":"ls"}}}]
artifact-update false [{"kind":"text","text":"a"}]
artifact-update true [{"kind":"text","text":"b"}]
notice working false 0 [{"kind":"text","text":"By the way"}]
text-content working false 0 [{"kind":"text","text":"Right"}]
citation working false 0 [{"kind":"text","text":"Citations:\nT http://t\nhttp://u"}]
notice working false 0 [{"kind":"text","text":"odd"}]
state-change input-required true 5`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
	if h := s.only().shown(nil).History; len(h) != 2 || textsOf(h[1]) != "Right" {
		t.Errorf("%+v", h)
	}
}

// textsOf returns what a message says in words.
func textsOf(m *protocol.Message) (all string) {
	for _, p := range m.Parts {
		if words, ok := p.(protocol.TextPart); ok {
			all += words.Text
		}
	}
	return all
}

// What is said while a task is worked on reaches the model: with the next request or after the
// answer, and as the next message when the work is just over.
func TestHints(t *testing.T) {
	t.Parallel()
	var heard []string
	asked, sent := make(chan string, 8), make(chan struct{})
	s := &served{t: t}
	say := func(words string) {
		m := strings.Replace(saying(words), `"role"`, fmt.Sprintf(`"taskId":%q,"role"`, s.only().record.Task.ID), 1)
		if a := s.call("message/send", m); a.Error != nil {
			t.Errorf("%s: %+v", words, a.Error)
		}
	}
	last := ""
	s.hint = func(words string) { heard = append(heard, words) }
	s.late = func() string {
		words := strings.Join(heard, " ")
		if heard = nil; words == "" && last == "two" { // nothing is left, and now something is said
			go func() { say("three"); close(sent) }()
			if change := &s.only().mu; change.TryLock() {
				change.Unlock()
				<-sent
			}
		}
		return words
	}
	s.serve(t.TempDir(), func(_ context.Context, _ serve.SessionRequest, to report.Reporter, prompt string) error {
		last = prompt
		to.Event(engine.Text{Delta: "about " + prompt})
		if asked <- prompt; prompt == "one" {
			say("two")
		}
		return nil
	})
	s.call("message/send", saying("one"))
	for _, want := range []string{"one", "two", "three"} {
		select {
		case got := <-asked:
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%q is not heard", want)
		}
	}
	<-sent
	said := ""
	for _, m := range s.only().shown(nil).History[:4] {
		said += textsOf(m) + "; "
	}
	if said != "one; about one; two; about two; " {
		t.Errorf("%s", said)
	}
}
