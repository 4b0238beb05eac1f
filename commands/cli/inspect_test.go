package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const activityLog = `{"event.name":"gemini_cli.config","event.timestamp":"2026-11-23T22:21:50.739Z","session.id":"s1","model":"m","approval_mode":"default"}
{"event.name":"gemini_cli.user_prompt","session.id":"s1","prompt":"<script>alert(1)</script>"}
{"event.name":"gemini_cli.tool_call","session.id":"s1","function_name":"glob","duration_ms":12,"function_args":"{}","success":true}
{"event.name":"something.else","session.id":"s1"}
`

// The page is for whoever has the address, by its own name, and holds nothing that
// runs or comes from elsewhere.
func TestPage(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, []byte(activityLog), 0o600); err != nil {
		t.Fatal(err)
	}
	h := page("127.0.0.1:7", "/token/", name)
	for _, test := range []struct {
		method, host, path string
		want               int
	}{
		{"GET", "127.0.0.1:7", "/token/", 200},
		{"GET", "127.0.0.1:7", "/", 404},
		{"GET", "127.0.0.1:7", "/token", 404},
		{"GET", "evil.example:7", "/token/", 404},
		{"GET", "localhost:7", "/token/", 404},
		{"POST", "127.0.0.1:7", "/token/", 404},
	} {
		r := httptest.NewRequest(test.method, "http://"+test.host+test.path, nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("%v: %d", test, w.Code)
		}
		if w.Code != http.StatusOK {
			continue
		}
		body := w.Body.String()
		if !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'none'; style-src 'unsafe-inline'") {
			t.Error("it may load what it likes")
		}
		for _, bad := range []string{"<script", "http://", "https://", "something.else"} {
			if strings.Contains(body, bad) {
				t.Errorf("it has %s", bad)
			}
		}
		for _, good := range []string{"3 events", "&lt;script&gt;alert(1)&lt;/script&gt;", "glob, 12 ms, done {}"} {
			if !strings.Contains(body, good) {
				t.Errorf("it has no %s: %s", good, body)
			}
		}
	}
}

// The page is there, at the address that is printed, until the program is told to end.
func TestServe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, []byte(activityLog), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	printed, out := io.Pipe()
	ended := make(chan error, 1)
	port := 0
	go func() { ended <- (&inspectCommand{Port: &port}).serve(ctx, &Output{Out: out}, name) }()
	address, err := bufio.NewReader(printed).ReadString('\n')
	if err != nil || !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Fatalf("%q: %v", address, err)
	}
	resp, err := http.Get(strings.TrimSpace(address))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Error(resp.Status)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A port that can't be had is told in words.
func TestServePort(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, []byte(activityLog), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().(*net.TCPAddr).Port
	for port, want := range map[int]string{
		-1:    "--port must be a number from 0 to 65535",
		65536: "--port must be a number from 0 to 65535",
		taken: fmt.Sprintf("port %d can't be used: address already in use; --port 0 takes one that is free", taken),
	} {
		err := (&inspectCommand{Port: &port}).serve(t.Context(), &Output{}, name)
		if err == nil || err.Error() != want {
			t.Errorf("%d: %v", port, err)
		}
	}
}
