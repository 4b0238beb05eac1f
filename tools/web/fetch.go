package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"gemline/engine/network"
)

// The limits of a fetch.
const (
	mostRedirects = 5
	mostBytes     = 10 << 20         // of a page, unpacked
	mostTime      = 30 * time.Second // for all of it
	firstByte     = 10 * time.Second // to connect; to secure; to begin to answer

	// The limit of pages per host and minute.
	mostPages = 10
	while     = time.Minute
	mostHosts = 1000 // hosts that are remembered
)

// Config configures fetches. The zero Config makes direct connections.
type Config struct {
	// UserAgent names the program to servers.
	UserAgent string

	// Network configures connections. A proxy resolves names itself, so it gets only names
	// that resolve to public addresses here; how it resolves them is its own matter.
	Network network.Network

	// Patience is the timeout for the beginning of a response; 0 is 10 s.
	Patience time.Duration

	// Lookup replaces the resolver of the system, if not nil.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

	// AllowPrivate allows addresses that are not public, if not nil. It is for
	// tests, whose servers are on this machine.
	AllowPrivate func(netip.AddrPort) bool
}

// A Fetcher fetches pages. It is safe for concurrent use.
type Fetcher struct {
	cfg  Config
	open func() transports

	mu   sync.Mutex
	sent map[string][]time.Time // times of requests by host
}

// New returns a Fetcher. It makes no connection before it is first used.
func New(cfg Config) *Fetcher {
	if cfg.Lookup == nil {
		cfg.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	f := &Fetcher{cfg: cfg, sent: map[string][]time.Time{}}
	f.open = sync.OnceValue(f.transports)
	return f
}

// transports are the transport with direct connections, each checked, and the transport
// through a proxy.
type transports struct{ direct, proxied *http.Transport }

func (f *Fetcher) transports() transports {
	proxied := f.cfg.Network.Proxied(firstByte)
	proxied.TLSHandshakeTimeout, proxied.ResponseHeaderTimeout = firstByte, cmp.Or(f.cfg.Patience, firstByte)
	proxied.MaxResponseHeaderBytes = 256 << 10
	proxied.DisableKeepAlives = true // so that every request makes a checked connection
	proxied.ForceAttemptHTTP2 = true
	direct := proxied.Clone()
	direct.DialContext, direct.Proxy = f.dial, nil
	return transports{direct, proxied}
}

// dial connects to an allowed address of a host.
func (f *Fetcher) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := f.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: firstByte, Control: func(_, address string,
		_ syscall.RawConn) error {
		return f.check(address)
	}}
	var errs []error
	for _, a := range addrs {
		c, err := d.DialContext(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
		b := (*BlockedError)(nil)
		if errors.As(err, &b) || ctx.Err() != nil {
			break // further addresses of a name with a private address are not tried
		}
	}
	return nil, errors.Join(errs...)
}

func (f *Fetcher) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if err := f.cfg.Network.Allow(host); err != nil {
		return nil, err
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, firstByte)
	defer cancel()
	addrs, err := f.cfg.Lookup(ctx, host)
	if err == nil && len(addrs) == 0 {
		err = fmt.Errorf("%s has no address", host)
	}
	return addrs, err
}

// check checks the dialled address just before the connection, independent of earlier
// lookups.
func (f *Fetcher) check(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return &BlockedError{URL: address, Why: "no address"}
	}
	if why := private(at.Addr()); why != "" && (f.cfg.AllowPrivate == nil || !f.cfg.AllowPrivate(at)) {
		return &BlockedError{URL: address, Why: why}
	}
	return nil
}

// Check looks up a page's host, and returns a [BlockedError] error if one of its addresses
// is not public. A host that is not found is no error.
func (f *Fetcher) Check(ctx context.Context, u *url.URL) error {
	addrs, err := f.lookup(ctx, u.Hostname())
	if err != nil {
		return ctx.Err()
	}
	return f.public(u, addrs)
}

func (f *Fetcher) public(u *url.URL, addrs []netip.Addr) error {
	for _, a := range addrs {
		at := netip.AddrPortFrom(a, 0)
		if why := private(a); why != "" && (f.cfg.AllowPrivate == nil || !f.cfg.AllowPrivate(at)) {
			return &BlockedError{URL: u.String(), Why: fmt.Sprintf("%s is %s, %s", u.Hostname(), a, why)}
		}
	}
	return nil
}

// Admit counts a page, and reports whether it may be fetched: at most 10 pages per host and
// minute. Redirects of a page are not counted.
func (f *Fetcher) Admit(u *url.URL) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	host, now := u.Hostname(), time.Now()
	old := func(t time.Time) bool { return now.Sub(t) >= while }
	if len(f.sent) >= mostHosts {
		maps.DeleteFunc(f.sent, func(_ string, times []time.Time) bool { return old(times[len(times)-1]) })
	}
	recent := slices.DeleteFunc(f.sent[host], old)
	switch {
	case len(recent) == 0 && len(f.sent) >= mostHosts:
		return false
	case len(recent) >= mostPages:
		f.sent[host] = recent
		return false
	}
	f.sent[host] = append(recent, now)
	return true
}

// A Page is the answer to a fetch.
type Page struct {
	URL    *url.URL // after redirects
	Status int
	Type   string // the server's, with parameters
	Body   []byte
}

// Fetch fetches the page at u, which [Parse] has returned, whatever its status is. More than
// 30 seconds, 10 MiB or 5 redirects within the host is an error; an address that is not
// public is a [*BlockedError].
func (f *Fetcher) Fetch(ctx context.Context, u *url.URL) (*Page, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, mostTime, fmt.Errorf("not fetched within %s", mostTime))
	defer cancel()
	page, err := f.follow(ctx, u)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return page, err
}

// follow fetches u, or the page of the same host that it redirects to.
func (f *Fetcher) follow(ctx context.Context, u *url.URL) (*Page, error) {
	for range mostRedirects + 1 {
		resp, err := f.get(ctx, u)
		if err != nil {
			return nil, err
		}
		location := resp.Header.Get("Location")
		if resp.StatusCode/100 != 3 || location == "" {
			defer resp.Body.Close()
			return read(u, resp)
		}
		resp.Body.Close()
		if u, err = next(u, location); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("more than %d redirects", mostRedirects)
}

// next returns the target of a redirect from u, if it may be followed.
func next(u *url.URL, location string) (*url.URL, error) {
	to, err := u.Parse(location)
	if err != nil {
		return nil, errors.New("a redirect leads to an invalid URL")
	}
	to, err = Parse(to.String())
	if err != nil {
		return nil, fmt.Errorf("a redirect is not followed: %w", err)
	}
	if bare(to) != bare(u) || u.Scheme == "https" && to.Scheme == "http" {
		return nil, fmt.Errorf("it redirects to %s, which is fetched only if asked for by that URL", to)
	}
	return to, nil
}

// bare returns the host of u without a leading www., which counts as the same host.
func bare(u *url.URL) string { return strings.TrimPrefix(u.Hostname(), "www.") }

// get sends one request for a page, and does not follow redirects.
func (f *Fetcher) get(ctx context.Context, u *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/markdown, text/plain;q=0.9, application/json;q=0.9, text/html;q=0.8, */*;q=0.5")
	req.Header.Set("User-Agent", f.cfg.UserAgent)
	return f.RoundTrip(req)
}

// RoundTrip implements [http.RoundTripper] for all requests to the public web. For another
// address, it returns a [BlockedError] error.
func (f *Fetcher) RoundTrip(req *http.Request) (*http.Response, error) {
	open := f.open()
	proxy, err := f.cfg.Network.ProxyFor(req.URL)
	if err != nil {
		return nil, err
	}
	if proxy == nil {
		return open.direct.RoundTrip(req)
	}
	addrs, err := f.lookup(req.Context(), req.URL.Hostname())
	if err != nil {
		return nil, fmt.Errorf("%w; a proxy is only given hosts whose addresses are known to be public", err)
	}
	if err := f.public(req.URL, addrs); err != nil {
		return nil, err
	}
	return open.proxied.RoundTrip(req)
}

// read reads a whole page. A page that is too long is an error.
func read(u *url.URL, resp *http.Response) (*Page, error) {
	if resp.ContentLength > mostBytes {
		return nil, tooLong()
	}
	if coding := resp.Header.Get("Content-Encoding"); coding != "" && coding != "identity" { // gzip is undone by now
		return nil, fmt.Errorf("the page has the Content-Encoding %.40q, which was not asked for and can't be read", coding)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostBytes+1))
	switch {
	case len(body) > mostBytes:
		return nil, tooLong()
	case err != nil:
		return nil, fmt.Errorf("the page breaks off: %w", err)
	}
	return &Page{URL: u, Status: resp.StatusCode, Type: resp.Header.Get("Content-Type"), Body: body}, nil
}

func tooLong() error { return fmt.Errorf("the page is larger than %d MB", mostBytes>>20) }
