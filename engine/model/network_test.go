package model_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	et "gemline/engine/enginetest"
	"gemline/engine/model"
	"gemline/engine/network"
)

// TestCertificates talks to a server whose certificate only the settings can
// vouch for.
func TestCertificates(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, et.Event(`{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}`))
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	dir := t.TempDir()
	cert := filepath.Join(dir, "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}
	if err := os.WriteFile(cert, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(other, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		cas  []string
		err  string
	}{
		{"file", []string{cert}, ""},
		{"directory", []string{dir}, ""},
		{"none", nil, "no trusted authority has signed"},
		{"missing", []string{filepath.Join(dir, "none")}, "none: "},
		{"one missing", []string{filepath.Join(dir, "none"), cert}, ""},
		{"no certificate", []string{other}, "no certificate in PEM form"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := model.NewGenai(model.Options{APIKey: key, BaseURL: s.URL, Network: network.Network{CAs: c.cas}})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			got, err := hear(t, g, ask("q"))
			if c.err == "" && (got != "hi" || err != nil) {
				t.Errorf("heard %q, %v", got, err)
			}
			var e *model.Error
			if c.err != "" && (!errors.As(err, &e) || !strings.Contains(e.Error(), c.err) || !e.Final || e.Advice == "") {
				t.Errorf("error %#v, want %q", err, c.err)
			}
		})
	}
}

// TestHTTP2 leaves, cancels and loses streams that share a connection.
func TestHTTP2(t *testing.T) {
	ended := make(chan struct{}, 10)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { ended <- struct{}{} }()
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, et.Event(`{"candidates":[{"content":{"parts":[{"text":"`+r.Proto+`"}]}}]}`))
		w.(http.Flusher).Flush()
		if r.Header.Get("X-Abort") != "" {
			panic(http.ErrAbortHandler)
		}
		<-r.Context().Done()
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	cert := filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}
	if err := os.WriteFile(cert, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	dial := func(o model.Options) *model.Genai {
		o.APIKey, o.BaseURL, o.Network.CAs = key, s.URL, []string{cert}
		g, err := model.NewGenai(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { g.Close() })
		return g
	}
	g := dial(model.Options{})
	for chunk, err := range g.Generate(t.Context(), ask("q")) {
		if err != nil || chunk.Candidates[0].Content.Parts[0].Text != "HTTP/2.0" {
			t.Fatalf("heard %+v, %v", chunk, err)
		}
		break
	}
	<-ended
	ctx, cancel := context.WithCancel(t.Context())
	for _, err := range g.Generate(ctx, ask("q")) {
		if err == nil {
			cancel()
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
	cancel()
	<-ended
	var e *model.Error
	if _, err := hear(t, dial(model.Options{Idle: 3 * time.Second}), ask("q")); !errors.Is(err, model.ErrIdle) {
		t.Errorf("error %v", err)
	}
	<-ended
	_, err := hear(t, dial(model.Options{Header: http.Header{"X-Abort": {"1"}}}), ask("q"))
	if !errors.As(err, &e) || e.Kind != model.Unavailable || !e.Answering || e.Final {
		t.Errorf("error %#v", err)
	}
	t.Log(err)
}

// TestProxy sends requests for a server that doesn't exist through a proxy.
func TestProxy(t *testing.T) {
	var asked []string
	status := http.StatusOK
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.Host)
		if status != http.StatusOK {
			w.WriteHeader(status)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
			conn.Close()
		}
	}))
	defer proxy.Close()
	address := strings.TrimPrefix(proxy.URL, "http://")
	for _, c := range []struct {
		name   string
		status int
		proxy  string
		want   string
		kind   model.Kind
	}{
		{"through", http.StatusOK, address, "api.invalid", model.Unavailable}, // it hangs up, or resets if our words were on their way
		{"not allowed", http.StatusProxyAuthRequired, address, "NAME:PASSWORD@HOST:PORT", model.Config},
		{"no proxy", http.StatusOK, "127.0.0.1:1", "no connection to the proxy: connection refused", model.Unavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, asked = c.status, nil
			g, err := model.NewGenai(model.Options{APIKey: key, BaseURL: "https://api.invalid",
				Network: network.From(func(string) string { return c.proxy })})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			_, err = hear(t, g, ask("q"))
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(told(e), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if nobody := c.proxy != address; nobody != (e.Code == model.CodeNobody) {
				t.Errorf("code %q", e.Code)
			}
			if c.proxy == address && (len(asked) != 1 || asked[0] != "CONNECT api.invalid:443") {
				t.Errorf("the proxy was asked %q", asked)
			}
		})
	}
}
