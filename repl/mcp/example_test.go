package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/mcp"
	"gemline/repl/report"
	"gemline/repl/serve"
	"gemline/tools/mcp/rpc"
)

// A client gives a task, which has a conversation of its own and the answer as its result.
func ExampleServe() {
	cfg := mcp.Config{Version: "1", Redact: func(s string) string { return s },
		Outcome: func(err error) report.Outcome { return report.Outcome{Err: err} },
		Reporter: func(out io.Writer, count *tally.Tally) report.Reporter {
			return report.New("json", report.Config{Out: out, Err: io.Discard, Tally: count, Now: time.Now})
		},
		Begin: func(context.Context, serve.SessionRequest) (*serve.Session, error) {
			return &serve.Session{Tally: &tally.Tally{}, Tools: func() []engine.Tool { return nil },
				Ask: func(_ context.Context, to report.Reporter, prompt string) error {
					to.Event(engine.Text{Delta: strings.ToUpper(prompt)})
					return nil
				},
				Close: func() {}}, nil
		}}
	in, client := io.Pipe()
	answers, out := io.Pipe()
	over := make(chan bool)
	go func() {
		defer close(over)
		mcp.Serve(context.Background(), cfg, rpc.Lines(in, out, func() error { out.Close(); return in.Close() }))
	}()
	go io.WriteString(client, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
		`"capabilities":{},"clientInfo":{"name":"client","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{"prompt":"hi"}}}
`)
	for said := json.NewDecoder(answers); ; {
		var m struct {
			ID     int
			Result struct{ Content []struct{ Text string } }
		}
		if err := said.Decode(&m); err != nil || m.ID == 2 {
			fmt.Println(m.ID, m.Result.Content, err)
			break
		}
	}
	client.Close()
	<-over
	// Output:
	// 2 [{HI}] <nil>
}
