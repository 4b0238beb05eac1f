package rpc_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"gemline/tools/mcp/rpc"
)

// Who serves answers what is no message. Who is served does not: what is no message may be
// a line of a log.
func TestNoMessage(t *testing.T) {
	for _, served := range []bool{true, false} {
		in, typed := io.Pipe()
		said, out := io.Pipe()
		conn := rpc.New(rpc.Lines(in, out, func() error { return nil }), rpc.Handler{ServerSide: served,
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

// A server over HTTP is told once that its session is over.
func TestFarewell(t *testing.T) {
	var told atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodDelete:
			told.Add(1)
		case http.MethodPost:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", "1")
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}))
	defer s.Close()
	conn := rpc.New(rpc.HTTP(rpc.Remote{URL: s.URL, Header: http.Header{}, Client: s.Client()}), rpc.Handler{})
	if err := conn.Call(t.Context(), "initialize", nil, nil); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	conn.Close()
	if n := told.Load(); n != 1 {
		t.Errorf("told %d times", n)
	}
}
