//go:build linux

package protocol

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	protocol "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2aclient/agentcard"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// A peer is a client of commands/program/acceptance/testdata/a2a and the server that it has.
type peer struct {
	t       *testing.T
	serve   *exec.Cmd
	errs    string // the file of what the two say of errors
	calls   int
	feed    io.Writer
	printed *json.Decoder
	ahead   []given // that was read while another call's was waited for
}

// A given is what a call of the client's gave: an event, or an answer.
type given struct {
	Call  int
	Value happened
	Over  bool
	Error string
}

// A happened is an event, or a task.
type happened struct {
	Kind      string
	ID        string
	TaskID    string
	ContextID string
	Final     bool
	Status    struct {
		State   string
		Message struct{ Parts []part }
	}
	Artifact struct{ Parts []part }
	History  []struct {
		Role  string
		Parts []part
	}
	Metadata struct {
		CoderAgent    struct{ Kind string }
		UsageMetadata map[string]int
	}
}

// A part is one of a message.
type part struct {
	Text string
	Data update
}

// An update is what is told of a call, or of a thought.
type update struct {
	Request struct {
		CallID, Name string
		Args         map[string]any
	}
	Status string
	Tool   struct {
		DisplayName, Kind, Description string
		Schema                         map[string]any
	}
	ConfirmationDetails map[string]any
	Outcomes            []struct{ Outcome string }
	Response            map[string]any
	Subject             string
	Description         string
}

// textOf returns what parts of a message say.
func textOf(parts []part) (all string) {
	for _, p := range parts {
		all += p.Text
	}
	return all
}

// servesA2A starts a server of a directory, and returns the line that it prints.
func servesA2A(t *testing.T, s *et.Server, dir string, errs io.Writer) (*exec.Cmd, string) {
	t.Helper()
	pt.Write(t, filepath.Join(dir, "home"), nil)
	serve := pt.Headless(t, s, dir, nil, errs, "--skip-trust", "a2a", "serve")
	out, err := serve.StdoutPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { serve.Process.Kill(); serve.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	return serve, line
}

// peerOf starts a server of a directory, and its client.
func peerOf(t *testing.T, s *et.Server, node, sdk, dir string) *peer {
	t.Helper()
	errs, err := os.Create(filepath.Join(t.TempDir(), "errors"))
	if err != nil {
		t.Fatal(err)
	}
	defer errs.Close()
	p := &peer{t: t, errs: errs.Name()}
	var line string
	p.serve, line = servesA2A(t, s, dir, errs)
	client := exec.Command(node, "commands/program/acceptance/testdata/a2a/client.mjs", sdk, line)
	client.Stderr = errs
	in, err := client.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	back, err := client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(5*time.Minute, func() { client.Process.Kill() })
	t.Cleanup(func() { in.Close(); client.Wait(); late.Stop() })
	p.feed, p.printed = in, json.NewDecoder(back)
	return p
}

// told returns what the server and the client say of errors.
func (p *peer) told() []byte {
	b, _ := os.ReadFile(p.errs)
	return b
}

// kill ends the server as nothing else does.
func (p *peer) kill() {
	p.serve.Process.Kill()
	p.serve.Wait()
}

// call calls a method of the client's.
func (p *peer) call(method string, params map[string]any) int {
	p.calls++
	b, _ := json.Marshal(map[string]any{"call": p.calls, "method": method, "params": params})
	p.feed.Write(append(b, '\n'))
	return p.calls
}

// next returns what a call gives next.
func (p *peer) next(call int) given {
	p.t.Helper()
	for i, g := range p.ahead {
		if g.Call == call {
			p.ahead = append(p.ahead[:i:i], p.ahead[i+1:]...)
			return g
		}
	}
	for {
		var g given
		if err := p.printed.Decode(&g); err != nil {
			p.kill()
			p.t.Fatalf("%v: %s", err, p.told())
		}
		if g.Call == call {
			return g
		}
		p.ahead = append(p.ahead, g)
	}
}

// A gist is what the events of a call come to.
type gist struct {
	task, context string
	kinds         map[string]int
	said, printed string
	asked         part     // of the call that is asked about
	updates       []update // of calls, and what is asked about them
	thoughts      []update
	last          happened
	failed        string // how the call did
}

// hear reads what a call gives, to its end or until something is so.
func (p *peer) hear(call int, is func(g *gist) bool) *gist {
	p.t.Helper()
	h := &gist{kinds: map[string]int{}}
	for is == nil || !is(h) {
		g := p.next(call)
		if g.Over {
			h.failed = g.Error
			break
		}
		ev := g.Value
		kind := ev.Metadata.CoderAgent.Kind
		if kind == "" {
			kind = ev.Kind
		}
		h.kinds[kind]++
		h.last, h.context, h.task = ev, ev.ContextID, ev.TaskID+ev.ID
		for _, m := range ev.History {
			if m.Role == "agent" {
				h.said += textOf(m.Parts)
			}
		}
		switch kind {
		case "text-content":
			h.said += textOf(ev.Status.Message.Parts)
		case "artifact-update":
			h.printed += textOf(ev.Artifact.Parts)
		case "thought":
			h.thoughts = append(h.thoughts, ev.Status.Message.Parts[0].Data)
		case "tool-call-confirmation":
			h.asked = ev.Status.Message.Parts[0]
			h.updates = append(h.updates, h.asked.Data)
		case "tool-call-update":
			h.updates = append(h.updates, ev.Status.Message.Parts[0].Data)
		}
	}
	return h
}

// messageOf returns the parameters of one.
func messageOf(id string, to *gist, part map[string]any) map[string]any {
	m := map[string]any{"kind": "message", "role": "user", "messageId": id, "parts": []any{part}}
	if to != nil {
		m["taskId"], m["contextId"] = to.task, to.context
	}
	return map[string]any{"message": m}
}

// spoken returns a part that is text.
func spoken(text string) map[string]any { return map[string]any{"kind": "text", "text": text} }

// answering returns the part that answers what is asked.
func (h *gist) answering(outcome string) map[string]any {
	return map[string]any{"kind": "data", "data": map[string]any{"callId": h.asked.Data.Request.CallID, "outcome": outcome}}
}

// javaScript returns node and the protocol's SDK for it.
func javaScript(t *testing.T) (node, sdk string) {
	t.Helper()
	node = pt.Need(t, "node")
	cache, err := os.UserCacheDir()
	sdk = filepath.Join(cache, "gemline-tests", "mcp", "node_modules", "@a2a-js", "sdk")
	if _, serr := os.Stat(sdk); err != nil || serr != nil {
		pt.Lack(t, serr)
	}
	return node, sdk
}

// Another agent, made with the protocol's SDK for JavaScript, gives gemline tasks: it reads
// along, answers what is asked and cancels. Then the server is killed: with the next one, what
// waited for an answer still does, and what was worked on has failed, and says so.
func TestA2AByJavaScript(t *testing.T) {
	t.Parallel()
	node, sdk := javaScript(t)
	writes := func(id, name string) et.Reply {
		return et.Says("", et.Call(id, "write_file", "file_path", name, "content", "text\n"))
	}
	s := et.NewServer(
		writes("1", "a.txt"), et.Streams("It is ", "written."),
		et.Stalled(et.Streams("This takes ", "for ever. ")),
		writes("2", "c.txt"), writes("2", "b.txt"), writes("2", "d.txt"),
		et.Says("", et.Call("3", "run_shell_command", "command", "echo began; sleep 1000")),
		et.Says("Written late."), et.Says("Going on."),
	)
	t.Cleanup(s.Close)
	dir := t.TempDir()
	there := func(name string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }
	p := peerOf(t, s, node, sdk, dir)

	// It reads along, and allows a call.
	one := p.hear(p.call("sendMessageStream", messageOf("1", nil, spoken("write a"))), nil)
	if one.last.Status.State != "input-required" || !one.last.Final || one.asked.Data.Request.Name != "write_file" || len(one.asked.Data.Outcomes) < 3 || there("a.txt") {
		t.Fatalf("asked: %+v; %s", one, p.told())
	}
	wrong := p.hear(p.call("sendMessage", messageOf("2", one, one.answering("proceed_always_and_save"))), nil)
	if !strings.Contains(wrong.failed, "is not offered") || there("a.txt") {
		t.Errorf("what is not offered: %+v", wrong)
	}
	done := p.hear(p.call("sendMessageStream", messageOf("3", one, one.answering("proceed_once"))), nil)
	if done.said != "It is written." || done.kinds["text-content"] < 2 || done.kinds["tool-call-update"] == 0 || done.last.Status.State != "input-required" || !done.last.Final || !there("a.txt") {
		t.Errorf("allowed: %+v", done)
	}

	// It cancels what it reads along.
	reading := p.call("sendMessageStream", messageOf("4", nil, spoken("take long")))
	long := p.hear(reading, func(g *gist) bool { return strings.Contains(g.said, "for ever") })
	id := map[string]any{"id": long.task}
	other := p.call("resubscribeTask", id)
	if g := p.hear(other, func(g *gist) bool { return g.kinds["task"] > 0 }); g.last.Status.State != "working" || !strings.Contains(g.said, "for ever") {
		t.Errorf("another reader: %+v", g)
	}
	if c := p.hear(p.call("cancelTask", id), nil); c.last.Status.State != "canceled" || c.failed != "" {
		t.Errorf("canceled: %+v", c)
	}
	for _, call := range []int{reading, other} {
		if rest := p.hear(call, nil); rest.last.Status.State != "canceled" || !rest.last.Final || rest.failed != "" {
			t.Errorf("read along: %+v", rest)
		}
	}
	if c := p.hear(p.call("cancelTask", id), nil); !strings.HasPrefix(c.failed, "TaskNotCancelable") {
		t.Errorf("canceled twice: %+v", c)
	}
	if c := p.hear(p.call("getTask", map[string]any{"id": "none"}), nil); !strings.HasPrefix(c.failed, "TaskNotFound") {
		t.Errorf("no task: %+v", c)
	}

	asks := p.hear(p.call("sendMessageStream", messageOf("5", nil, spoken("write c"))), nil)
	if c := p.hear(p.call("cancelTask", map[string]any{"id": asks.task}), nil); c.last.Status.State != "canceled" || there("c.txt") {
		t.Errorf("canceled while it asks: %+v", c)
	}
	if c := p.hear(p.call("sendMessage", messageOf("6", asks, asks.answering("proceed_once"))), nil); !strings.Contains(c.failed, "the task is over") || there("c.txt") {
		t.Errorf("allowed when it was canceled: %+v", c)
	}

	// Two tasks ask, and a command of another one runs, when the server is killed.
	asks = p.hear(p.call("sendMessageStream", messageOf("7", nil, spoken("write b"))), nil)
	stale := p.hear(p.call("sendMessageStream", messageOf("12", nil, spoken("write d"))), nil)
	unasked := messageOf("8", nil, spoken("run something"))
	unasked["metadata"] = map[string]any{"coderAgent": map[string]any{"kind": "agent-settings", "workspacePath": dir, "autoExecute": true}}
	reading = p.call("sendMessageStream", unasked)
	works := p.hear(reading, func(g *gist) bool { return strings.Contains(g.printed, "began") })
	if works.last.Kind != "artifact-update" {
		t.Fatalf("no command runs: %+v; %s", works, p.told())
	}
	p.kill()
	if rest := p.hear(reading, nil); rest.failed == "" || rest.last.Final {
		t.Errorf("the server is killed: %+v", rest)
	}
	et.Eventually(t, "no process is left", func() bool { return len(pt.Workers(dir)) == 0 })

	pt.Write(t, dir, map[string]string{"d.txt": "by hand\n"})
	p = peerOf(t, s, node, sdk, dir)
	still := p.hear(p.call("resubscribeTask", map[string]any{"id": asks.task}), nil)
	if still.kinds["task"] != 1 || still.last.Status.State != "input-required" || still.asked.Data.Request.CallID != asks.asked.Data.Request.CallID || still.context != asks.context || there("b.txt") {
		t.Fatalf("still asked: %+v", still)
	}
	if late := p.hear(p.call("sendMessageStream", messageOf("9", still, still.answering("proceed_once"))), nil); late.said != "Written late." || !there("b.txt") {
		t.Errorf("allowed late: %+v; %s", late, p.told())
	}
	if again := p.hear(p.call("sendMessageStream", messageOf("13", stale, stale.answering("proceed_once"))), nil); again.last.Status.State != "input-required" || again.asked.Data.Request.Name != "write_file" {
		t.Errorf("asked about what is another change by now: %+v", again)
	} else if end := p.hear(p.call("sendMessageStream", messageOf("14", again, again.answering("cancel"))), nil); end.said != "" || end.last.Status.State != "input-required" || !end.last.Final {
		t.Errorf("refused: %+v; %s", end, p.told())
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "d.txt")); string(b) != "by hand\n" {
		t.Errorf("written over: %q", b)
	}
	cut := p.hear(p.call("getTask", map[string]any{"id": works.task}), nil)
	if cut.last.Status.State != "failed" || !strings.Contains(textOf(cut.last.Status.Message.Parts), "interrupted") {
		t.Errorf("cut off: %+v", cut)
	}
	if again := p.hear(p.call("resubscribeTask", map[string]any{"id": works.task}), nil); again.last.Status.State != "failed" || !again.last.Final || again.failed != "" {
		t.Errorf("follows what was cut off: %+v", again)
	}
	if again := p.hear(p.call("sendMessage", messageOf("10", works, spoken("go on"))), nil); !strings.Contains(again.failed, "the task is over") {
		t.Errorf("says something to what was cut off: %+v", again)
	}
	next := messageOf("11", nil, spoken("go on"))
	next["message"].(map[string]any)["contextId"] = works.context
	if on := p.hear(p.call("sendMessageStream", next), nil); on.said != "Going on." || on.task == works.task {
		t.Errorf("goes on: %+v; %s", on, p.told())
	}
	if all := pt.Streamed(s); !bytes.Contains(all[len(all)-1].Body, []byte("run something")) {
		t.Error("what was said before is lost")
	}
	p.serve.Process.Signal(os.Interrupt)
	if err := p.serve.Wait(); p.serve.ProcessState.ExitCode() != 130 {
		t.Errorf("%v: %s", err, p.told())
	}
}

// bearer sends a token.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// goClient returns a client of the protocol's SDK for Go, of the server that has printed a line.
func goClient(t *testing.T, line string) *a2aclient.Client {
	t.Helper()
	var at struct{ URL, Token string }
	if err := json.Unmarshal([]byte(line), &at); err != nil {
		t.Fatal(err)
	}
	card, err := agentcard.DefaultResolver.Resolve(t.Context(), at.URL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := a2aclient.NewFromCard(t.Context(), card, a2aclient.WithJSONRPCTransport(&http.Client{Transport: bearer(at.Token)}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A listing is what events come to.
type listing struct {
	info    protocol.TaskInfo
	states  []protocol.TaskState
	callID  string // of what is asked
	said    string
	printed string
	err     error
}

// listen reads events to their end, or until something is so.
func listen(events iter.Seq2[protocol.Event, error], is func(*listing) bool) (l listing) {
	for ev, err := range events {
		if err != nil {
			l.err = err
			return l
		}
		l.info = ev.TaskInfo()
		switch ev := ev.(type) {
		case *protocol.Task:
			l.states = append(l.states, ev.Status.State)
		case *protocol.TaskArtifactUpdateEvent:
			l.printed += ev.Artifact.Parts[0].(protocol.TextPart).Text
		case *protocol.TaskStatusUpdateEvent:
			l.states = append(l.states, ev.Status.State)
			if ev.Status.Message == nil {
				break
			}
			switch part := ev.Status.Message.Parts[0].(type) {
			case protocol.TextPart:
				l.said += part.Text
			case protocol.DataPart:
				if part.Data["confirmationDetails"] != nil {
					l.callID = part.Data["request"].(map[string]any)["callId"].(string)
				}
			}
		}
		if is != nil && is(&l) {
			break
		}
	}
	return l
}

// TaskInfo implements the SDK's interface.
func (l listing) TaskInfo() protocol.TaskInfo { return l.info }

// last returns the state that was told last.
func (l listing) last() (state protocol.TaskState) {
	if n := len(l.states); n > 0 {
		state = l.states[n-1]
	}
	return state
}

// With the protocol's SDK for Go a client comes back, too, when the server was killed: what
// waited for an answer is asked once more and done when it is allowed, and what was worked on
// has failed.
func TestA2AResubscribedByGo(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.Says("", et.Call("1", "write_file", "file_path", "a.txt", "content", "text\n")),
		et.Says("", et.Call("2", "run_shell_command", "command", "echo began; sleep 1000")), et.Says("Written late."))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	var errs bytes.Buffer
	serve, line := servesA2A(t, s, dir, &errs)
	c := goClient(t, line)
	ask := func(c *a2aclient.Client, of protocol.TaskInfoProvider, part protocol.Part, meta map[string]any) iter.Seq2[protocol.Event, error] {
		m := protocol.NewMessage(protocol.MessageRoleUser, part)
		if of != nil {
			m = protocol.NewMessageForTask(protocol.MessageRoleUser, of, part)
		}
		return c.SendStreamingMessage(t.Context(), &protocol.MessageSendParams{Message: m, Metadata: meta})
	}
	asks := listen(ask(c, nil, protocol.TextPart{Text: "write a"}, nil), nil)
	if asks.err != nil || asks.last() != protocol.TaskStateInputRequired || asks.callID == "" {
		t.Fatalf("%+v", asks)
	}
	works := listen(ask(c, nil, protocol.TextPart{Text: "run"}, map[string]any{"coderAgent": map[string]any{"autoExecute": true}}), func(l *listing) bool { return strings.Contains(l.printed, "began") })
	if works.err != nil {
		t.Fatalf("%+v", works)
	}
	reading := make(chan listing, 1)
	go func() {
		reading <- listen(c.ResubscribeToTask(t.Context(), &protocol.TaskIDParams{ID: works.info.TaskID}), func(l *listing) bool {
			if len(l.states) == 1 { // it reads along
				serve.Process.Kill()
			}
			return false
		})
	}()
	if l := <-reading; l.err == nil || l.last() != protocol.TaskStateWorking {
		t.Errorf("the server was killed: %+v", l)
	}
	serve.Wait()

	_, line = servesA2A(t, s, dir, &errs)
	c = goClient(t, line)
	if l := listen(c.ResubscribeToTask(t.Context(), &protocol.TaskIDParams{ID: works.info.TaskID}), nil); l.err != nil || l.last() != protocol.TaskStateFailed {
		t.Errorf("%+v", l)
	}
	if task, err := c.GetTask(t.Context(), &protocol.TaskQueryParams{ID: works.info.TaskID}); err != nil || !strings.Contains(task.Status.Message.Parts[0].(protocol.TextPart).Text, "interrupted") {
		t.Errorf("%+v, %v", task, err)
	}
	still := listen(c.ResubscribeToTask(t.Context(), &protocol.TaskIDParams{ID: asks.info.TaskID}), nil)
	if still.err != nil || still.callID != asks.callID || still.last() != protocol.TaskStateInputRequired {
		t.Fatalf("%+v", still)
	}
	late := listen(ask(c, still, protocol.DataPart{Data: map[string]any{"callId": still.callID, "outcome": "proceed_once"}}, nil), nil)
	if late.err != nil || !strings.Contains(late.said, "Written late.") {
		t.Errorf("%+v; %s", late, errs.String())
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a.txt")); string(b) != "text\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// The page's example with curl does what it says.
func TestA2AByCurl(t *testing.T) {
	t.Parallel()
	bash := pt.Need(t, "bash")
	for _, name := range []string{"curl", "jq"} {
		pt.Need(t, name)
	}
	page, err := os.ReadFile("docs/a2a.md")
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(page), "```sh\n")
	script, _, ok := strings.Cut(script, "```")
	if !ok {
		t.Fatal("there is no example")
	}
	s := et.NewServer(et.Says("", et.Call("1", "write_file", "file_path", "a_test.go", "content", "package a\n")), et.Says("Written."))
	t.Cleanup(s.Close)
	dir, bin := t.TempDir(), t.TempDir()
	if err := os.Symlink(pt.Self(t), filepath.Join(bin, "gemline")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bash, "-euc", "trap 'kill $server' ERR\n"+script+"wait $server || true\n")
	cmd.Dir = dir
	cmd.Env = pt.Environment(filepath.Join(dir, "home"), s, "PATH="+bin+":"+os.Getenv("PATH"), "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_MODEL="+pt.Model)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{`"name": "write_file"`, `"outcome": "proceed_once"`, `data: {"jsonrpc":"2.0","id":1,`, "Written.", `"state":"canceled"`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s: %s", want, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "a_test.go")); err != nil {
		t.Error(err)
	}
}
