package remote

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"gemline/engine/text"
	"gemline/tools/web"
)

// A guardedTransport makes requests to public addresses, and to private addresses that the user
// names.
type guardedTransport struct {
	named   map[string]bool // origins that the user names, which may be private
	direct  http.RoundTripper
	guarded *web.Fetcher
}

func newGuardedTransport(cfg Config) *guardedTransport {
	r := &guardedTransport{named: map[string]bool{}, direct: cfg.Direct}
	cfg.Web.Patience = cfg.Limit
	r.guarded = web.New(cfg.Web)
	for _, place := range cfg.Private {
		if u, err := url.Parse("https://" + place); err == nil && u.Hostname() != "" {
			r.named[origin(u)] = true
		}
	}
	if cfg.UserDefined {
		for _, u := range cfg.Server.addresses() {
			if text.Loopback(u.Hostname()) {
				r.named[origin(u)] = true
			}
		}
	}
	return r
}

// addresses returns the addresses that a definition names itself.
func (s Server) addresses() (list []*url.URL) {
	if u, err := url.Parse(s.CardURL); err == nil && u.Host != "" {
		list = append(list, u)
	}
	if c, err := parseCard([]byte(s.Card)); err == nil {
		list = append(list, c.at)
	}
	return list
}

// check returns an error if the URL alone forbids a request. The IP address is checked when
// the connection is made.
func (r *guardedTransport) check(u *url.URL) error {
	switch {
	case u.Scheme == "https", u.Scheme == "http" && r.named[origin(u)]:
		return nil
	case u.Scheme == "http" && text.Loopback(u.Hostname()):
		return r.unnamed(u, "an address of this machine")
	}
	return fmt.Errorf("%s is not https://", text.OneLine(u.Redacted(), longestSaid))
}

// unnamed returns the error for a private address that the user has not named.
func (r *guardedTransport) unnamed(u *url.URL, why string) error {
	return fmt.Errorf("%s is not asked: it is %s; if that is meant, add %q to agents.allowPrivateAddresses in your settings",
		text.OneLine(u.Host, longestSaid), why, origin(u))
}

// RoundTrip implements [http.RoundTripper].
func (r *guardedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := r.check(req.URL); err != nil {
		return nil, err
	}
	if r.named[origin(req.URL)] {
		return r.direct.RoundTrip(req)
	}
	resp, err := r.guarded.RoundTrip(req)
	if b := (*web.BlockedError)(nil); errors.As(err, &b) {
		return nil, r.unnamed(req.URL, b.Why)
	}
	return resp, err
}
