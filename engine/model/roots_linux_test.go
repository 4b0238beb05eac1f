package model_test

import (
	"encoding/binary"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/sys/unix"

	et "gemline/engine/enginetest"
	"gemline/engine/model"
	"gemline/engine/network"
)

// Certificates are read for the first connection that needs some, once; for
// http:// never.
func TestCertificatesAreReadOnce(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, et.Event(`{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}`))
	})
	bare := httptest.NewServer(answer)
	defer bare.Close()
	secure := httptest.NewTLSServer(answer)
	defer secure.Close()
	tunnel := httptest.NewServer(tunnelTo(t, secure.Listener.Addr().String()))
	defer tunnel.Close()
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	for _, c := range []struct {
		name, url string
		proxy     httpproxy.Config
		want      int
	}{
		{"http", bare.URL, httpproxy.Config{}, 0},
		{"https", secure.URL, httpproxy.Config{}, 1},
		{"https through a proxy", "https://example.com", httpproxy.Config{HTTPSProxy: tunnel.URL}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			ca := filepath.Join(t.TempDir(), "ca.pem")
			if err := os.WriteFile(ca, cert, 0o600); err != nil {
				t.Fatal(err)
			}
			times := opened(t, ca)
			g, err := model.NewGenai(model.Options{APIKey: key, BaseURL: c.url, Network: network.Network{CAs: []string{ca}, Proxy: c.proxy}})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					if got, err := hear(t, g, ask("q")); got != "hi" || err != nil {
						t.Errorf("heard %q, %v", got, err)
					}
				})
			}
			all.Wait()
			if got := times(); got != c.want {
				t.Errorf("the certificates were read %d times, want %d", got, c.want)
			}
		})
	}
}

// opened returns what counts how often the file has been opened from now on.
func opened(t *testing.T, path string) (times func() int) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if _, err := unix.InotifyAddWatch(fd, path, unix.IN_OPEN|unix.IN_CLOSE_NOWRITE); err != nil {
		t.Fatal(err)
	}
	n := 0
	return func() int {
		b := make([]byte, 100*unix.SizeofInotifyEvent)
		got, err := unix.Read(fd, b)
		if err != nil && err != unix.EAGAIN {
			t.Fatal(err)
		}
		for at := 0; at < got; at += unix.SizeofInotifyEvent { // events of a file have no name
			if mask := binary.NativeEndian.Uint32(b[at+4:]); mask&unix.IN_OPEN != 0 {
				n++ // the same event twice in a row is one, but there are those of closing in between
			}
		}
		return n
	}
}

// tunnelTo is a proxy that connects everybody to addr.
func tunnelTo(t *testing.T, addr string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		up, err := net.Dial("tcp", addr)
		if err != nil {
			t.Error(err)
			return
		}
		down, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { io.Copy(up, down); up.Close() }()
		io.Copy(down, up)
		down.Close()
	})
}
