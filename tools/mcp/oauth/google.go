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
	"strings"
	"time"

	gauth "cloud.google.com/go/auth"

	"gemline/engine/auth"
	"gemline/engine/auth/google"
)

// impersonation is the address that issues tokens of service accounts.
const impersonation = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"

// A googleServer gives requests the token of a Google account.
type googleServer struct {
	client *Client
	turn   chan google.Token // holds the token while unused
}

// newGoogle returns a transport for a server that takes Google's tokens.
func newGoogle(c *Client) (*googleServer, error) {
	s, u := c.server, c.url
	wrong := func(format string, args ...any) error {
		return &auth.Error{Config: true, Message: s.Name + ": authProviderType " + s.Provider +
			" " + fmt.Sprintf(format, args...)}
	}
	if u.Scheme != "https" && !c.local() {
		return nil, wrong("wants a server at an https:// address")
	}
	host := strings.ToLower(u.Hostname())
	switch impersonates := s.Provider == "service_account_impersonation"; {
	case impersonates && (s.Audience == "" || s.ServiceAccount == ""):
		return nil, wrong("wants targetAudience and targetServiceAccount")
	case impersonates:
	case !strings.HasSuffix(host, ".googleapis.com") && host != "luci.app" && !strings.HasSuffix(host, ".luci.app"):
		return nil, wrong("is for servers of Google's, and %s is none: its host ends in .googleapis.com or luci.app", serverText(host))
	case len(s.Scopes) == 0:
		return nil, wrong("wants oauth.scopes")
	}
	g := &googleServer{client: c, turn: make(chan google.Token, 1)}
	g.turn <- google.Token{Expires: time.Unix(1, 0)}
	return g, nil
}

// RoundTrip implements [http.RoundTripper].
func (g *googleServer) RoundTrip(req *http.Request) (*http.Response, error) {
	if origin(req.URL) != origin(g.client.url) || req.Header.Get("Authorization") != "" {
		return g.client.cfg.Transport.RoundTrip(req)
	}
	token, err := g.token(req.Context())
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+token.Secret)
	const quota = "X-Goog-User-Project"
	if token.Quota != "" && req.Header.Get(quota) == "" && g.client.server.Provider == "google_credentials" {
		req.Header.Set(quota, token.Quota)
	}
	return g.client.cfg.Transport.RoundTrip(req)
}

// token returns a token that is valid for some minutes.
func (g *googleServer) token(ctx context.Context) (google.Token, error) {
	select {
	case held := <-g.turn:
		defer func() { g.turn <- held }()
		if !held.Expires.IsZero() && time.Until(held.Expires) < early {
			ctx, cancel := context.WithTimeoutCause(ctx, mostTime, fmt.Errorf("no token within %s", mostTime))
			defer cancel()
			fresh, err := g.fresh(ctx)
			if err != nil {
				return google.Token{}, g.failed(ctx, err)
			}
			g.client.cfg.AddSecret("MCP token", fresh.Secret)
			held = fresh
		}
		return held, nil
	case <-ctx.Done():
		return google.Token{}, ctx.Err()
	}
}

// fresh gets a token.
func (g *googleServer) fresh(ctx context.Context) (google.Token, error) {
	data, _, err := g.client.cfg.Account()
	if err != nil {
		return google.Token{}, err
	}
	impersonates := g.client.server.Provider == "service_account_impersonation"
	scopes := g.client.server.Scopes
	if impersonates {
		scopes = []string{google.Platform}
	}
	token, err := google.Source{Scopes: scopes, Client: &http.Client{Transport: g.client.cfg.Transport},
		Host: g.client.cfg.Metadata, Network: g.client.cfg.Web.Network, AddSecret: g.client.cfg.AddSecret}.Token(ctx, data)
	if err == nil && impersonates {
		g.client.cfg.AddSecret("access token", token.Secret)
		token, err = g.impersonate(ctx, token)
	}
	if err == nil && token.Expires.IsZero() {
		token.Expires = time.Now().Add(time.Hour) // tokens without expiry are renewed hourly
	}
	return token, err
}

// impersonate exchanges the user's token for a token of the service account.
func (g *googleServer) impersonate(ctx context.Context, own google.Token) (google.Token, error) {
	body, _ := json.Marshal(map[string]any{"audience": g.client.server.Audience, "includeEmail": true})
	address := impersonation + url.PathEscape(g.client.server.ServiceAccount) + ":generateIdToken"
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+own.Secret)
	req.Header.Set("Content-Type", "application/json")
	if own.Quota != "" {
		req.Header.Set("X-Goog-User-Project", own.Quota)
	}
	resp, err := g.client.cfg.Transport.RoundTrip(req)
	if err != nil {
		return google.Token{}, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return google.Token{}, err
	}
	if resp.StatusCode != http.StatusOK {
		return google.Token{}, &gauth.Error{Response: resp, Body: answer}
	}
	var got struct{ Token string }
	if json.Unmarshal(answer, &got) != nil || got.Token == "" {
		return google.Token{}, google.UnusableCredentials("the answer holds no token of the service account")
	}
	return google.Token{Secret: got.Token, Expires: google.Expiry(got.Token)}, nil
}

// failed returns the error for a missing token.
func (g *googleServer) failed(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return context.Cause(ctx)
	}
	if own := (*auth.Error)(nil); errors.As(err, &own) {
		return own
	}
	e := &auth.Error{Message: g.client.server.Name + ": no token of the Google account: ", Err: err,
		Advice: "gcloud auth application-default login makes credentials; GOOGLE_APPLICATION_CREDENTIALS names a file of them"}
	var refused *gauth.Error
	switch {
	case errors.Is(err, google.ErrNoMetadata):
		e.Message += "there are no credentials, and this is not a Google Cloud machine"
	case errors.As(err, &refused) && refused.Response != nil:
		e.Message += refusal(refused)
		if g.client.server.Provider == "service_account_impersonation" {
			e.Advice = "the account needs the role Service Account OpenID Connect Identity Token Creator on " + serverText(g.client.server.ServiceAccount)
		}
	default:
		e.Message += serverText(err.Error())
	}
	return e
}

// refusal returns the message of Google's server.
func refusal(e *gauth.Error) string {
	var body struct {
		Error       json.RawMessage
		Description string `json:"error_description"`
	}
	json.Unmarshal(e.Body, &body)
	var inner struct{ Message string }
	why := body.Description
	if json.Unmarshal(body.Error, &inner) == nil && inner.Message != "" {
		why = inner.Message
	}
	return fmt.Sprintf("refused (%d) %s", e.Response.StatusCode, serverText(why))
}
