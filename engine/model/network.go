package model

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http/httpproxy"

	"gemline/engine/network"
	"gemline/engine/text"
)

// defaultBase is the address of Google's API.
const defaultBase = "https://generativelanguage.googleapis.com"

// transport returns the transport for o, and its trusted certificates, nil for the system's.
func transport(o Options) (*http.Transport, *roots) {
	connect := cmp.Or(o.Connect, 30*time.Second)
	plain := o.Network
	plain.CAs = nil // the files are read in parallel to the first connection
	t := plain.Proxied(connect)
	t.TLSHandshakeTimeout, t.ForceAttemptHTTP2 = connect, true
	t.MaxIdleConnsPerHost, t.IdleConnTimeout = 16, 90*time.Second
	t.WriteBufferSize, t.ReadBufferSize = 64<<10, 32<<10
	// Detects a connection that died while the machine slept.
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second}
	if len(o.Network.CAs) == 0 {
		return t, nil
	}
	r := trusting(o.Network.CAs)
	t.TLSClientConfig = &tls.Config{RootCAs: r.pool}
	proxy := t.Proxy
	t.Proxy = func(req *http.Request) (*url.URL, error) {
		via, err := proxy(req)
		if req.URL.Scheme == "https" || via != nil && via.Scheme == "https" {
			r.wanted.Store(true)
			go r.fill() // in parallel to the connection
		}
		return via, err
	}
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if r.wanted.Load() {
			r.fill() // before the handshake
		}
		return conn, err
	}
	return t, r
}

// The roots are trusted certificates. Reading them takes longer than all other steps before the
// first request, so they are read in parallel to the first connection that needs them. The TLS
// configuration has the pool before, which is filled in place.
type roots struct {
	pool   *x509.CertPool
	wanted atomic.Bool
	fill   func() error // once; the error names certificates that can't be read
}

func trusting(names []string) *roots {
	r := &roots{pool: x509.NewCertPool()}
	r.fill = sync.OnceValue(func() error {
		pool, err := network.Trust(names)
		*r.pool = *pool
		return err
	})
	return r
}

// doubts names the certificates that could not be read.
func (r *roots) doubts() string {
	if r == nil {
		return ""
	}
	if err := r.fill(); err != nil {
		return fmt.Sprintf(" (not read: %v)", err)
	}
	return ""
}

// vertexBase returns the address of Vertex AI for a location.
func vertexBase(location string) string {
	switch location {
	case "", "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + location + "-aiplatform.googleapis.com"
}

// address returns the variable for the address of the API, and the usual address.
func (o Options) address() (variable, usual string) {
	switch {
	case o.Google.CodeAssist:
		return "CODE_ASSIST_ENDPOINT", "https://cloudcode-pa.googleapis.com"
	case o.Google.Vertex:
		return "GOOGLE_VERTEX_BASE_URL", vertexBase(o.Google.Location)
	}
	return "GOOGLE_GEMINI_BASE_URL", defaultBase
}

// CheckAddress returns an [Error] if the address of the API in o is invalid. It makes no request.
func CheckAddress(o Options) error {
	_, err := parseBase(o)
	return err
}

// parseBase checks the address of the API.
func parseBase(o Options) (*url.URL, error) {
	variable, usual := o.address()
	return checkedBase(cmp.Or(strings.TrimSpace(o.BaseURL), usual), variable, usual, false)
}

// checkedBase checks the address s of an API, the value of variable; example is a valid address.
// Open servers, which need no secret, may be reached by http on other machines, too.
func checkedBase(s, variable, example string, open bool) (*url.URL, error) {
	bad := func(why string) error {
		return &Error{Kind: Config, Final: true, Message: "the API's address " + why,
			Advice: variable + " is an address such as " + example + " or http://localhost:8080"}
	}
	u, err := url.Parse(s)
	switch {
	case s == "":
		return nil, bad("is not set")
	case err != nil: // its text has the address, perhaps with a password
		return nil, bad("is not a URL")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, bad(fmt.Sprintf("%q must begin with https://", text.PublicAddress(u)))
	case u.Hostname() == "":
		return nil, bad(fmt.Sprintf("%q names no server", text.PublicAddress(u)))
	case u.RawQuery != "" || u.Fragment != "":
		return nil, bad(fmt.Sprintf("%q must end with its path, without ? or #", text.PublicAddress(u)))
	case u.Scheme == "http" && !text.Loopback(u.Hostname()) && (!open || u.User != nil):
		return nil, bad(fmt.Sprintf("%q must begin with https://; http is for this machine only", text.PublicAddress(u)))
	}
	return u, nil
}

// checkProxy reports errors that [httpproxy] ignores.
func checkProxy(c httpproxy.Config) error {
	for _, s := range []string{c.HTTPSProxy, c.HTTPProxy} {
		if s == "" {
			continue
		}
		if !strings.Contains(s, "://") {
			s = "http://" + s
		}
		u, err := url.Parse(s)
		if err != nil || u.Hostname() == "" {
			return &Error{Kind: Config, Final: true, Message: "the address of the proxy is not a URL",
				Advice: "HTTPS_PROXY (or ALL_PROXY) is an address such as http://proxy.example.com:3128"}
		}
		switch u.Scheme {
		case "http", "https", "socks5", "socks5h":
		default:
			return &Error{Kind: Config, Final: true, Message: fmt.Sprintf("a %s:// proxy is not supported", u.Scheme),
				Advice: "HTTPS_PROXY (or ALL_PROXY) begins with http://, https:// or socks5://"}
		}
	}
	return nil
}

func headerValue(s string) bool { return httpguts.ValidHeaderFieldValue(s) }

// pathWord reports whether s is valid as a path element of a URL.
func pathWord(s string) bool { return modelName(s) && !strings.Contains(s, "/") }

// modelName reports whether s is valid as the name of a model in a URL.
func modelName(s string) bool {
	for i := range len(s) {
		c := s[i]
		ok := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.IndexByte("-_.@:/", c) >= 0
		if !ok {
			return false
		}
	}
	return s != "" && s[0] != '/' && s[len(s)-1] != '/' && !strings.Contains(s, "..") && !strings.Contains(s, "//")
}
