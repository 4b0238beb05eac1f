//go:build unix

package servers

import (
	"bytes"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// The variables that programs have always had say how the network is reached.
func TestNetworkOfEnvironment(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, et.Event(`{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}`))
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	certs := t.TempDir()
	cert := filepath.Join(certs, "ca.pem")
	if err := os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	asked := map[string]string{} // what the proxy was asked, by who asked
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		who, _, _ := r.BasicAuth()
		if h := r.Header.Get("Proxy-Authorization"); h != "" {
			r.Header.Set("Authorization", h)
			who, _, _ = r.BasicAuth()
		}
		asked[who] += r.Method + " " + r.Host
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(proxy.Close)
	address := strings.TrimPrefix(proxy.URL, "http://")
	for name, c := range map[string]struct {
		base  string
		env   []string
		code  int
		proxy bool // was asked
	}{
		"no certificate":            {s.URL, nil, 68, false},
		"SSL_CERT_FILE":             {s.URL, []string{"SSL_CERT_FILE=" + cert}, 0, false},
		"SSL_CERT_DIR":              {s.URL, []string{"SSL_CERT_DIR=/nowhere:" + certs}, 0, false},
		"NODE_EXTRA_CA_CERTS":       {s.URL, []string{"NODE_EXTRA_CA_CERTS=" + cert}, 0, false},
		"HTTPS_PROXY":               {"https://api.invalid", []string{"HTTPS_PROXY=http://WHO@" + address}, 68, true},
		"https_proxy, no scheme":    {"https://api.invalid", []string{"https_proxy=WHO@" + address}, 68, true},
		"http_proxy, no scheme":     {"https://api.invalid", []string{"http_proxy=WHO@" + address}, 68, true},
		"NO_PROXY":                  {"https://api.invalid", []string{"HTTPS_PROXY=WHO@" + address, "NO_PROXY=.invalid"}, 68, false},
		"no_proxy":                  {"https://api.invalid", []string{"HTTPS_PROXY=WHO@" + address, "no_proxy=api.invalid,x"}, 68, false},
		"this machine has no proxy": {s.URL, []string{"HTTPS_PROXY=WHO@" + address, "SSL_CERT_FILE=" + cert}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			who := strings.Map(func(r rune) rune {
				if r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
					return r
				}
				return -1
			}, name)
			var out, errs bytes.Buffer
			run := pt.Headless(t, &et.Server{URL: c.base}, t.TempDir(), &out, &errs, "-p", "hi", "--max-attempts", "1")
			for _, kv := range c.env {
				run.Env = append(run.Env, strings.ReplaceAll(kv, "WHO@", who+":x@"))
			}
			run.Run()
			if code := run.ProcessState.ExitCode(); code != c.code || (out.String() == "hi\n") != (code == 0) {
				t.Errorf("code %d: %s %s", code, out.Bytes(), errs.Bytes())
			}
			mu.Lock()
			defer mu.Unlock()
			if got := asked[who]; (got == "CONNECT api.invalid:443") != c.proxy {
				t.Errorf("the proxy was asked %q", got)
			}
		})
	}
}
