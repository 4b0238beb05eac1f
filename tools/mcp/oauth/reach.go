package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"gemline/engine/auth"
	"gemline/engine/text"
	"gemline/tools/web"
)

// The limits of servers' answers.
const (
	mostAnswer    = 1 << 20
	mostRedirects = 3
	mostTime      = 20 * time.Second // for one question
)

// A discoverer holds the servers that a log-in may talk to, and finds out where to log in.
type discoverer struct {
	server  Server
	url     *url.URL
	local   bool            // the server is on this machine
	named   map[string]bool // origins that the settings name
	direct  http.RoundTripper
	guarded *web.Fetcher
}

func newDiscoverer(cfg Config, s Server, u *url.URL) *discoverer {
	r := &discoverer{server: s, url: u, local: text.Loopback(u.Hostname()), named: map[string]bool{origin(u): true},
		direct: cfg.Transport}
	for _, name := range []string{s.Issuer, s.AuthorizationURL, s.TokenURL, s.RegistrationURL} {
		if u, err := url.Parse(name); err == nil && u.Host != "" {
			r.named[origin(u)] = true
		}
	}
	cfg.Web.AllowPrivate = func(at netip.AddrPort) bool { return r.local && at.Addr().Unmap().IsLoopback() }
	r.guarded = web.New(cfg.Web)
	return r
}

// violation makes the error of what must not be, and ends a log-in.
func (r *discoverer) violation(format string, args ...any) error {
	return &auth.Error{Message: fmt.Sprintf("the log-in to %s was given up: ", r.server.Name) + fmt.Sprintf(format, args...),
		Advice: fmt.Sprintf("if that is meant, name it in your settings: mcpServers.%[1]s.oauth.issuer, "+
			"or .authorizationUrl and .tokenUrl", r.server.Name)}
}

// parse reads an address that a server or the settings give, relative to base if that is not nil.
func (r *discoverer) parse(what, s string, base *url.URL) (*url.URL, error) {
	if base == nil {
		base = &url.URL{}
	}
	u, err := base.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Opaque != "" {
		return nil, r.violation("%s is %q, which is no address", what, serverText(s))
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !r.local || !text.Loopback(u.Hostname())) {
		return nil, r.violation("%s is %s, which is not https://", what, serverText(s))
	}
	return u, nil
}

// RoundTrip implements [http.RoundTripper].
func (r *discoverer) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, err := r.parse("an address", req.URL.String(), nil); err != nil {
		return nil, err
	}
	if r.named[origin(req.URL)] {
		return r.direct.RoundTrip(req)
	}
	return r.guarded.RoundTrip(req)
}

// An answer is what a server has answered, in full.
type answer struct {
	status int
	kind   string // its media type, as it is written
	body   []byte
}

// ask makes one request. What is read is followed to where a redirect leads, within limits;
// what is sent is sent to one place.
func (r *discoverer) ask(req *http.Request) (answer, error) {
	ctx, cancel := context.WithTimeoutCause(req.Context(), mostTime, fmt.Errorf("no answer within %s", mostTime))
	defer cancel()
	client := &http.Client{Transport: r, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		switch {
		case req.Method != http.MethodGet:
			return http.ErrUseLastResponse
		case len(via) > mostRedirects:
			return fmt.Errorf("more than %d redirects", mostRedirects)
		}
		return nil // where it leads is checked like all else
	}}
	req = req.WithContext(ctx)
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, r.failed(ctx, req.URL, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer+1))
	switch {
	case err != nil:
		return answer{}, r.failed(ctx, req.URL, err)
	case len(body) > mostAnswer:
		return answer{}, r.violation("%s answers with more than %d MB", serverText(req.URL.Host), mostAnswer>>20)
	}
	return answer{resp.StatusCode, resp.Header.Get("Content-Type"), body}, nil
}

// post sends a body to an address.
func (r *discoverer) post(ctx context.Context, address string, header http.Header, body []byte) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header = header
	return r.ask(req)
}

// failed makes the error of a request that got no answer.
func (r *discoverer) failed(ctx context.Context, u *url.URL, err error) error {
	if own := (*auth.Error)(nil); errors.As(err, &own) {
		return own
	}
	if b := (*web.BlockedError)(nil); errors.As(err, &b) {
		return r.violation("it leads to %s: %s", serverText(b.URL), b.Why)
	}
	if outer := (*url.Error)(nil); errors.As(err, &outer) {
		err = outer.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, context.Canceled) {
			return cause
		}
		err = cause
	}
	return &auth.Error{
		Message: fmt.Sprintf("the log-in to %s needs %s, which can't be asked: %s", r.server.Name,
			serverText(u.Host), serverText(err.Error())),
		Advice: "look at the network and the proxy, then try again", Err: err}
}

// document reads a document of JSON. That there is none is no error.
func (r *discoverer) document(ctx context.Context, address string, into any) (found bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("MCP-Protocol-Version", "2025-06-18")
	a, err := r.ask(req)
	if err != nil || a.status != http.StatusOK {
		return false, err
	}
	return json.Unmarshal(a.body, into) == nil, nil
}
