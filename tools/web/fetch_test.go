package web

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http/httpproxy"

	"gemline/engine/network"
)

// near is a Config for servers on this machine, which tests call page.test. The
// names that lookups gives are others.
func near(lookups map[string][]string) Config {
	return Config{
		UserAgent:    "gemline/test",
		AllowPrivate: func(at netip.AddrPort) bool { return at.Addr().String() == "127.0.0.1" },
		Lookup: func(_ context.Context, host string) (addrs []netip.Addr, err error) {
			for _, s := range append(lookups[host], map[string][]string{"page.test": {"127.0.0.1"}, "www.page.test": {"127.0.0.1"}}[host]...) {
				addrs = append(addrs, netip.MustParseAddr(s))
			}
			if addrs == nil {
				return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
			}
			return addrs, nil
		},
	}
}

// at returns where s is by a name.
func at(t *testing.T, s *httptest.Server, host, path string) *url.URL {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	if u, err = Parse("http://" + host + ":" + u.Port() + path); err != nil {
		t.Fatal(err)
	}
	return u
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func TestFetch(t *testing.T) {
	var mu sync.Mutex
	var headers []http.Header
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		headers = append(headers, r.Header.Clone())
		mu.Unlock()
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		port := r.Host[strings.LastIndexByte(r.Host, ':'):]
		for path, to := range map[string]string{"/moved": "/page", "/www": "http://www.page.test" + port + "/page", "/other": "http://other.test" + port + "/page",
			"/loop": "/loop", "/inside": "http://127.0.0.1" + port + "/page", "/file": "file:///etc/passwd", "/user": "http://u@page.test/", "/broken": "http://%zz/"} {
			if r.URL.Path == path {
				w.Header().Set("Location", to)
				w.WriteHeader(http.StatusFound)
				return
			}
		}
		switch r.URL.Path {
		case "/gone":
			http.Error(w, "gone", http.StatusGone)
		case "/large":
			w.Header().Set("Content-Length", fmt.Sprint(mostBytes+1))
		case "/endless":
			for chunk := make([]byte, 1<<20); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for zeros, i := make([]byte, 1<<20), 0; i < 64; i++ {
				if _, err := z.Write(zeros); err != nil {
					return
				}
			}
			z.Close()
		case "/brotli":
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "\x0b\x02\x80hello\x03")
		default:
			fmt.Fprint(w, "hello ", r.URL.Path)
		}
	})
	f := New(near(map[string][]string{"rebound.test": {"10.1.2.3"}, "both.test": {"192.168.0.1", "127.0.0.1"}}))
	for path, want := range map[string]string{
		"/page": "200 hello /page", "/moved": "200 hello /page", "/www": "200 hello /page", "/gone": "410 gone",
		"/other": "redirects to http://other.test", "/loop": "more than 5 redirects", "/inside": "an address of this machine", "/file": "unsupported protocol",
		"/user": "user name", "/broken": "invalid URL", "/large": "larger than 10 MB", "/endless": "larger than 10 MB", "/bomb": "larger than 10 MB", "/brotli": `Content-Encoding "br"`,
	} {
		p, err := f.Fetch(t.Context(), at(t, s, "page.test", path))
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprintf("%d %s", p.Status, p.Body)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s; want %s", path, got, want)
		}
	}
	n := len(headers)
	for host, want := range map[string]string{"rebound.test": "a private address", "both.test": "a private address", "nowhere.test": "no such host"} {
		if _, err := f.Fetch(t.Context(), at(t, s, host, "/page")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", host, err, want)
		}
	}
	if len(headers) != n {
		t.Error("a host with a private address was asked")
	}
	for _, h := range headers {
		for _, name := range []string{"Cookie", "Authorization", "Referer"} {
			if h.Get(name) != "" {
				t.Errorf("sent %s: %s", name, h.Get(name))
			}
		}
		if h.Get("User-Agent") != "gemline/test" {
			t.Errorf("sent the user agent %q", h.Get("User-Agent"))
		}
	}
}

func TestNext(t *testing.T) {
	for _, test := range []struct{ from, location, want string }{
		{"http://a.test/x/y", "z?q", "http://a.test/x/z?q"},
		{"http://a.test", "https://www.a.test/", "https://www.a.test"},
		{"https://www.a.test/x", "//a.test/y", "https://a.test/y"},
		{"https://a.test", "https://a.test:8443/", "https://a.test:8443"},
		{"https://a.test", "http://a.test/", ""}, // in the clear
		{"https://a.test", "https://b.test/", ""},
		{"https://a.test", "https://sub.a.test/", ""},
		{"https://a.test", "https://user@a.test/", ""},
		{"https://a.test", "https://a.test:22/", ""},
		{"https://a.test", "javascript:x", ""},
	} {
		from, err := url.Parse(test.from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := next(from, test.location)
		if test.want == "" && err == nil || test.want != "" && (err != nil || to.String() != test.want) {
			t.Errorf("from %s to %s: %v, %v; want %q", test.from, test.location, to, err, test.want)
		}
	}
}

// A name that is a public address when it is looked at, and a private one when
// it is used, leads nowhere.
func TestRebinding(t *testing.T) {
	var hits atomic.Int32
	s := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	var lookups atomic.Int32
	f := New(Config{Lookup: func(context.Context, string) ([]netip.Addr, error) {
		if lookups.Add(1) == 1 {
			return []netip.Addr{netip.MustParseAddr("11.11.11.11")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}})
	u := at(t, s, "rebind.test", "/c")
	if err := f.Check(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	b := (*BlockedError)(nil)
	if _, err := f.Fetch(t.Context(), u); !errors.As(err, &b) {
		t.Errorf("got %v", err)
	}
	if hits.Load() > 0 {
		t.Error("the server was asked")
	}
	if err := f.Check(t.Context(), u); !errors.As(err, &b) {
		t.Errorf("a second look: %v", err)
	}
}

// The proxy of the user may be anywhere; what it is asked for may not.
func TestProxy(t *testing.T) {
	var asked []string
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		io.WriteString(w, "by proxy")
	})
	f := New(Config{Network: network.Network{Proxy: httpproxy.Config{HTTPProxy: proxy.URL}}, Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
		if host == "public.test" {
			return []netip.Addr{netip.MustParseAddr("11.11.11.11")}, nil
		}
		if host == "inside.test" {
			return []netip.Addr{netip.MustParseAddr("11.11.11.11"), netip.MustParseAddr("10.0.0.1")}, nil
		}
		return nil, &net.DNSError{Err: "no such host", Name: host}
	}})
	for host, want := range map[string]string{"public.test": "", "11.11.11.11": "", "inside.test": "a private address", "unknown.test": "known to be public"} {
		page, err := f.Fetch(t.Context(), &url.URL{Scheme: "http", Host: host, Path: "/x"})
		switch {
		case want == "" && (err != nil || string(page.Body) != "by proxy"):
			t.Errorf("%s: %v", host, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v; want %s", host, err, want)
		}
	}
	if len(asked) != 2 {
		t.Errorf("the proxy was asked for %v", asked)
	}
}

// A server that says a byte now and then holds nobody up for long.
func TestSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		var serving sync.WaitGroup
		defer serving.Wait()
		serving.Go(func() {
			defer server.Close()
			buf := make([]byte, 4096)
			if _, err := server.Read(buf); err != nil {
				return
			}
			io.WriteString(server, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
			for {
				time.Sleep(time.Second)
				if _, err := server.Write([]byte("A")); err != nil {
					return
				}
			}
		})
		f := New(Config{})
		direct := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil }}
		f.open = func() transports { return transports{direct: direct} }
		start := time.Now()
		_, err := f.Fetch(t.Context(), &url.URL{Scheme: "http", Host: "11.11.11.11"})
		if err == nil || !strings.Contains(err.Error(), "30s") || time.Since(start) != mostTime {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}

func TestAdmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Config{})
		a, b := &url.URL{Host: "a.test"}, &url.URL{Host: "b.test:8080"}
		for range mostPages {
			if !f.Admit(a) {
				t.Fatal("refused too soon")
			}
		}
		if f.Admit(a) || !f.Admit(b) {
			t.Error("the limit is not each host's own")
		}
		time.Sleep(while)
		if !f.Admit(a) {
			t.Error("refused for too long")
		}
		for i := range 2 * mostHosts {
			f.Admit(&url.URL{Host: fmt.Sprintf("%d.test", i)})
		}
		if len(f.sent) > mostHosts {
			t.Errorf("%d hosts are kept in mind", len(f.sent))
		}
	})
}
