package rpc_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"gemline/tools/mcp/rpc"
)

// Who serves answers what is no message. Who is served does not: what is no message may be
// a line of a log.
func TestNoMessage(t *testing.T) {
	for _, served := range []bool{true, false} {
		in, typed := io.Pipe()
		said, out := io.Pipe()
		conn := rpc.New(rpc.Lines(in, out, func() error { return nil }), rpc.Handler{Served: served,
			Request: func(context.Context, *rpc.Message) (any, error) { return struct{}{}, nil }})
		lines := bufio.NewScanner(said)
		wants := []string{`"id":null,"error":{"code":-32700`, `"id":null,"error":{"code":-32700`, `"id":null,"error":{"code":-32700`, `"id":7,"result":{}`}
		for i, text := range []string{"garbage", `{"jsonrpc": broken}`, `{"method":"ping", }`, `{"jsonrpc":"2.0","id":7,"method":"ping"}`} {
			if !served && i < 3 {
				io.WriteString(typed, text+"\n")
				continue
			}
			io.WriteString(typed, text+"\n")
			if !lines.Scan() || !strings.Contains(lines.Text(), wants[i]) {
				t.Errorf("served %v: to %s: %s", served, text, lines.Text())
			}
		}
		typed.Close()
		out.Close()
		conn.Close()
	}
}
