package a2a_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	protocol "github.com/a2aproject/a2a-go/a2a"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/a2a"
	"gemline/repl/report"
	"gemline/repl/serve"
)

// A message begins a task, which answers and then waits for the next message. The program
// puts serve.RequireToken in front, so that only clients with its token come in.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	server, err := a2a.New(ctx, &serve.Group{}, a2a.Config{Version: "1", Dir: "/project",
		Begin: func(_ context.Context, w serve.SessionRequest) (*serve.Session, error) {
			return &serve.Session{ID: w.Name, Tally: &tally.Tally{}, Model: func() string { return "m" },
				Offered: func() []engine.Tool { return nil }, Close: func() {},
				Ask: func(_ context.Context, to report.Reporter, prompt string) error {
					to.Event(engine.Text{Delta: strings.ToUpper(prompt)})
					to.Event(engine.AnswerFinished{})
					return nil
				}}, nil
		},
		Outcome: func(err error) report.Outcome { return report.Outcome{Err: err} },
		Redact:  func(s string) string { return s }, Warn: func(string) {},
		Servers: func() []a2a.Connected { return nil }})
	if err != nil {
		panic(err)
	}
	site := httptest.NewServer(server)
	defer site.Close()

	resp, err := http.Post(site.URL, "application/json", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"configuration":{"blocking":true},
		"message":{"messageId":"m1","role":"user","parts":[{"kind":"text","text":"hello"}]}}}`))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	var answer struct{ Result protocol.Task }
	err = json.NewDecoder(resp.Body).Decode(&answer)
	fmt.Println(answer.Result.Status.State, err)
	for _, m := range answer.Result.History {
		fmt.Println(m.Role, m.Parts[0].(protocol.TextPart).Text)
	}
	// Output:
	// input-required <nil>
	// user hello
	// agent HELLO
}
