package network_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http/httpproxy"

	"gemline/engine/network"
)

func TestProxy(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want httpproxy.Config
	}{
		{"none", nil, httpproxy.Config{}},
		{"first", map[string]string{"HTTPS_PROXY": "a", "https_proxy": "b", "NO_PROXY": "x", "no_proxy": "y"},
			httpproxy.Config{HTTPSProxy: "a", HTTPProxy: "a", NoProxy: "x"}},
		{"lower case", map[string]string{"https_proxy": "b", "HTTP_PROXY": "c", "no_proxy": "y"},
			httpproxy.Config{HTTPSProxy: "b", HTTPProxy: "b", NoProxy: "y"}},
		{"for everything", map[string]string{"ALL_PROXY": "socks5://e:1080", "all_proxy": "f", "NO_PROXY": "x"},
			httpproxy.Config{HTTPSProxy: "socks5://e:1080", HTTPProxy: "socks5://e:1080", NoProxy: "x"}},
		{"for everything, in lower case", map[string]string{"all_proxy": "f:1"}, httpproxy.Config{HTTPSProxy: "f:1", HTTPProxy: "f:1"}},
		{"for everything, and another", map[string]string{"ALL_PROXY": "socks5://e:1080", "http_proxy": "d"}, httpproxy.Config{HTTPSProxy: "d", HTTPProxy: "d"}},
		{"a desktop's", map[string]string{"all_proxy": "socks://e:1080/"}, httpproxy.Config{HTTPSProxy: "socks5://e:1080/", HTTPProxy: "socks5://e:1080/"}},
		{"last", map[string]string{"http_proxy": " d "}, httpproxy.Config{HTTPSProxy: "d", HTTPProxy: "d"}},
	} {
		got := network.From(func(k string) string { return c.env[k] }).Proxy
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestCertificates(t *testing.T) {
	list := "a" + string(filepath.ListSeparator) + "b" + string(filepath.ListSeparator)
	env := map[string]string{"SSL_CERT_FILE": "f", "SSL_CERT_DIR": list, "NODE_EXTRA_CA_CERTS": "n"}
	got := network.From(func(k string) string { return env[k] }).CAs
	if d := cmp.Diff([]string{"f", "n", "a", "b"}, got); d != "" {
		t.Error(d)
	}
	if got := network.From(func(string) string { return "" }).CAs; got != nil {
		t.Errorf("got %q from nothing", got)
	}
}

// An offline network reaches this machine by its names and addresses, and asks nobody about others.
func TestOffline(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	n := network.From(func(string) string { return s.URL }) // a proxy on this machine, which leads elsewhere
	n.Offline = true
	dialed := &net.Dialer{Resolver: &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		t.Error("a name was looked up")
		return nil, errors.ErrUnsupported
	}}}
	for host, want := range map[string]bool{"127.0.0.1": true, "localhost": true, "models.localhost": true, "127.1.2.3": false,
		"example.com": false, "192.0.2.1": false, "10.0.0.1": false, "[::2]": false, "localhost.example.com": false} {
		c, err := n.Dial(dialed)(t.Context(), "tcp", net.JoinHostPort(strings.Trim(host, "[]"), port))
		var refused *network.OfflineError
		switch {
		case err == nil:
			c.Close()
			if !want {
				t.Errorf("%s was reached", host)
			}
		case want:
			t.Errorf("%s: %v", host, err)
		case !strings.HasPrefix(host, "127.") && !errors.As(err, &refused):
			t.Errorf("%s: %v, want a refusal", host, err)
		}
	}
	if via, err := n.ProxyFor(&url.URL{Scheme: "https", Host: "example.com"}); via != nil || err != nil {
		t.Errorf("by the proxy %v, %v", via, err)
	}
	if _, err := n.Transport().RoundTrip(httptest.NewRequest("GET", "http://192.0.2.1/", nil)); err == nil || !strings.Contains(err.Error(), "--offline") {
		t.Errorf("a transport says %v", err)
	}
}
