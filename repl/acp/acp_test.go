package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	protocol "github.com/coder/acp-go-sdk"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/steer"
	"gemline/engine/tally"
	"gemline/repl/report"
	"gemline/tools/mcp/rpc"
)

// A run works on the prompts of a session.
type run func(ctx context.Context, w SessionRequest, said string) iter.Seq2[engine.Event, error]

// events is a run that yields events.
func events(all ...engine.Event) run {
	return func(context.Context, SessionRequest, string) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			for _, ev := range all {
				if !yield(ev, nil) {
					return
				}
			}
		}
	}
}

// config serves sessions with the ids s1, s2 and so on.
func config(work run, hints *steer.Hints) Config {
	n := 0
	return Config{Redact: func(s string) string { return strings.ReplaceAll(s, "opensesame", "***") },
		Outcome: func(err error) report.Outcome {
			o := report.Outcome{Err: err}
			if err != nil {
				o.Message, o.Reason = err.Error(), err.Error()
			}
			return o
		},
		Begin: func(_ context.Context, w SessionRequest) (*Session, error) {
			if w.Dir == "/fails" {
				return nil, errors.New("auth")
			}
			n++
			id, mode := fmt.Sprintf("s%d", n), "default"
			return &Session{ID: id, Tally: &tally.Tally{}, Close: func() {}, Hints: hints,
				Expand: func(_ context.Context, parts []*genai.Part) ([]*genai.Part, error) { return parts, nil },
				Run: func(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
					return work(ctx, w, parts[0].Text)
				},
				History:  func() []*genai.Content { return nil },
				Shown:    func() map[string]string { return nil },
				Title:    func(_ context.Context, fc *genai.FunctionCall) string { return fc.Name },
				Kind:     func(string, map[string]any) engine.Kind { return engine.Execute },
				Commands: func() []protocol.AvailableCommand { return nil },
				Mode: Switch{Now: func() string { return mode }, All: func() []Position { return []Position{{ID: "default"}, {ID: "auto_edit"}} },
					Set: func(_ context.Context, id string) error { mode = id; return nil }},
				Model: Switch{Now: func() string { return "m" }, All: func() []Position { return nil }, Set: func(context.Context, string) error { return nil }, Turn: true},
			}, nil
		}}
}

// An editing is a conversation of an editor with gemline.
type editing struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	over chan struct{}
	said []string
}

// edit begins one.
func edit(t *testing.T, cfg Config) *editing {
	in, feed := io.Pipe()
	back, out := io.Pipe()
	e := &editing{t: t, in: feed, out: bufio.NewReader(back), over: make(chan struct{})}
	go func() {
		defer close(e.over)
		Serve(t.Context(), cfg, rpc.Lines(in, out, func() error { out.Close(); return in.Close() }))
	}()
	t.Cleanup(func() { feed.Close(); back.Close(); <-e.over }) // as when an editor dies
	return e
}

// say sends a line, beside what is read.
func (e *editing) say(line string) { go io.WriteString(e.in, line+"\n") }

// A heard is a message of gemline's.
type heard struct {
	ID     any
	Method string
	Params json.RawMessage
	Result struct {
		SessionID  string
		StopReason string
	}
	Error *struct {
		Code    int
		Message string
	}
}

// next reads the next message that is no update.
func (e *editing) next() (m heard) {
	e.t.Helper()
	for m.Method = protocol.ClientMethodSessionUpdate; m.Method == protocol.ClientMethodSessionUpdate; {
		line, err := e.out.ReadString('\n')
		if err != nil {
			e.t.Fatalf("%v after %q", err, e.said)
		}
		e.said = append(e.said, line)
		m = heard{}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			e.t.Fatal(err)
		}
	}
	return m
}

// ask sends a line and returns the answer.
func (e *editing) ask(line string) heard {
	e.t.Helper()
	e.say(line)
	return e.next()
}

// begin begins a session.
func (e *editing) begin() {
	e.t.Helper()
	e.ask(hello)
	if m := e.ask(fresh); m.Result.SessionID != "s1" {
		e.t.Fatalf("%+v", m)
	}
}

const (
	hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`
	fresh = `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`
	stop  = `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`
)

func prompting(id int, text string) string {
	b, _ := json.Marshal(text)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":%s}]}}`, id, b)
}

// What an editor gets wrong is an error, and the conversation goes on.
func TestWrong(t *testing.T) {
	t.Parallel()
	blocks := func(b string) string {
		return `{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{"sessionId":"s1","prompt":` + b + `}}`
	}
	for name, c := range map[string]struct {
		line string
		id   any
		code int
		want string
	}{
		"no JSON":             {`{"jsonrpc":"2.0","id":9,"method":"session/new",}`, nil, -32700, "no JSON"},
		"words":               {`hello`, nil, -32700, "no JSON"},
		"a list":              {`[` + hello + `]`, nil, -32600, "no list"},
		"a number as method":  {`{"jsonrpc":"2.0","id":903,"method":5}`, 903.0, -32600, "method can't be of the JSON type number"},
		"nothing":             {`{"jsonrpc":"2.0","id":9}`, 9.0, -32600, "neither"},
		"unknown":             {`{"jsonrpc":"2.0","id":"x","method":"session/fly"}`, "x", -32601, "no method"},
		"odd parameters":      {`{"jsonrpc":"2.0","id":9,"method":"session/new","params":[1]}`, 9.0, -32602, "type array where an object belongs"},
		"a number for a text": {`{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"cwd":5}}`, 9.0, -32602, "cwd can't be of the JSON type number"},
		"no parameters":       {`{"jsonrpc":"2.0","id":9,"method":"session/prompt"}`, 9.0, -32602, "params are missing"},
		"much":                {`{"jsonrpc":"2.0","id":9,"method":"session/list","params":{"cwd":"/` + strings.Repeat("x", mostParams) + `"}}`, 9.0, -32602, "1 MB"},
		"no absolute path":    {`{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"cwd":"x","mcpServers":[]}}`, 9.0, -32602, "absolute"},
		"no credentials":      {`{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"cwd":"/fails","mcpServers":[]}}`, 9.0, -32000, "auth"},
		"no session":          {strings.ReplaceAll(prompting(9, "x"), "s1", "s9"), 9.0, -32602, `no session "s9"`},
		"an empty prompt":     {prompting(9, "  "), 9.0, -32602, "empty"},
		"no prompt":           {blocks(`[]`), 9.0, -32602, "empty"},
		"an unknown block":    {blocks(`[{"type":"smell"}]`), 9.0, -32602, ""},
		"no base64":           {blocks(`[{"type":"image","mimeType":"image/png","data":"?"}]`), 9.0, -32602, "base64"},
		"a blob of no base64": {blocks(`[{"type":"resource","resource":{"uri":"x:y","blob":"?"}}]`), 9.0, -32602, "base64"},
		"an empty resource":   {blocks(`[{"type":"resource"}]`), 9.0, -32602, ""},
		"no id":               {`{"jsonrpc":"2.0","id":9,"method":"session/load","params":{"cwd":"/","mcpServers":[]}}`, 9.0, -32602, "sessionId"},
		"a list of no place":  {`{"jsonrpc":"2.0","id":9,"method":"session/list","params":{"cwd":"x"}}`, 9.0, -32602, "absolute"},
		"no mime type":        {blocks(`[{"type":"audio","mimeType":"","data":"AAAA"}]`), 9.0, -32602, "mime"},
		"a broken model run":  {prompting(9, "quota"), 9.0, 429, "quota"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, config(func(_ context.Context, _ SessionRequest, said string) iter.Seq2[engine.Event, error] {
				return func(yield func(engine.Event, error) bool) { yield(nil, errors.New(said)) }
			}, nil))
			e.begin()
			if m := e.ask(c.line); m.Error == nil || m.ID != c.id || m.Error.Code != c.code || !strings.Contains(m.Error.Message, c.want) {
				t.Errorf("%+v, %+v", m, m.Error)
			}
			if m := e.ask(hello); m.Error != nil {
				t.Errorf("%+v", m)
			}
		})
	}
}

// Nothing but initialize is answered before it. An id that is used again is answered again.
func TestEarly(t *testing.T) {
	t.Parallel()
	e := edit(t, config(events(), nil))
	if m := e.ask(fresh); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("%+v", m)
	}
	for range 2 {
		if m := e.ask(hello); m.Error != nil || m.ID != 1.0 {
			t.Errorf("%+v", m)
		}
	}
}

// A message of 100 MB is passed over, and its sender is told.
func TestTooLong(t *testing.T) {
	t.Parallel()
	e := edit(t, config(events(), nil))
	e.ask(hello)
	go func() {
		io.WriteString(e.in, `{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"x":"`)
		piece := strings.Repeat("x", 1<<20)
		for range 100 {
			io.WriteString(e.in, piece)
		}
		io.WriteString(e.in, "\"}}\n")
	}()
	if m := e.next(); m.ID != 7.0 || m.Error == nil || m.Error.Code != -32600 || !strings.Contains(m.Error.Message, "16 MB") {
		t.Errorf("%+v", m)
	}
	if m := e.ask(fresh); m.Result.SessionID != "s1" {
		t.Errorf("%+v", m)
	}
}

// Prompts of a session are worked on in their order, though they come at once; a cancel, and
// another, ends all of them.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		e := edit(t, config(func(ctx context.Context, _ SessionRequest, said string) iter.Seq2[engine.Event, error] {
			return func(yield func(engine.Event, error) bool) {
				order = append(order, said)
				if said == "wait" {
					<-ctx.Done()
					yield(nil, ctx.Err())
				}
			}
		}, nil))
		e.begin()
		var lines []string
		for i := range 5 {
			lines = append(lines, prompting(10+i, fmt.Sprint(i)))
		}
		e.say(strings.Join(lines, "\n"))
		for range 5 {
			if m := e.next(); m.Result.StopReason != "end_turn" {
				t.Errorf("%+v", m)
			}
		}
		if !slices.Equal(order, []string{"0", "1", "2", "3", "4"}) {
			t.Errorf("%v", order)
		}
		e.say(prompting(20, "wait"))
		synctest.Wait()
		e.say(strings.Join([]string{prompting(21, "never"), stop, stop}, "\n"))
		for range 2 {
			if m := e.next(); m.Result.StopReason != "cancelled" {
				t.Errorf("%+v", m)
			}
		}
		if order[len(order)-1] != "wait" {
			t.Errorf("%v", order)
		}
		if m := e.ask(prompting(22, "after")); m.Result.StopReason != "end_turn" {
			t.Errorf("%+v", m)
		}
		e.say(prompting(23, "wait") + "\n" + `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":23}}`)
		if m := e.next(); m.ID != 23.0 || m.Error == nil || m.Error.Code != -32800 {
			t.Errorf("%+v", m)
		}
	})
}

// No more prompts wait than there is room for.
func TestFull(t *testing.T) {
	mostWaiting = 4 << 20
	defer func() { mostWaiting = 64 << 20 }()
	synctest.Test(t, func(t *testing.T) {
		e := edit(t, config(func(ctx context.Context, _ SessionRequest, said string) iter.Seq2[engine.Event, error] {
			return func(yield func(engine.Event, error) bool) { <-ctx.Done() }
		}, nil))
		e.begin()
		var lines []string
		for i := range 101 {
			lines = append(lines, prompting(10+i, "x"))
		}
		e.say(strings.Join(lines, "\n"))
		if m := e.next(); m.ID != 110.0 || m.Error == nil || m.Error.Code != rpc.Busy {
			t.Errorf("%+v", m)
		}
		e.say(stop)
		for range 100 {
			if m := e.next(); m.Result.StopReason == "" {
				t.Errorf("%+v", m)
			}
		}
		for i := range mostSessions - 1 {
			e.ask(strings.Replace(fresh, `"id":2`, fmt.Sprintf(`"id":%d`, 400+i), 1))
		}
		if m := e.ask(fresh); m.Error == nil || m.Error.Code != rpc.Busy {
			t.Errorf("%+v", m)
		}
		large := prompting(300, strings.Repeat("x", 15<<16))
		for i := range 5 {
			e.say(strings.Replace(large, "300", fmt.Sprint(300+i), 1))
			synctest.Wait()
		}
		if m := e.next(); m.ID != 304.0 || m.Error == nil || m.Error.Code != rpc.Busy {
			t.Errorf("%+v", m)
		}
		e.say(stop)
		for range 4 {
			e.next()
		}
	})
}

// An editor that does not read holds up what it has asked for: nothing is made that it could
// not be told, and requests without end are not taken in. Its end is the end of all.
func TestNotReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := 0
		e := edit(t, config(func(ctx context.Context, _ SessionRequest, _ string) iter.Seq2[engine.Event, error] {
			return func(yield func(engine.Event, error) bool) {
				for made = 0; ctx.Err() == nil && yield(engine.Text{Delta: "x"}, nil); made++ {
				}
			}
		}, nil))
		e.begin()
		sent := 0
		go func() {
			io.WriteString(e.in, prompting(10, "x")+"\n")
			for _, err := io.WriteString(e.in, hello+"\n"); err == nil; _, err = io.WriteString(e.in, hello+"\n") {
				sent++
			}
		}()
		synctest.Wait()
		if made > 2 || sent > 1000 {
			t.Errorf("%d events were made, %d requests taken in", made, sent)
		}
	})
}

// A prompt that comes while the model works is told to it, if that is wished for, and ends
// with the one that it was told in; what comes too late is worked on behind it.
func TestHints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hints, proceed := &steer.Hints{}, make(chan bool)
		var order []string
		e := edit(t, config(func(_ context.Context, _ SessionRequest, said string) iter.Seq2[engine.Event, error] {
			return func(yield func(engine.Event, error) bool) {
				order = append(order, said)
				if said != "first" {
					return
				}
				<-proceed
				given := &steer.GivenHints{Hints: hints.Take()}
				yield(engine.Notice{Text: given.Error(), Cause: given, Info: true}, nil)
				<-proceed
			}
		}, hints))
		e.begin()
		e.say(prompting(10, "first"))
		synctest.Wait()
		e.say(prompting(11, "hint") + "\n" + prompting(12, "/command"))
		synctest.Wait()
		proceed <- true
		synctest.Wait()
		e.say(prompting(13, "late"))
		go func() { synctest.Wait(); proceed <- true }()
		for range 4 {
			if m := e.next(); m.Result.StopReason != "end_turn" {
				t.Errorf("%+v", m)
			}
		}
		if !slices.Equal(order, []string{"first", "/command", "late"}) {
			t.Errorf("%v", order)
		}
	})
}

// An answer counts as far as it was offered.
func TestAnswers(t *testing.T) {
	t.Parallel()
	p := engine.Proposal{ID: "c1", Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "run_shell_command"}, Kind: engine.Execute},
		Intent: engine.Intent{Title: "run: make", Detail: "make", Grants: []engine.Grant{{Label: "always make"}}}}
	choice := engine.Question{Text: "Which?", Kind: engine.MultipleChoice, Options: []engine.Option{{Label: "a"}, {Label: "b"}}}
	for name, c := range map[string]struct {
		questions []engine.Question
		answer    string // of the editor
		want      string
	}{
		"once":         {nil, `"result":{"outcome":{"outcome":"selected","optionId":"proceed_once"}}`, "engine.Allowed{Scope:0,"},
		"always":       {nil, `"result":{"outcome":{"outcome":"selected","optionId":"proceed_always"}}`, "engine.Allowed{Scope:1,"},
		"no":           {nil, `"result":{"outcome":{"outcome":"selected","optionId":"cancel"}}`, "engine.Refused"},
		"not offered":  {nil, `"result":{"outcome":{"outcome":"selected","optionId":"proceed_always_and_save"}}`, "engine.Refused"},
		"no outcome":   {nil, `"result":{}`, "engine.Refused"},
		"nothing":      {nil, `"result":null`, "engine.Refused"},
		"odd":          {nil, `"result":{"outcome":{"outcome":"agreed","optionId":"proceed_once"}}`, "engine.Refused"},
		"it can't":     {nil, `"error":{"code":-32601,"message":"no"}`, "engine.Unasked"},
		"cancelled":    {nil, `"result":{"outcome":{"outcome":"cancelled"}}`, "context canceled"},
		"a choice":     {[]engine.Question{choice}, `"result":{"outcome":{"outcome":"selected","optionId":"answer_2"}}`, `engine.Replied{Replies:[]string{"b"}}`},
		"no choice":    {[]engine.Question{choice}, `"result":{"outcome":{"outcome":"selected","optionId":"cancel"}}`, "engine.Refused"},
		"words":        {[]engine.Question{{Text: "Who?", Kind: engine.FreeText}}, "", "engine.Unasked"},
		"several":      {[]engine.Question{{Text: "Which?", Kind: engine.MultipleChoice, Multi: true}}, "", "engine.Unasked"},
		"yes or no":    {[]engine.Question{{Text: "Really?", Kind: engine.YesNo}}, `"result":{"outcome":{"outcome":"selected","optionId":"answer_1"}}`, `engine.Replied{Replies:[]string{"Yes"}}`},
		"it can't ask": {[]engine.Question{choice}, `"error":{"code":-32601,"message":"no"}`, "engine.Unasked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			e := edit(t, config(func(ctx context.Context, w SessionRequest, _ string) iter.Seq2[engine.Event, error] {
				return func(yield func(engine.Event, error) bool) {
					q := p
					q.Intent.Questions = c.questions
					a, err := w.Approver.Approve(ctx, q)
					if got = fmt.Sprintf("%#v", a); err != nil {
						got = err.Error()
					}
				}
			}, nil))
			e.begin()
			m := e.ask(prompting(9, "x"))
			if c.answer != "" {
				if m.Method != protocol.ClientMethodSessionRequestPermission {
					t.Fatalf("%+v", m)
				}
				id, _ := json.Marshal(m.ID)
				m = e.ask(`{"jsonrpc":"2.0","id":` + string(id) + `,` + c.answer + `}`)
			}
			if m.Result.StopReason == "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("%s; %+v", got, m)
			}
		})
	}
}

// A question of an MCP server that the editor can't ask is told to its user.
func TestServerAsks(t *testing.T) {
	t.Parallel()
	e := edit(t, config(func(ctx context.Context, w SessionRequest, _ string) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			w.Approver.Approve(ctx, engine.Proposal{Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "elicitation"}, Server: "desk"},
				Intent: engine.Intent{Title: "the MCP server desk asks", Questions: []engine.Question{{Text: "Who?", Kind: engine.FreeText}}}})
		}
	}, nil))
	e.begin()
	e.ask(prompting(9, "x"))
	if said := strings.Join(e.said, ""); !strings.Contains(said, "warning: the MCP server desk asks, and an editor can ask for one of several answers only; it gets no answer: Who?") {
		t.Error(said)
	}
}

// What happens is told without secrets, and nothing in a title can move a screen.
func TestUpdates(t *testing.T) {
	t.Parallel()
	e := edit(t, config(events(
		engine.Text{Delta: "It is opensesame."},
		engine.CallRequested{ID: "c1", Name: "run_shell_command", Args: map[string]any{"command": "echo opensesame", "n": 12345678901234567}},
		engine.CallStarted{ID: "c1", Name: "run_shell_command", Intent: engine.Intent{Title: "run: \x1b[2Jecho\u202e"}},
		engine.Output{ID: "c1", Delta: "opensesame\x1b[2J```\n"},
		engine.CallFinished{ID: "c1", Name: "run_shell_command", Args: map[string]any{}, Result: engine.Result{Text: "for the model", Display: "done opensesame"}},
		engine.CallRequested{ID: "c2", Name: "write_todos"},
		engine.CallFinished{ID: "c2", Name: "write_todos", Err: errors.New("no list")},
		engine.Usage{Model: "m", Prompt: 3, Output: 4},
		engine.NestedEvent{Agent: "a", Event: engine.Text{Delta: "not the answer"}},
		engine.NestedEvent{Agent: "a", Event: engine.Thought{Delta: "not the answer"}},
		engine.NestedEvent{Agent: "a", Event: engine.Notice{Text: "odd", Info: true}},
		engine.NestedEvent{ID: "a1", Agent: "a", Event: engine.CallStarted{ID: "n", Name: "x", Intent: engine.Intent{Title: "one"}}},
		engine.NestedEvent{ID: "a2", Agent: "b", Event: engine.CallStarted{ID: "n", Name: "x", Intent: engine.Intent{Title: "two"}}},
		engine.NestedEvent{ID: "a2", Agent: "b", Event: engine.CallFinished{ID: "n", Name: "x", Result: engine.Result{Display: "of two"}}},
		engine.NestedEvent{ID: "a1", Agent: "a", Event: engine.CallFinished{ID: "n", Name: "x", Result: engine.Result{Display: "of one"}}},
		engine.Thought{Delta: "**Plan**"}, engine.Retry{Err: errors.New("cut"), Restart: true},
		engine.CallStarted{ID: "check", Name: "check", Intent: engine.Intent{Title: "check: make"}}, engine.Output{ID: "check", Delta: "\x80red"},
		engine.CheckFinished{ID: "check", Err: &engine.CallError{Message: "not the answer", Display: "failed exit 1"}},
		engine.CallStarted{ID: "check", Name: "check", Intent: engine.Intent{Title: "check: make"}},
		engine.CheckFinished{ID: "check"},
		engine.Citations{References: []engine.Reference{{Title: "T", URI: "http://t"}, {}}}, engine.Citations{References: []engine.Reference{{Title: "T"}}},
	), nil))
	e.begin()
	e.ask(prompting(9, "x"))
	all := strings.Join(e.said, "")
	for _, want := range []string{`"text":"a: odd\n\n"`, `"title":"a: one","toolCallId":"n"`, `"title":"b: two","toolCallId":"n__2"`, `of two\n` + "```" + `","type":"text"},"type":"content"}],"sessionUpdate":"tool_call_update","status":"completed","toolCallId":"n__2"`, `"agent_thought_chunk","content":{"text":"**Plan**"`, "begins again", `"text":"\n\nSources:\n\n- (T) http://t\n"`,
		"red\\n", `"text":"failed exit 1","type":"text"},"type":"content"}],"sessionUpdate":"tool_call_update","status":"failed","toolCallId":"check"`,
		`"text":"the check has passed","type":"text"},"type":"content"}],"sessionUpdate":"tool_call_update","status":"completed","toolCallId":"check__2"`,
		"It is ***.", `run: echo\\u{202e}`, `12345678901234567`, "done ***", "no list", `"input_tokens":3`, "````"} {
		if !strings.Contains(all, want) {
			t.Errorf("it lacks %s: %s", want, all)
		}
	}
	for _, never := range []string{"opensesame", "for the model", `\u001b`, "not the answer"} {
		if strings.Contains(all, never) {
			t.Errorf("it has %s: %s", never, all)
		}
	}
}
