// Package network configures connections to other machines: proxy, certificates and the offline
// switch. Every client of the program connects through the [Network] of the run.
//
// # Offline is enforced in the dialer
//
// The dialer of an offline Network refuses every other machine before it resolves a name, so no
// client can forget the check. An offline Network uses no proxy, since a proxy on this machine
// leads to other machines.
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

// A Network configures how other machines are reached. The zero Network connects directly.
type Network struct {
	Proxy   httpproxy.Config
	CAs     []string // files and directories with certificates, in PEM, to trust beside the system's
	Offline bool     // only this machine is reached
}

// A DialFunc makes connections.
type DialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// OfflineError is the error of a connection that an offline Network refuses.
type OfflineError struct{ Host string }

// Error names the machine.
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

// ProxyFor returns the proxy for requests to u, nil for none.
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

// Transport returns a transport for n.
func (n Network) Transport() *http.Transport {
	t := n.Proxied(30 * time.Second)
	t.ForceAttemptHTTP2, t.MaxIdleConns, t.IdleConnTimeout = true, 100, 90*time.Second
	t.TLSHandshakeTimeout, t.ExpectContinueTimeout = 10*time.Second, time.Second
	return t
}

// Proxied returns a transport for n with a connect timeout. The caller sets all other limits.
func (n Network) Proxied(connect time.Duration) *http.Transport {
	t := n.Direct(connect)
	t.Proxy = func(r *http.Request) (*url.URL, error) { return n.ProxyFor(r.URL) }
	if pool := n.Pool(); pool != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return t
}

// Direct returns a transport for n to this machine and its network, without a proxy and with the
// system's certificates.
func (n Network) Direct(connect time.Duration) *http.Transport {
	return &http.Transport{DialContext: n.Dial(&net.Dialer{Timeout: connect})}
}

// From returns the Network that an environment configures. Its proxy, for all schemes, is the
// first of HTTPS_PROXY, https_proxy, HTTP_PROXY, http_proxy, ALL_PROXY and all_proxy, except for
// the hosts in NO_PROXY or no_proxy. The addresses may lack http://; desktops write socks:// for
// socks5://.
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
