package rpc_test

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/tools/mcp/rpc"
)

// A server writes what is no message where its messages are expected. The call that waits
// is answered nevertheless, unless it was its answer that can't be read.
func TestLogAmongMessages(t *testing.T) {
	t.Parallel()
	deep := func(open, shut string, levels int) string {
		return strings.Repeat(open, levels) + "1" + strings.Repeat(shut, levels)
	}
	for name, c := range map[string]struct {
		said string
		odd  int    // how many lines are no message
		err  string // of the call, "" if it is answered
	}{
		"words":                       {"npm WARN deprecated", 1, ""},
		"Node's console.log":          {"{ level: 'info', port: 3000 }", 1, ""},
		"of several lines":            {"{\n  \"id\": 1,\n  \"name\": \"x\"\n}", 4, ""},
		"a dictionary of Python's":    {"{'jsonrpc': None, 'id': 1}", 1, ""},
		"a level in brackets":         {"[info] listening", 1, ""},
		"a time in brackets":          {"[2026-11-27 06:00:00] ready", 1, ""},
		"a list":                      {"[1, 2, 3]", 3, ""},
		"JSON":                        {`{"level":30,"msg":"ready"}`, 1, ""},
		"JSON with the call's id":     {`{"level":30,"id":1}`, 1, ""},
		"JSON of a web server":        {`{"method":"GET","id":1,"url":"/"}`, 1, ""},
		"JSON with an error":          {`{"level":"error","error":"no such table","id":1}`, 1, ""},
		"cut JSON":                    {`{"level":30,"msg":"re`, 1, ""},
		"brackets without end":        {strings.Repeat("[", 20_000), 1, ""},
		"a long line of a log":        {"{" + strings.Repeat("x", rpc.MaxMessage), 1, ""},
		"a cut answer":                {`{"jsonrpc":"2.0","id":1,"result":{"a":`, 0, "no JSON"},
		"a cut answer, id last":       {`{"result":{"a":1},"id":1,`, 0, "no JSON"},
		"a cut answer to nobody":      {`{"jsonrpc":"2.0","result":{"a":`, 0, "no JSON"},
		"an answer without a result":  {`{"jsonrpc":"2.0","id":1}`, 0, "an answer without a result"},
		"an answer that is too long":  {`{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", rpc.MaxMessage), 0, "16 MB"},
		"an error that is a text":     {`{"jsonrpc":"2.0","id":1,"error":"no such table"}`, 0, "no such table"},
		"an error without a message":  {`{"jsonrpc":"2.0","id":1,"error":{"code":7,"reason":"locked"}}`, 0, "locked"},
		"an error with an odd code":   {`{"jsonrpc":"2.0","id":1,"error":{"code":"E1","message":"no such table"}}`, 0, "no such table"},
		"a deep answer":               {`{"jsonrpc":"2.0","id":1,"result":{"a":` + deep("[", "]", 12_000) + `,"of":"it"}}`, 0, ""},
		"a deep answer of objects":    {`{"jsonrpc":"2.0","id":1,"result":{"a":` + deep(`{"]}\"":{"b":[2],"x":`, "}}", 6_000) + `,"of":"it"}}`, 0, ""},
		"a deep answer that is cut":   {`{"jsonrpc":"2.0","id":1,"result":{"a":` + strings.Repeat("[", 12_000), 0, "no JSON"},
		"a deep notification":         {`{"jsonrpc":"2.0","method":"x","params":` + deep("[", "]", 12_000) + `}`, 0, ""},
		"an answer to nobody, twice":  {`{"jsonrpc":"2.0","id":8,"result":1}` + "\n" + `{"jsonrpc":"2.0","id":8,"result":1}`, 0, ""},
		"a list of answers in a list": {`[[{"jsonrpc":"2.0","id":1,"result":1}]]`, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				in, say := io.Pipe()
				odd := 0
				conn := rpc.New(rpc.Lines(in, io.Discard, in.Close), rpc.Handler{OnUnparsed: func([]byte) { odd++ }})
				go func() {
					synctest.Wait() // the call is sent
					io.WriteString(say, c.said+"\n"+`{"jsonrpc":"2.0","id":1,"result":{"of":"it"}}`+"\n")
					say.Close()
				}()
				var got struct{ Of string }
				err := conn.Call(t.Context(), "x", nil, &got)
				if c.err == "" && (err != nil || got.Of != "it") || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
					t.Errorf("%+v, %v; want %q", got, err, c.err)
				}
				<-conn.Done()
				if odd != c.odd {
					t.Errorf("%d lines are no message, want %d", odd, c.odd)
				}
			})
		})
	}
}

// Answers do not wait behind many notifications, which are told in order. A server that
// sends them without end is slowed down.
func TestManyNotifications(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n     int
		least time.Duration // that the answer waits
		most  time.Duration
	}{{10_000, 0, 0}, {100_000, 3 * time.Second, 5 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			in, say := io.Pipe()
			var told []string
			conn := rpc.New(rpc.Lines(in, io.Discard, in.Close), rpc.Handler{Notify: func(m protocol.MCPMethod, _ json.RawMessage) {
				told = append(told, string(m))
			}})
			began := time.Now() // of a clock that only waiting moves
			var want []string
			go func() {
				synctest.Wait()
				for i := range c.n {
					want = append(want, fmt.Sprint("n", i))
					fmt.Fprintf(say, `{"jsonrpc":"2.0","method":"n%d"}`+"\n", i)
				}
				io.WriteString(say, `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n")
			}()
			if err := conn.Call(t.Context(), "x", nil, nil); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took < c.least || took > c.most {
				t.Errorf("%d notifications took %s", c.n, took)
			}
			if !slices.Equal(told, want) {
				t.Errorf("%d of %d notifications are told in order", len(told), len(want))
			}
			say.Close()
			conn.Close()
		})
	}
}
