package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"gemline/engine/auth"
	"gemline/engine/text"
	"gemline/tools/web"
)

// A Server is an MCP server, as the settings describe it. Only Name and URL are required.
type Server struct {
	Name string
	URL  string

	// Provider is authProviderType: "", dynamic_discovery, google_credentials or
	// service_account_impersonation. The last requires an audience and a service account.
	Provider       string
	Audience       string // targetAudience
	ServiceAccount string // targetServiceAccount

	// The next fields are read from the server's setting oauth.
	ClientID         string
	ClientSecret     string
	Issuer           string
	AuthorizationURL string
	TokenURL         string
	RegistrationURL  string
	RedirectURI      string
	TokenParam       string `json:"tokenParamName"` // the parameter of the address that has the token, "" for the header field
	Scopes           []string
	Audiences        []string
}

// A Config is the configuration shared by all servers.
type Config struct {
	// Transport makes the requests to servers that the settings name; Web configures
	// requests to other servers.
	Transport http.RoundTripper
	Web       web.Config

	Store     *Store
	AddSecret func(what, secret string) // is told each secret
	Getenv    func(string) string

	// Account returns the credentials of the Google account, nil for the machine's, which the
	// server at Metadata gives; "" is the usual server.
	Account  func() (data []byte, from string, err error)
	Metadata string
}

// An Ask shows the user the log-in address, and returns the user's input: the final address
// of the browser, or its code. ctx ends when the redirect has delivered the code. [io.EOF]
// means that there is no input.
type Ask func(ctx context.Context, q Question) (pasted string, err error)

// A Question is what an [Ask] shows.
type Question struct {
	Server  string
	URL     string // begins with http:// or https://
	Problem string // the reason for repeating the question, or a warning; may be empty
}

// ErrLogin is wrapped in the error of a request that requires a log-in.
var ErrLogin = errors.New("a log-in is needed")

// New returns a transport for s that adds the required token to each request.
func New(cfg Config, s Server) (http.RoundTripper, error) {
	c, err := NewClient(cfg, s)
	if err != nil {
		return nil, err
	}
	switch s.Provider {
	case "", "dynamic_discovery":
		return c, nil
	case "google_credentials", "service_account_impersonation":
		return newGoogle(c)
	}
	return nil, &auth.Error{Config: true,
		Message: fmt.Sprintf("%s: authProviderType says %.100q, which is no way to log in", s.Name, s.Provider),
		Advice:  "there are dynamic_discovery, google_credentials and service_account_impersonation"}
}

// A Client logs in to one server, and adds the token to its requests. It is safe for
// concurrent use.
type Client struct {
	cfg    Config
	server Server
	url    *url.URL
	named  map[string]bool // origins that the settings name

	guarded *web.Fetcher // for requests to other servers

	held   atomic.Pointer[Credential] // nil if there is none
	loaded atomic.Bool                // held was loaded from the store
}

// NewClient returns the Client for s. It reads no files, and makes no connection.
func NewClient(cfg Config, s Server) (*Client, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &auth.Error{Config: true,
			Message: fmt.Sprintf("%s: %.200q is no address of a server", s.Name, s.URL)}
	}
	if cfg.AddSecret == nil {
		cfg.AddSecret = func(string, string) {}
	}
	c := &Client{cfg: cfg, server: s, url: u, named: map[string]bool{origin(u): true}}
	for _, name := range []string{s.Issuer, s.AuthorizationURL, s.TokenURL, s.RegistrationURL} {
		if u, err := url.Parse(name); err == nil && u.Host != "" {
			c.named[origin(u)] = true
		}
	}
	cfg.Web.AllowPrivate = func(at netip.AddrPort) bool { return c.local() && at.Addr().Unmap().IsLoopback() }
	c.guarded = web.New(cfg.Web)
	cfg.AddSecret("client secret", s.ClientSecret)
	return c, nil
}

// RoundTrip implements [http.RoundTripper]. A request with its own Authorization, or to
// another server, is not changed. The error is [ErrLogin] if the server requires a log-in.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	if origin(req.URL) != origin(c.url) || req.Header.Get("Authorization") != "" {
		return c.cfg.Transport.RoundTrip(req)
	}
	ctx := req.Context()
	held, err := c.current(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := c.send(req, held)
	if err != nil {
		return nil, err
	}
	ch := parseChallenge(resp.Header.Values("WWW-Authenticate"))
	switch {
	case resp.StatusCode == http.StatusForbidden && ch.Error == "insufficient_scope":
		drop(resp)
		return nil, c.wanting(fmt.Sprintf("the log-in to %s does not cover %s", c.server.Name, serverText(ch.Scope)),
			"add that to mcpServers.%[1]s.oauth.scopes, then gemline mcp auth %[1]s")
	case resp.StatusCode != http.StatusUnauthorized:
		return resp, nil
	}
	drop(resp)
	if req.Body != nil && req.GetBody == nil {
		return nil, c.needsLogin(held)
	}
	for _, way := range []func(context.Context, *Credential) (*Credential, error){c.another, c.refreshed} {
		next, err := way(ctx, held)
		if err != nil {
			return nil, err
		}
		if next == nil {
			continue
		}
		again := req.Clone(ctx)
		if req.GetBody != nil {
			if again.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
		if resp, err = c.send(again, next); err != nil || resp.StatusCode != http.StatusUnauthorized {
			return resp, err
		}
		drop(resp)
		held = next
	}
	return nil, c.needsLogin(held)
}

// send makes a request, with the token of held if it is not nil.
func (c *Client) send(req *http.Request, held *Credential) (*http.Response, error) {
	if held == nil || c.plain() {
		return c.cfg.Transport.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	if c.server.TokenParam != "" {
		q := req.URL.Query()
		q.Set(c.server.TokenParam, held.Token.AccessToken)
		req.URL.RawQuery = q.Encode()
	} else {
		req.Header.Set("Authorization", "Bearer "+held.Token.AccessToken)
	}
	return c.cfg.Transport.RoundTrip(req)
}

// plain reports whether a token would travel unencrypted.
func (c *Client) plain() bool { return c.url.Scheme == "http" && !c.local() }

func drop(resp *http.Response) {
	io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	resp.Body.Close()
}

// needsLogin returns the error for a missing or rejected log-in.
func (c *Client) needsLogin(held *Credential) error {
	if c.plain() {
		return &auth.Error{Message: c.server.Name + " wants a log-in, and is reached by http://, " +
			"which would show the token to everybody on the way",
			Advice: "use its https:// address", Err: ErrLogin}
	}
	message := c.server.Name + " wants a log-in"
	if held != nil {
		message = c.server.Name + " no longer takes the log-in: it has expired or was revoked"
	}
	return c.wanting(message, "gemline mcp auth %s, or /mcp auth %[1]s in a session")
}

func (c *Client) wanting(message, advice string) error {
	return &auth.Error{Message: message, Advice: fmt.Sprintf(advice, text.PrintableLine(c.server.Name)), Err: ErrLogin}
}

// current returns the current token, refreshed if it expires soon.
func (c *Client) current(ctx context.Context) (*Credential, error) {
	if !c.loaded.Load() {
		if _, err := c.load(ctx); err != nil {
			return nil, err
		}
	}
	held := c.held.Load()
	if held == nil || !held.Token.ends(early) || held.Token.RefreshToken == "" {
		return held, nil
	}
	next, err := c.refreshed(ctx, held)
	switch {
	case err != nil && !held.Token.ends(0):
		return held, nil // it is still valid for some time
	case err != nil:
		return nil, err
	}
	return next, nil
}

// early is how long before its expiry a token is refreshed.
const early = 5 * time.Minute

// load reads the stored token. It ignores a token for another address.
func (c *Client) load(ctx context.Context) (*Credential, error) {
	held, err := c.cfg.Store.Load(ctx, c.server.Name)
	if err != nil {
		return nil, err
	}
	if held != nil && strings.TrimSuffix(held.ServerURL, "/") != strings.TrimSuffix(c.server.URL, "/") {
		held = nil
	}
	c.hold(held)
	return held, nil
}

// hold sets the token of all later requests.
func (c *Client) hold(held *Credential) {
	if held != nil {
		c.cfg.AddSecret("MCP token", held.Token.AccessToken)
		c.cfg.AddSecret("MCP token", held.Token.RefreshToken)
		c.cfg.AddSecret("client secret", held.ClientSecret)
	}
	c.held.Store(held)
	c.loaded.Store(true)
}

// another returns a token that another process has stored meanwhile, if there is one.
func (c *Client) another(ctx context.Context, refused *Credential) (*Credential, error) {
	held, err := c.load(ctx)
	if err != nil || held == nil || refused != nil && held.Token.AccessToken == refused.Token.AccessToken {
		return nil, err
	}
	return held, nil
}

// A State is the state of the log-in to a server, as stored here.
type State int

// The states.
const (
	NoLogin  State = iota // there is no log-in
	Expired               // expired, without a refresh token
	LoggedIn              // stored, and valid or refreshable; the server may still reject it
)

// State returns the stored state of the log-in.
func (c *Client) State(ctx context.Context) (State, error) {
	held, err := c.load(ctx)
	switch {
	case err != nil || held == nil:
		return NoLogin, err
	case held.Token.ends(0) && held.Token.RefreshToken == "":
		return Expired, nil
	}
	return LoggedIn, nil
}

// origin returns the scheme, host and port of an address, which identify a server.
func origin(u *url.URL) string {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return strings.ToLower(u.Scheme + "://" + u.Hostname() + ":" + port)
}

// serverText returns a server's text sanitised for an error.
func serverText(s string) string { return text.PrintableLine(text.OneLine(s, 200)) }
