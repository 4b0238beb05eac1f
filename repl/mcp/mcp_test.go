package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/report"
	"gemline/repl/serve"
	"gemline/tools/mcp/rpc"
)

// served serves a client that says lines, and returns what it is sent: every line until it
// has as many answers as it has asked for.
func served(t *testing.T, cfg Config, lines ...string) (said []string) {
	t.Helper()
	in, out := io.Pipe()
	back, feed := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Serve(t.Context(), cfg, rpc.Lines(in, feed, func() error { feed.Close(); return in.Close() }))
	}()
	asked := 0
	go func() {
		for _, l := range lines {
			io.WriteString(out, l+"\n")
		}
	}()
	for _, l := range lines {
		asked += strings.Count(l, `"id"`)
	}
	for r := bufio.NewReader(back); asked > 0; {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("%v after %q", err, said)
		}
		if strings.Contains(line, `"elicitation/create"`) {
			go io.WriteString(out, reply+"\n")
		}
		if said = append(said, line); !strings.Contains(line, `"method"`) {
			asked--
		}
	}
	out.Close()
	go io.Copy(io.Discard, back)
	<-ended
	return said
}

// config serves conversations whose tasks are done by work.
func config(work func(ctx context.Context, to report.Reporter) error) Config {
	return Config{Redact: func(s string) string { return strings.ReplaceAll(s, "opensesame", "***") },
		Outcome: func(err error) report.Outcome { return report.Outcome{Err: err, Hint: "try again"} },
		Reporter: func(out io.Writer, count *tally.Tally) report.Reporter {
			return report.New("json", report.Config{Out: out, Err: io.Discard, Tally: count, Now: time.Now})
		},
		Begin: func(_ context.Context, w serve.SessionRequest) (*serve.Session, error) {
			if w.Name == "taken" {
				return nil, errors.New("it is taken")
			}
			w.Notify("it begins")
			return &serve.Session{ID: w.Name, Tally: &tally.Tally{}, Close: func() {}, Tools: func() []engine.Tool { return nil },
				Ask: func(ctx context.Context, to report.Reporter, prompt string) error {
					w.Notify("the key is opensesame")
					return work(ctx, to)
				}}, nil
		}}
}

const (
	hello = `{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	reply = `{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"answer1":["a","b"],"answer2":false,"answer3":"me"}}}`
	task  = `{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"ask","arguments":{"prompt":"x","session":"s"},"_meta":{"progressToken":7}}}`
)

// A client that waits hears from its call, though nothing happens: what there is to say, and
// the last of it again every ten seconds, numbered upwards.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := served(t, config(func(ctx context.Context, to report.Reporter) error {
			to.Event(engine.RequestStarted{Number: 1, Model: "m\x1b"})
			time.Sleep(35 * time.Second)
			to.Event(engine.Text{Delta: "It is opensesame."})
			to.Event(engine.AnswerFinished{})
			return nil
		}), hello, task)
		n := 0.0
		for _, line := range said {
			var m struct {
				Method string
				Params struct {
					ProgressToken int
					Progress      float64
					Message       string
				}
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			if m.Method != "notifications/progress" {
				continue
			}
			if n++; m.Params.Progress != n || m.Params.ProgressToken != 7 || m.Params.Message != `m\x1b is asked` {
				t.Errorf("%s", line)
			}
		}
		if n != 4 {
			t.Errorf("%v times told: %q", n, said)
		}
		if all := strings.Join(said, ""); strings.Contains(all, "opensesame") || !strings.Contains(all, "It is ***.") || !strings.Contains(all, `"level":"warning"`) || !strings.Contains(all, "it begins") {
			t.Errorf("%s", all)
		}
	})
}

// What a client gets wrong is an error of the protocol, what goes wrong a result that a
// model reads; what comes before initialize is refused.
func TestWrong(t *testing.T) {
	t.Parallel()
	fails := config(func(context.Context, report.Reporter) error { return errors.New("no luck") })
	for name, c := range map[string]struct{ line, want string }{
		"too early":       {`{"jsonrpc":"2.0","id":"b","method":"tools/list"}`, `"code":-32600`},
		"unknown":         {hello + "\n" + `{"jsonrpc":"2.0","id":"b","method":"resources/list"}`, `"code":-32601`},
		"no tool":         {hello + "\n" + `{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"x"}}`, `"code":-32602`},
		"no object":       {hello + "\n" + `{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"ask","arguments":[1]}}`, `"code":-32602`},
		"no parameters":   {hello + "\n" + `{"jsonrpc":"2.0","id":"b","method":"tools/call","params":[]}`, `"code":-32602`},
		"no name":         {hello + "\n" + strings.ReplaceAll(task, `"s"`, `5`), `"code":-32602`},
		"no level":        {hello + "\n" + `{"jsonrpc":"2.0","id":"b","method":"logging/setLevel","params":{"level":"loud"}}`, `"code":-32602`},
		"a level":         {hello + "\n" + `{"jsonrpc":"2.0","id":"b","method":"logging/setLevel","params":{"level":"error"}}`, `"result":{}`},
		"alive":           {`{"jsonrpc":"2.0","id":"b","method":"ping"}`, `"result":{}`},
		"a misspelling":   {hello + "\n" + strings.ReplaceAll(task, `"session"`, `"sesion"`), `ask has no such argument: sesion`},
		"no parameters 2": {hello + "\n" + `{"jsonrpc":"2.0","id":"b","method":"tools/call"}`, "params are missing"},
		"no prompt":       {hello + "\n" + `{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"ask"}}`, `"code":-32602`},
		"it fails":        {hello + "\n" + task, `no luck; try again`},
		"it can't begin":  {hello + "\n" + strings.ReplaceAll(task, `"s"`, `"taken"`), `it is taken; try again`},
		"an odd version":  {strings.ReplaceAll(hello, "2025-06-18", "1"), `"protocolVersion":"2025-11-25"`},
		"an early client": {strings.ReplaceAll(hello, "2025-06-18", "2024-11-05"), `"protocolVersion":"2024-11-05"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := served(t, fails, c.line)
			if last := said[len(said)-1]; !strings.Contains(last, c.want) {
				t.Errorf("%s", last)
			}
		})
	}
}

// A client that can asks its user, for several of a list, too, and a call of a tool gives what is
// no text in the protocol's forms.
func TestForms(t *testing.T) {
	t.Parallel()
	cfg := config(nil)
	cfg.Begin = func(_ context.Context, w serve.SessionRequest) (*serve.Session, error) {
		list := []engine.Option{{Label: "a", Description: "A"}, {Label: "b"}}
		p := engine.Proposal{Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "ask_user"}}, Intent: engine.Intent{Title: "ask", Questions: []engine.Question{
			{Text: "Which?", Kind: engine.MultipleChoice, Multi: true, Options: list}, {Text: "Sure?", Kind: engine.YesNo}, {Text: "Who?", Kind: engine.FreeText}}}}
		return &serve.Session{ID: w.Name, Tally: &tally.Tally{}, Close: func() {},
			Tools: func() []engine.Tool {
				return []engine.Tool{{Declaration: &genai.FunctionDeclaration{Name: "look", ParametersJsonSchema: map[string]any{}},
					Fit: func(args map[string]any) (map[string]any, string, error) {
						if args["nosuch"] == nil {
							return args, "", nil
						}
						return nil, "\"nosuch\"", nil
					}},
					{Declaration: &genai.FunctionDeclaration{Name: "fail", ParametersJsonSchema: map[string]any{}}}}
			},
			Call: func(_ context.Context, t engine.Tool, _ map[string]any, show func(engine.Event)) error {
				if t.Name() == "fail" { // as a command does
					show(engine.CallFinished{Result: engine.Result{Text: "Exit Code: 1"}, Err: errors.New("Exit Code: 1")})
					return nil
				}
				show(engine.CallFinished{Result: engine.Result{Text: "it is", Media: []*genai.Part{genai.NewPartFromBytes([]byte("1"), "image/png"),
					genai.NewPartFromBytes([]byte("2"), "audio/wav"), genai.NewPartFromBytes([]byte("3"), "application/pdf")}}})
				return nil
			},
			Ask: func(ctx context.Context, to report.Reporter, _ string) error {
				a, err := w.Approver.Approve(ctx, p)
				to.Event(engine.Text{Delta: fmt.Sprintf("%q", a)})
				to.Event(engine.AnswerFinished{})
				return err
			}}, nil
	}
	said := served(t, cfg, strings.NewReplacer("2025-06-18", "2025-11-25", `"capabilities":{}`, `"capabilities":{"elicitation":{}}`).Replace(hello),
		task, `{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"look"}}`, `{"jsonrpc":"2.0","id":"d","method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":"e","method":"tools/call","params":{"name":"fail"}}`,
		`{"jsonrpc":"2.0","id":"f","method":"tools/call","params":{"name":"look","arguments":{"nosuch":1}}}`)
	all := strings.Join(said, "")
	for _, want := range []string{`{"description":"a: A","items":{"enum":["a","b"],"type":"string"},"title":"Which?","type":"array"}`, `{[\"a, b\" \"No\" \"me\"]}`,
		`[{"type":"text","text":"it is"},{"type":"image","data":"MQ==","mimeType":"image/png"},{"type":"audio","data":"Mg==","mimeType":"audio/wav"},{"type":"resource","resource":{"uri":"gemline:result","mimeType":"application/pdf","blob":"Mw=="}}]`,
		`[{"type":"text","text":"Exit Code: 1"}],"isError":true`, `"name":"look"`, `"message":"look has no such argument: \"nosuch\""`} {
		if !strings.Contains(all, want) {
			t.Errorf("it lacks %s: %s", want, all)
		}
	}
}
