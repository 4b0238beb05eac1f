// Package network says how the program reaches other machines. Every client of the program
// connects by the [Network] that is made for the run.
//
// # Offline is one refusal
//
// An offline Network refuses in its dialer whatever is not this machine, before a name is looked
// up: no client can forget to ask. It goes by no proxy, since a proxy on this machine leads
// elsewhere.
package network

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"gemline/engine/text"
)

// A Network says how other machines are reached. The zero Network reaches all directly.
type Network struct {
	Proxy   httpproxy.Config
	CAs     []string // files and directories with certificates, in PEM, to trust beside the system's
	Offline bool     // nothing but this machine is reached
}

// A DialFunc makes connections.
type DialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// OfflineError is the error about a machine that is not contacted.
type OfflineError struct{ Host string }

// Error says which machine.
func (e *OfflineError) Error() string {
	return text.PrintableLine(e.Host) + " is not contacted: gemline is offline (--offline or general.offline)"
}

// Hint says what the user can do.
func (e *OfflineError) Hint() string {
	return "start gemline without --offline, and without general.offline in the settings, to reach other machines"
}

// Allow returns an [OfflineError] if host is another machine and n is offline.
func (n Network) Allow(host string) error {
	if n.Offline && !text.Loopback(host) {
		return &OfflineError{host}
	}
	return nil
}

// Dial returns a function that makes connections as d does, if n allows them.
func (n Network) Dial(d *net.Dialer) DialFunc {
	if !n.Offline {
		return d.DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(network, "unix") {
			return d.DialContext(ctx, network, address)
		}
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if err := n.Allow(host); err != nil {
			return nil, err
		}
		if net.ParseIP(host) != nil {
			return d.DialContext(ctx, network, address)
		}
		var errs []error
		for _, ip := range []string{"127.0.0.1", "::1"} { // localhost, without asking a server for names
			c, err := d.DialContext(ctx, network, net.JoinHostPort(ip, port))
			if err == nil {
				return c, nil
			}
			errs = append(errs, err)
		}
		return nil, errors.Join(errs...)
	}
}

// ProxyFor returns the proxy that leads to u, nil for none.
func (n Network) ProxyFor(u *url.URL) (*url.URL, error) {
	if n.Offline {
		return nil, nil
	}
	return n.Proxy.ProxyFunc()(u)
}

// Pool returns the certificates to trust, nil for the system's. Files that can't be read are left out.
func (n Network) Pool() *x509.CertPool {
	if len(n.CAs) == 0 {
		return nil
	}
	pool, _ := Trust(n.CAs)
	return pool
}

// Transport returns a transport that reaches other machines as n says.
func (n Network) Transport() *http.Transport {
	t := n.Proxied(30 * time.Second)
	t.ForceAttemptHTTP2, t.MaxIdleConns, t.IdleConnTimeout = true, 100, 90*time.Second
	t.TLSHandshakeTimeout, t.ExpectContinueTimeout = 10*time.Second, time.Second
	return t
}

// Proxied returns a transport that reaches other machines as n says, with a time to connect in
// and none of the other limits, which its caller sets.
func (n Network) Proxied(connect time.Duration) *http.Transport {
	t := n.Direct(connect)
	t.Proxy = func(r *http.Request) (*url.URL, error) { return n.ProxyFor(r.URL) }
	if pool := n.Pool(); pool != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return t
}

// Direct returns a transport to this machine and its neighbours: as n says, but by no proxy and
// with the system's certificates.
func (n Network) Direct(connect time.Duration) *http.Transport {
	return &http.Transport{DialContext: n.Dial(&net.Dialer{Timeout: connect})}
}

// From returns the Network that an environment asks for. Its proxy is the first of
// HTTPS_PROXY, https_proxy, HTTP_PROXY, http_proxy, ALL_PROXY and all_proxy, whatever is
// asked for through it, less what NO_PROXY or no_proxy exclude. The addresses may lack
// their http://; desktops write socks:// for socks5://.
func From(getenv func(string) string) Network {
	first := func(names ...string) string {
		for _, name := range names {
			if v := strings.TrimSpace(getenv(name)); v != "" {
				return v
			}
		}
		return ""
	}
	proxy := first("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
	if rest, ok := strings.CutPrefix(proxy, "socks://"); ok {
		proxy = "socks5://" + rest
	}
	return Network{CAs: certificates(getenv),
		Proxy: httpproxy.Config{HTTPSProxy: proxy, HTTPProxy: proxy, NoProxy: first("NO_PROXY", "no_proxy")}}
}

// certificates returns the files and directories with certificates that an environment names.
func certificates(getenv func(string) string) (names []string) {
	for _, list := range []string{getenv("SSL_CERT_FILE"), getenv("NODE_EXTRA_CA_CERTS")} {
		if list != "" {
			names = append(names, list)
		}
	}
	for _, dir := range filepath.SplitList(getenv("SSL_CERT_DIR")) {
		if dir != "" {
			names = append(names, dir)
		}
	}
	return names
}

// Trust returns the system's certificates and those in the named files and
// directories. Files that can't be read are left out and named in the error.
func Trust(names []string) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	var errs []error
	for _, name := range names {
		if err := trustOne(pool, name); err != nil {
			errs = append(errs, err)
		}
	}
	return pool, errors.Join(errs...)
}

func trustOne(pool *x509.CertPool, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		pem, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !pool.AppendCertsFromPEM(pem) {
			return fmt.Errorf("%s: no certificate in PEM form", name)
		}
		return nil
	}
	files, err := os.ReadDir(name)
	if err != nil {
		return err
	}
	for _, f := range files { // such directories hold other things too
		if pem, err := os.ReadFile(filepath.Join(name, f.Name())); err == nil {
			pool.AppendCertsFromPEM(pem)
		}
	}
	return nil
}
