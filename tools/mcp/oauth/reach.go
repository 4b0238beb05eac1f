package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine/auth"
	"gemline/engine/text"
	"gemline/tools/web"
)

// The limits of servers' answers.
const (
	mostAnswer    = 1 << 20
	mostRedirects = 3
	mostTime      = 20 * time.Second // for one request
)

// violation returns the error of a forbidden answer, which ends a log-in.
func (c *Client) violation(format string, args ...any) error {
	s, advice := c.server, "if that is meant, name it in your settings: mcpServers.%s.oauth.issuer, or .authorizationUrl and .tokenUrl"
	switch {
	case s.AuthorizationURL != "" && s.TokenURL != "":
		advice = "correct mcpServers.%s.oauth in your settings"
	case s.Issuer != "":
		advice = "if that is meant, name the addresses in your settings: mcpServers.%s.oauth.authorizationUrl and .tokenUrl"
	}
	return &auth.Error{Message: fmt.Sprintf("the log-in to %s was given up: ", s.Name) + fmt.Sprintf(format, args...),
		Advice: fmt.Sprintf(advice, s.Name)}
}

// parse reads an address that a server or the settings give, relative to base if that is not nil.
func (c *Client) parse(what, s string, base *url.URL) (*url.URL, error) {
	if base == nil {
		base = &url.URL{}
	}
	u, err := base.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Opaque != "" {
		return nil, c.violation("%s is %q, which is no address", what, serverText(s))
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !c.local() || !text.Loopback(u.Hostname())) {
		return nil, c.violation("%s is %s, which is not https://", what, serverText(s))
	}
	return u, nil
}

// local reports whether the server is on this machine.
func (c *Client) local() bool { return text.Loopback(c.url.Hostname()) }

// A tripper is an [http.RoundTripper].
type tripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f tripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// reach makes a request of a log-in, if its address is allowed.
func (c *Client) reach(req *http.Request) (*http.Response, error) {
	if _, err := c.parse("an address", req.URL.String(), nil); err != nil {
		return nil, err
	}
	if c.named[origin(req.URL)] {
		return c.cfg.Transport.RoundTrip(req)
	}
	return c.guarded.RoundTrip(req)
}

// An answer is a complete response.
type answer struct {
	status int
	kind   string // its media type, as it is written
	body   []byte
}

// ask makes one request. A GET follows redirects, within limits; a POST does not.
func (c *Client) ask(ctx context.Context, method, address string, header http.Header, body []byte) (answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, mostTime, fmt.Errorf("no answer within %s", mostTime))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header = header
	req.Header.Set("Accept", "application/json")
	client := &http.Client{Transport: tripper(c.reach), CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		switch {
		case method != http.MethodGet:
			return http.ErrUseLastResponse
		case len(via) > mostRedirects:
			return fmt.Errorf("more than %d redirects", mostRedirects)
		}
		return nil // reach checks the target, too
	}}
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, c.unreachable(ctx, req.URL, err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer+1))
	switch {
	case err != nil:
		return answer{}, c.unreachable(ctx, req.URL, err)
	case len(said) > mostAnswer:
		return answer{}, c.violation("%s answers with more than %d MB", serverText(req.URL.Host), mostAnswer>>20)
	}
	return answer{resp.StatusCode, resp.Header.Get("Content-Type"), said}, nil
}

// unreachable returns the error for a request without a response.
func (c *Client) unreachable(ctx context.Context, u *url.URL, err error) error {
	if own := (*auth.Error)(nil); errors.As(err, &own) {
		return own
	}
	if b := (*web.BlockedError)(nil); errors.As(err, &b) {
		return c.violation("it leads to %s: %s", serverText(b.URL), b.Why)
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
		Message: fmt.Sprintf("the log-in to %s needs %s, which can't be asked: %s", c.server.Name,
			serverText(u.Host), serverText(err.Error())),
		Advice: "look at the network and the proxy, then try again", Err: err}
}

// document fetches a document of JSON. A missing document is no error.
func (c *Client) document(ctx context.Context, address string, into any) (found bool, err error) {
	a, err := c.ask(ctx, http.MethodGet, address, http.Header{protocol.HeaderProtocolVersion: {"2025-06-18"}}, nil)
	if err != nil || a.status != http.StatusOK {
		return false, err
	}
	return json.Unmarshal(a.body, into) == nil, nil
}
