package oauth

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"gemline/engine/auth"
)

// A reply is the answer of a token endpoint, or a registration endpoint's refusal.
type reply struct {
	Access  string  `json:"access_token"`
	Refresh string  `json:"refresh_token"`
	Type    string  `json:"token_type"`
	Scope   string  `json:"scope"`
	Expires seconds `json:"expires_in"`

	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// seconds is a number that some servers write as a text.
type seconds float64

// UnmarshalJSON implements [json.Unmarshaler]. What is no number counts as unknown.
func (s *seconds) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(bytes.Trim(b, `"`)), 64)
	if err == nil && f > 0 && f < 1e10 {
		*s = seconds(f)
	}
	return nil
}

// readReply reads an answer in JSON or as a form. Any other answer is read as empty.
func readReply(a answer) (r reply) {
	if kind, _, _ := mime.ParseMediaType(a.kind); kind != "application/x-www-form-urlencoded" {
		if err := json.Unmarshal(a.body, &r); err != nil {
			return reply{}
		}
		return r
	}
	form, err := url.ParseQuery(string(a.body))
	if err != nil {
		return reply{}
	}
	r = reply{Access: form.Get("access_token"), Refresh: form.Get("refresh_token"), Type: form.Get("token_type"),
		Scope: form.Get("scope"), Error: form.Get("error"), Description: form.Get("error_description")}
	r.Expires.UnmarshalJSON([]byte(form.Get("expires_in")))
	return r
}

// errRefused is in the error of a token that the server does not give for what it got.
var errRefused = errors.New("refused")

// A client is how the program is known to an authorization server.
type client struct {
	id, secret string
	basic      bool // the secret travels in a field of the header
}

// fetch gets a token from an endpoint, by a form that says what for.
func (c *Client) fetch(ctx context.Context, endpoint string, who client, form url.Values) (reply, error) {
	form.Set("client_id", who.id)
	if who.secret != "" && !who.basic {
		form.Set("client_secret", who.secret)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if who.secret != "" && who.basic {
		req.SetBasicAuth(url.QueryEscape(who.id), url.QueryEscape(who.secret))
	}
	a, err := c.reach.ask(req)
	if err != nil {
		return reply{}, err
	}
	r := readReply(a)
	c.cfg.Know("MCP token", r.Access)
	c.cfg.Know("MCP token", r.Refresh)
	switch {
	case r.Error == "" && a.status/100 == 2 && r.Access != "":
		return r, c.usable(r)
	case r.Error != "":
		why := strings.TrimSuffix(said(r.Error)+": "+said(r.Description), ": ")
		cause := error(nil)
		if slices.Contains([]string{"invalid_grant", "invalid_client", "unauthorized_client"}, r.Error) {
			cause = errRefused
		}
		return reply{}, c.failed(fmt.Sprintf("the log-in server of %s gives no token: %s", c.server.Name, why), cause)
	}
	return reply{}, c.failed(fmt.Sprintf("the log-in server of %s answers %d and brings no token",
		c.server.Name, a.status), nil)
}

// usable checks that a token can be sent as it has to be.
func (c *Client) usable(r reply) error {
	if r.Type != "" && !strings.EqualFold(r.Type, "bearer") {
		return c.failed(fmt.Sprintf("%s wants tokens of the type %q, which gemline does not know",
			c.server.Name, said(r.Type)), nil)
	}
	if !httpguts.ValidHeaderFieldValue(r.Access) || strings.ContainsAny(r.Access, " \t") {
		return c.failed(c.server.Name+" gives a token that can't be sent", nil)
	}
	return nil
}

// failed makes the error of a log-in that did not work out.
func (c *Client) failed(message string, cause error) error {
	return &auth.Error{Message: message, Advice: "gemline mcp auth " + said(c.server.Name) + " begins anew", Err: cause}
}

// take makes a token of a reply. What it does not say stays as in old.
func (r reply) take(old Credential) *Credential {
	now := time.Now()
	next := old
	next.Token = Token{AccessToken: r.Access,
		RefreshToken: cmp.Or(r.Refresh, old.Token.RefreshToken), TokenType: "Bearer",
		Scope: cmp.Or(r.Scope, old.Token.Scope)}
	if r.Expires > 0 {
		next.Token.ExpiresAt = now.Add(time.Duration(float64(r.Expires) * float64(time.Second))).UnixMilli()
	}
	next.UpdatedAt = now.UnixMilli()
	return &next
}

// refreshed gets a new token by the refresh token, once for all gemlines. It returns nil if
// there is no refresh token, or none that is still taken; the log-in is forgotten then.
func (c *Client) refreshed(ctx context.Context, old *Credential, _ challenge) (*Credential, error) {
	if old == nil || old.Token.RefreshToken == "" || old.TokenURL == "" {
		return nil, nil
	}
	unlock, err := c.cfg.Store.lock(ctx, c.server.Name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if next, err := c.another(ctx, old, challenge{}); err != nil || next != nil {
		return next, err
	}
	c.mu.Lock()
	held := c.held
	c.mu.Unlock()
	if held == nil { // it was taken back meanwhile
		return nil, nil
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {held.Token.RefreshToken},
		"resource": {cmp.Or(held.Resource, resourceOf(c.url))}}
	if aud := strings.Join(c.server.Audiences, " "); aud != "" {
		form.Set("audience", aud)
	}
	who := client{id: cmp.Or(held.ClientID, c.server.ClientID),
		secret: cmp.Or(held.ClientSecret, c.server.ClientSecret), basic: held.Basic}
	r, err := c.fetch(ctx, cmp.Or(c.server.TokenURL, held.TokenURL), who, form)
	if errors.Is(err, errRefused) {
		c.hold(nil)
		_, err := c.cfg.Store.Delete(ctx, c.server.Name)
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	next := r.take(*held)
	c.hold(next) // also if it can't be kept
	return next, c.cfg.Store.Save(ctx, *next)
}
