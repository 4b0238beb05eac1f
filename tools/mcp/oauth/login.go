package oauth

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"gemline/engine/auth"
)

// patience is how long the user has to log in, and probing how long the server has to say how.
const (
	patience = 5 * time.Minute
	probing  = 5 * time.Second
)

// errPatience is the cause of a log-in that took too long.
var errPatience = errors.New("nobody has logged in within 5 minutes")

// Login logs in anew, whatever is kept, and keeps what it gets.
func (c *Client) Login(ctx context.Context, ask Ask) error {
	if c.plain() {
		return c.needsLogin(nil)
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	_, err := c.login(ctx, c.probe(ctx), ask)
	if err == nil {
		c.declined = nil
	}
	return err
}

// Logout forgets the log-in, and reports whether there was one.
func (c *Client) Logout(ctx context.Context) (bool, error) {
	c.hold(nil)
	return c.cfg.Store.Delete(ctx, c.server.Name)
}

// probe asks the server what it wants, without a token. If it does not say, that is looked for
// in the usual places.
func (c *Client) probe(ctx context.Context) challenge {
	ctx, cancel := context.WithTimeout(ctx, probing)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, c.server.URL, nil)
	if err != nil {
		return challenge{}
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := c.cfg.Transport.RoundTrip(req)
	if err != nil {
		return challenge{}
	}
	resp.Body.Close()
	return parseChallenge(resp.Header.Values("WWW-Authenticate"))
}

// login has the user log in.
func (c *Client) login(ctx context.Context, ch challenge, ask Ask) (*Credential, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	p, err := c.discover(ctx, ch)
	if err != nil {
		return nil, err
	}
	to, err := c.listen()
	if err != nil {
		return nil, err
	}
	defer to.close()
	who, err := c.register(ctx, p, to.uri)
	if err != nil {
		return nil, err
	}
	verifier, state := rand.Text()+rand.Text(), rand.Text()
	c.cfg.Know("PKCE verifier", verifier)
	address, err := c.address(p, who, to.uri, state, verifier)
	if err != nil {
		return nil, err
	}
	code, err := c.code(ctx, p, to, ask, address, state)
	if err != nil {
		return nil, err
	}
	c.cfg.Know("log-in code", code)
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {to.uri},
		"code_verifier": {verifier}, "resource": {p.resource}}
	if aud := strings.Join(c.server.Audiences, " "); aud != "" {
		form.Set("audience", aud)
	}
	r, err := c.fetch(ctx, p.Token, who, form)
	if err != nil {
		return nil, err
	}
	held := r.take(Credential{ServerName: c.server.Name, ClientID: who.id, Basic: who.basic,
		TokenURL: p.Token, ServerURL: c.server.URL,
		Resource: p.resource, Token: Token{Scope: p.scope}})
	if who.secret != c.server.ClientSecret { // a secret in the settings is not stored again
		held.ClientSecret = who.secret
	}
	c.hold(held)
	return held, c.cfg.Store.Save(ctx, *held)
}

// address returns where the user logs in.
func (c *Client) address(p *plan, who client, uri, state, verifier string) (string, error) {
	u, err := url.Parse(p.Authorization)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(verifier))
	q := u.Query()
	for name, value := range map[string]string{
		"client_id": who.id, "response_type": "code", "redirect_uri": uri, "state": state,
		"code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method": "S256",
		"scope": p.scope, "audience": strings.Join(c.server.Audiences, " "), "resource": p.resource,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if slices.Contains(strings.Fields(p.scope), "offline_access") { // which OpenID Connect gives for this only
		q.Set("prompt", "consent")
	}
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u.String(), nil
}

// register returns how the program is known to the authorization server, and makes it known if
// the settings do not say.
func (c *Client) register(ctx context.Context, p *plan, uri string) (client, error) {
	const post, basic = "client_secret_post", "client_secret_basic"
	if s := c.server; s.ClientID != "" {
		return client{s.ClientID, s.ClientSecret, slices.Contains(p.Methods, basic) &&
			!slices.Contains(p.Methods, post)}, nil
	}
	if p.Registration == "" {
		return client{}, &auth.Error{Message: fmt.Sprintf("the log-in server of %s does not register programs by itself", c.server.Name),
			Advice: fmt.Sprintf("register a client there, and set mcpServers.%s.oauth.clientId", c.server.Name)}
	}
	wish := map[string]any{"client_name": "gemline", "redirect_uris": []string{uri},
		"grant_types":    []string{"authorization_code", "refresh_token"},
		"response_types": []string{"code"}, "token_endpoint_auth_method": "none"}
	if p.scope != "" {
		wish["scope"] = p.scope
	}
	body, err := json.Marshal(wish)
	if err != nil {
		return client{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Registration, bytes.NewReader(body))
	if err != nil {
		return client{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	a, err := c.reach.ask(req)
	if err != nil {
		return client{}, err
	}
	var got struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
		Method string `json:"token_endpoint_auth_method"`
	}
	if json.Unmarshal(a.body, &got) != nil || a.status/100 != 2 || got.ID == "" {
		r := readReply(answer{body: a.body})
		why := strings.Trim(said(r.Error)+": "+said(r.Description), ": ")
		message := fmt.Sprintf("the log-in server of %s does not register gemline (%d): %s",
			c.server.Name, a.status, why)
		return client{}, &auth.Error{Message: strings.TrimSuffix(message, ": "),
			Advice: fmt.Sprintf("register a client there, and set mcpServers.%s.oauth.clientId", c.server.Name)}
	}
	c.cfg.Know("client secret", got.Secret)
	return client{got.ID, got.Secret, got.Method == basic}, nil
}

// code has the user log in, and returns the code that comes of it.
func (c *Client) code(ctx context.Context, p *plan, to *callback, ask Ask, address, state string) (string, error) {
	asking, arrived := context.WithCancel(ctx)
	defer arrived()
	to.serve(state, arrived)
	q := Question{Server: c.server.Name, URL: address, Problem: to.problem}
	for {
		pasted, err := ask(asking, q)
		got, ok := to.arrived()
		if !ok && err == nil {
			got, q.Problem = parsePasted(pasted, state)
			if ok = q.Problem == ""; ok && got.issuer == "" && c.saysIssuer(p) {
				ok, q.Problem = false, "that does not say who has answered; paste the whole address"
			}
		}
		if !ok && errors.Is(err, io.EOF) && to.problem == "" { // nothing can be pasted
			got, err = to.wait(asking)
			ok = err == nil
		}
		switch {
		case ok:
			return c.checked(p, got)
		case ctx.Err() != nil:
			return "", c.overdue(ctx)
		case errors.Is(err, io.EOF):
			return "", c.failed("nobody has logged in to "+c.server.Name+", and nothing more can be pasted", err)
		case err != nil:
			return "", err
		}
	}
}

func (c *Client) overdue(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != errPatience {
		return cause
	}
	return c.failed(fmt.Sprintf("no log-in to %s: %v", c.server.Name, errPatience), errPatience)
}

// saysIssuer reports whether the answer has to say who gave it (RFC 9207).
func (c *Client) saysIssuer(p *plan) bool { return p.SaysIssuer || p.settled }

// checked returns the code of an answer that comes from the right server.
func (c *Client) checked(p *plan, got redirected) (string, error) {
	switch {
	case got.issuer == "" && c.saysIssuer(p), got.issuer != "" && p.Issuer != "" && !sameIssuer(got.issuer, p.Issuer):
		return "", c.reach.violation("the answer is of %q, and should be of %s", said(got.issuer), said(p.Issuer))
	case got.err != "":
		why := strings.TrimSuffix(said(got.err)+": "+said(got.description), ": ")
		return "", c.failed(fmt.Sprintf("the log-in to %s was refused: %s", c.server.Name, why), nil)
	}
	return got.code, nil
}
