package ide

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/tools/ide/idelab"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connected returns a Client that is connected to a companion, and what it tells.
func connected(t *testing.T, c *idelab.Companion) (*Client, <-chan string) {
	t.Helper()
	client, told := client(t, c.Environ)
	if err := client.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Listened() // or what it says could come too early
	return client, told
}

// heard waits until a Client has taken in what a companion said before.
func heard(t *testing.T, client *Client, c *idelab.Companion) {
	t.Helper()
	go func() { c.Reject(c.Opened().Path) }()
	if _, err := client.Approver(&terminal{}).Approve(t.Context(), edit("/p/heard")); err != nil {
		t.Fatal(err)
	}
}

// client returns a Client that finds what the environment of its directory names.
func client(t *testing.T, environ func(folders ...string) []string) (*Client, <-chan string) {
	t.Helper()
	cwd, told := t.TempDir(), make(chan string, 10)
	p := place(t, 7, environ(cwd)...)
	p.Cwd = cwd
	c := New(Config{Environment: p, Note: genai.NewPartFromText, Tell: func(text string) { told <- text }})
	c.attempt = time.Minute // on a slow machine
	t.Cleanup(c.Close)
	return c, told
}

// edit is a proposal to edit a file, whose draft a user may change.
func edit(path string) engine.Proposal {
	prepare := func(_ context.Context, args map[string]any) (engine.Call, error) {
		return engine.Call{Intent: engine.Intent{Detail: fmt.Sprintf("%q", args["content"])}}, nil
	}
	return engine.Proposal{Tool: engine.Tool{Kind: engine.Edit, Prepare: prepare, Declaration: &genai.FunctionDeclaration{Name: "write_file"}},
		Intent: engine.Intent{Paths: []string{path}, Draft: &engine.Draft{Text: "one\ntwo\n",
			Args: func(text string) map[string]any { return map[string]any{"content": text} }}}}
}

// A terminal answers when it is told to, or not at all, and notes what it is told.
type terminal struct {
	answer chan engine.Answer
	told   []string
}

func (t *terminal) Approve(ctx context.Context, _ engine.Proposal) (engine.Answer, error) {
	select {
	case a := <-t.answer:
		return a, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// AnsweredElsewhere is why a question ends that was answered in the editor.
func (t *terminal) AnsweredElsewhere(how string) error {
	t.told = append(t.told, how)
	return errors.New(how)
}

func (t *terminal) Changed(how string, p *engine.Proposal) {
	if p != nil {
		how += p.Intent.Detail
	}
	t.told = append(t.told, how)
}

// What is answered in the editor is the answer, with the text as it was changed there.
func TestAnsweredInTheEditor(t *testing.T) {
	c := idelab.New(t)
	client, _ := connected(t, c)
	for how, test := range map[string]struct {
		answer func(path string)
		want   engine.Answer
	}{
		"accepted in VS Code": {func(path string) { c.Accept(path, "one\r\ntwo\r\n") }, engine.Allowed{}},
		"accepted in VS Code, as it was changed there": {func(path string) { c.Accept(path, "one\nthree\n") },
			engine.Changed{Args: map[string]any{"content": "one\nthree\n"}, Agreed: true}},
		"refused in VS Code": {func(path string) { c.Reject(path) }, engine.Refused{}},
	} {
		at := &terminal{}
		a := client.Approver(at)
		go func() { test.answer(c.Opened().Path) }()
		got, err := a.Approve(t.Context(), edit("/p/a.go"))
		if err != nil || fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", test.want) || at.told[0] != how {
			t.Errorf("%#v, %v, %q; want %#v, %q", got, err, at.told, test.want, how)
		}
		if _, changed := got.(engine.Changed); changed != (len(at.told) == 2) || changed && at.told[1] != `"one\nthree\n"` {
			t.Errorf("%q was told", at.told)
		}
	}
	// An older companion says that the change was closed.
	for _, content := range []*string{nil, new("one\ntwo\n")} {
		go func() {
			c.Notify("ide/diffClosed", struct {
				FilePath string  `json:"filePath"`
				Content  *string `json:"content,omitempty"`
			}{c.Opened().Path, content})
		}()
		got, err := client.Approver(&terminal{}).Approve(t.Context(), edit("/p/a.go"))
		if _, allowed := got.(engine.Allowed); err != nil || allowed != (content != nil) {
			t.Errorf("%v: %#v, %v", content, got, err)
		}
	}
}

// What is answered at the terminal is the answer, and the change is taken out of the editor.
// What was changed there meanwhile, and not seen here, is asked about again.
func TestAnsweredAtTheTerminal(t *testing.T) {
	c := idelab.New(t)
	client, _ := connected(t, c)
	for _, test := range []struct {
		answer, want engine.Answer
		edited       string
	}{
		{engine.Allowed{}, engine.Allowed{}, ""},
		{engine.Allowed{Scope: engine.Session}, engine.Allowed{Scope: engine.Session}, ""},
		{engine.Refused{Note: "no"}, engine.Refused{Note: "no"}, "else"},
		{engine.Allowed{}, engine.Changed{Args: map[string]any{"content": "else"}}, "else"},
	} {
		at := &terminal{answer: make(chan engine.Answer, 1)}
		go func() {
			d := c.Opened()
			if test.edited != "" {
				c.Edit(d.Path, test.edited)
			}
			at.answer <- test.answer
		}()
		got, err := client.Approver(at).Approve(t.Context(), edit("/p/a.go"))
		if err != nil || fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", test.want) {
			t.Errorf("%#v, %v; want %#v", got, err, test.want)
		}
		if _, changed := got.(engine.Changed); changed != (len(at.told) == 1) || changed && !strings.Contains(at.told[0], "was changed in VS Code") {
			t.Errorf("%q was told", at.told)
		}
		if d := c.Closed(); d.Path != "/p/a.go" {
			t.Error(d)
		}
	}
}

// A change that is cancelled is taken back; one that can't be shown is asked about at the
// terminal alone, and that is said once. What is about no change means nothing.
func TestNotInTheEditor(t *testing.T) {
	c := idelab.New(t)
	client, told := connected(t, c)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped")
	go func() { c.Opened(); cancel(stop) }()
	if _, err := client.Approver(&terminal{}).Approve(ctx, edit("/p/a.go")); err != stop {
		t.Error(err)
	}
	c.Closed()
	c.Reject("/p/b.go")
	c.Notify("ide/diffAccepted", []int{1})
	c.Refuse = "no \x1b editor"
	at := &terminal{answer: make(chan engine.Answer, 1)}
	said := ""
	go func() { said = <-told; at.answer <- engine.Allowed{Scope: engine.Everywhere} }()
	got, err := client.Approver(at).Approve(t.Context(), edit("/p/a.go"))
	if got != (engine.Allowed{Scope: engine.Everywhere}) || err != nil {
		t.Error(got, err)
	}
	c.Closed()
	if !strings.HasPrefix(said, "VS Code does not show the change: no") {
		t.Error(said)
	}
	p := edit("/p/a.go")
	p.Tool.Kind = engine.Execute
	at.answer <- engine.Allowed{}
	if got, err := client.Approver(at).Approve(t.Context(), p); got != (engine.Allowed{}) || err != nil {
		t.Error(got, err)
	}
}

// The editor's files are known, and an editor that goes away is told of in one line.
func TestTheEditorGoes(t *testing.T) {
	c := idelab.New(t)
	c.Update(map[string]any{"path": "/p/a.go", "timestamp": 1, "isActive": true})
	client, told := connected(t, c)
	heard(t, client, c)
	if st := client.Status(); st.State != Connected || st.Editor != "VS Code" || st.Files[0].Path != "/p/a.go" {
		t.Errorf("%+v", st)
	}
	c.Close()
	if text := <-told; !strings.HasPrefix(text, "VS Code is no longer there") {
		t.Error(text)
	}
	if st := client.Status(); st.State != Disconnected || client.ContextUpdate(nil) != nil {
		t.Errorf("%+v", st)
	}
	if err := client.Connect(t.Context()); err == nil || !strings.Contains(err.Error(), "no connection to VS Code") {
		t.Error(err)
	}
}

// A server that never answers, refuses, redirects or is something else keeps nobody waiting
// for long, and is told of in one line.
func TestBadServers(t *testing.T) {
	for name, test := range map[string]struct {
		h    http.HandlerFunc
		want string
	}{
		"refuses":    {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "Unauthorized", http.StatusUnauthorized) }, "wants authorization"},
		"is a page":  {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "no message of the protocol"},
		"is another": {func(w http.ResponseWriter, r *http.Request) { answerTo(w, r, `{"protocolVersion":"0"}`) }, "is no companion"},
		"redirects": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		},
			"HTTP 307"},
		"floods": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","result":`)
			for i := 0; i < 40 && r.Context().Err() == nil; i++ {
				w.Write(make([]byte, 1<<20))
			}
		}, "more than 16 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(test.h)
			defer s.Close()
			_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
			client, told := client(t, func(folders ...string) []string {
				return []string{"GEMINI_CLI_IDE_SERVER_PORT=" + port, "GEMINI_CLI_IDE_WORKSPACE_PATH=" + folders[0], "SSH_CONNECTION=1"}
			})
			client.Start()
			if text := <-told; !strings.HasPrefix(text, "no connection to VS Code: ") || !strings.Contains(text, test.want) || strings.Contains(text, "\n") {
				t.Errorf("%q; want %q", text, test.want)
			}
		})
	}
}

// answerTo answers a request with a result.
func answerTo(w http.ResponseWriter, r *http.Request, result string) {
	var m struct{ ID json.RawMessage }
	json.NewDecoder(r.Body).Decode(&m)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// Nobody waits for a server that never answers: Start returns at once, and so does Close.
func TestSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	client, _ := client(t, func(folders ...string) []string {
		return []string{"GEMINI_CLI_IDE_SERVER_PORT=" + port, "GEMINI_CLI_IDE_WORKSPACE_PATH=" + folders[0], "SSH_CONNECTION=1"}
	})
	client.Start()
	if st := client.Status(); st.State != Connecting {
		t.Errorf("%+v", st)
	}
	at := &terminal{answer: make(chan engine.Answer, 1)}
	at.answer <- engine.Allowed{}
	if got, err := client.Approver(at).Approve(t.Context(), edit("/p/a.go")); got != (engine.Allowed{}) || err != nil {
		t.Error(got, err)
	}
	began := time.Now()
	if client.Close(); time.Since(began) > attemptTime {
		t.Error(time.Since(began))
	}
}

// An update that is much too large is passed over, and the next one is heeded.
func TestHugeUpdate(t *testing.T) {
	c := idelab.New(t)
	client, _ := connected(t, c)
	c.Update(map[string]any{"path": "/p/a.go", "timestamp": 1, "isActive": true, "selectedText": strings.Repeat("x", 100<<20)})
	c.Update(map[string]any{"path": "/p/b.go", "timestamp": 1})
	heard(t, client, c)
	if f := client.Status().Files; f[0].Path != "/p/b.go" {
		t.Error(f)
	}
}
