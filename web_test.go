package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// proxying is the key of the proxy that was started last.
type proxying struct{}

// A relay is a proxy that has one page for all addresses.
type relay struct {
	mu   sync.Mutex
	page string
	urls []string
}

func (p *relay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.urls = append(p.urls, r.URL.String())
	w.Write([]byte(p.page))
}

// proxy starts a proxy that answers with a file, and has gemline use it.
//
//	proxy FILE
func proxy(ts *testscript.TestScript, neg bool, args []string) {
	p := &relay{page: ts.ReadFile(args[0])}
	s := httptest.NewServer(p)
	ts.Defer(s.Close)
	*ts.Value(proxying{}).(**relay) = p
	ts.Setenv("HTTP_PROXY", s.URL)
}

// proxied checks what the proxy was asked for.
//
//	proxied URL ...
func proxied(ts *testscript.TestScript, neg bool, args []string) {
	p := *ts.Value(proxying{}).(**relay)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Equal(p.urls, args) {
		ts.Fatalf("the proxy was asked for %q", p.urls)
	}
}
