package rpc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
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
		wants := []string{`"id":null,"error":{"code":-32600`, `"id":null,"error":{"code":-32700`, `"id":null,"error":{"code":-32700`, `"id":null,"error":{"code":-32700`, `"id":7,"result":{}`}
		for i, text := range []string{"[]", "garbage", `{"jsonrpc": broken}`, `{"method":"ping", }`, `{"jsonrpc":"2.0","id":7,"method":"ping"}`} {
			if !served && i < 4 {
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

// A call that ends for lack of time, or because the user cancels, says so to the other side, and an
// answer may write its id as 1.0, but not lack a result.
func TestAnswers(t *testing.T) {
	in, typed := io.Pipe()
	said, out := io.Pipe()
	conn := rpc.New(rpc.Lines(in, out, func() error { return nil }), rpc.Handler{})
	lines := bufio.NewScanner(said)
	for _, try := range []struct {
		answer, want string
		cause        error
	}{
		{`{"jsonrpc":"2.0","id":1.0,"result":{}}`, "<nil>", nil},
		{`{"jsonrpc":"2.0","id":2}`, "an answer without a result", nil},
		{"", "no answer within 4s", errors.New("no answer within 4s")},
		{"", "the user has cancelled the call", context.Canceled},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		over := make(chan error, 1)
		go func() { over <- conn.Call(ctx, "ping", nil, nil) }()
		lines.Scan()
		if try.cause != nil {
			cancel(try.cause)
			if lines.Scan(); !strings.Contains(lines.Text(), `"reason":"`+try.want+`"`) {
				t.Errorf("the other side got %s, without %q", lines.Text(), try.want)
			}
			<-over
			continue
		}
		io.WriteString(typed, try.answer+"\n")
		if err := <-over; fmt.Sprint(err) != try.want {
			t.Errorf("%s: %v, want %s", try.answer, err, try.want)
		}
		cancel(nil)
	}
	typed.Close()
	out.Close()
	conn.Close()
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
