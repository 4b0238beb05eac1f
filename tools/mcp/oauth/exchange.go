package oauth

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/oauth2"

	"gemline/engine/auth"
)

// An exchange is a log-in, or its renewal. It plans where to log in, registers the program, makes
// the address to log in at, and gets tokens by the library, whose requests it makes.
type exchange struct {
	c      *Client
	plan   *plan
	login  Credential // gets the new token
	uri    string     // the redirect address
	status int        // of the last answer
}

// secret returns the client secret, "" if there is none.
func (e *exchange) secret() string {
	if e.c.server.ClientID == "" {
		return e.login.ClientSecret
	}
	return cmp.Or(e.login.ClientSecret, e.c.server.ClientSecret)
}

// config returns the library's configuration.
func (e *exchange) config() *oauth2.Config {
	cfg := &oauth2.Config{ClientID: e.login.ClientID, ClientSecret: e.secret(), RedirectURL: e.uri, Scopes: strings.Fields(e.plan.scope),
		Endpoint: oauth2.Endpoint{TokenURL: e.plan.Token, AuthStyle: oauth2.AuthStyleInParams}}
	if e.login.Basic && cfg.ClientSecret != "" {
		cfg.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	}
	return cfg
}

// through returns a context by which the library sends its requests through e.
func (e *exchange) through(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: tripper(e.ask)})
}

// ask makes a request of the library, with the resource and the audience that the token is for.
func (e *exchange) ask(req *http.Request) (*http.Response, error) {
	form, _ := io.ReadAll(req.Body) // a text
	more := url.Values{"resource": {e.plan.resource}}
	if aud := e.audience(); aud != "" {
		more.Set("audience", aud)
	}
	a, err := e.c.ask(req.Context(), http.MethodPost, e.plan.Token, req.Header, append(form, "&"+more.Encode()...))
	if err != nil {
		return nil, err
	}
	e.status = a.status
	if json.Valid(a.body) { // which some servers call a text
		a.kind = "application/json"
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{"Content-Type": {a.kind}},
		Body: io.NopCloser(bytes.NewReader(a.body))}, nil
}

// take stores the library's token. Fields that it lacks keep their old values. If storing
// fails, the token is still used.
func (e *exchange) take(ctx context.Context, t *oauth2.Token, err error) (*Credential, error) {
	c, name := e.c, e.c.server.Name
	own, cut, refused := (*auth.Error)(nil), (*url.Error)(nil), &oauth2.RetrieveError{}
	switch {
	case errors.As(err, &own):
		return nil, own
	case errors.As(err, &cut): // it was interrupted
		return nil, cut.Err
	case err != nil: // the error may contain the whole response
		errors.As(err, &refused)
		return nil, c.failed(withReason(fmt.Sprintf("the log-in server of %s gives no token (%d)", name, e.status),
			refused.ErrorCode, refused.ErrorDescription), nil)
	case t.TokenType != "" && !strings.EqualFold(t.TokenType, "bearer"):
		return nil, c.failed(fmt.Sprintf("%s wants tokens of the type %q, which gemline does not know", name, serverText(t.TokenType)), nil)
	case !httpguts.ValidHeaderFieldValue(t.AccessToken) || strings.ContainsAny(t.AccessToken, " \t"):
		return nil, c.failed(name+" gives a token that can't be sent", nil)
	}
	old := e.login.Token
	scope, _ := t.Extra("scope").(string)
	e.login.Token = Token{AccessToken: t.AccessToken, RefreshToken: cmp.Or(t.RefreshToken, old.RefreshToken),
		TokenType: "Bearer", Scope: cmp.Or(scope, old.Scope)}
	if !t.Expiry.IsZero() {
		e.login.Token.ExpiresAt = t.Expiry.UnixMilli()
	}
	e.login.UpdatedAt = time.Now().UnixMilli()
	c.hold(&e.login)
	return &e.login, c.cfg.Store.Save(ctx, e.login)
}

// withReason returns a message with the error that a server names, if it names one.
func withReason(message, code, description string) string {
	return strings.TrimSuffix(message+": "+strings.Trim(serverText(code)+": "+serverText(description), ": "), ": ")
}

// register registers the program at the authorization server, unless the settings have a
// client ID, and chooses how the client secret is sent.
func (e *exchange) register(ctx context.Context) error {
	const basic, post = "client_secret_basic", "client_secret_post"
	l, methods := &e.login, e.plan.Methods
	wrong := &auth.Error{Message: fmt.Sprintf("the log-in server of %s does not register programs by itself", l.ServerName),
		Advice: fmt.Sprintf("register a client there, and set mcpServers.%s.oauth.clientId", l.ServerName)}
	var got struct {
		ID          string `json:"client_id"`
		Secret      string `json:"client_secret"`
		Method      string `json:"token_endpoint_auth_method"`
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	switch {
	case l.ClientID != "":
	case e.plan.Registration == "":
		return wrong
	default:
		wish := map[string]any{"client_name": "gemline", "redirect_uris": []string{e.uri}, "resource": e.plan.resource,
			"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
			"token_endpoint_auth_method": "none"}
		if scopes := e.config().Scopes; len(scopes) > 0 { // servers refuse an empty scope
			wish["scope"] = strings.Join(scopes, " ")
		}
		body, _ := json.Marshal(wish)
		a, err := e.c.ask(ctx, http.MethodPost, e.plan.Registration, http.Header{"Content-Type": {"application/json"}}, body)
		if err != nil {
			return err
		}
		json.Unmarshal(a.body, &got)
		if e.c.cfg.AddSecret("client secret", got.Secret); got.ID == "" || a.status/100 != 2 {
			wrong.Message = withReason(fmt.Sprintf("the log-in server of %s does not register gemline (%d)", l.ServerName, a.status),
				got.Error, got.Description)
			return wrong
		}
		if l.ClientID = got.ID; got.Method != "none" { // else it would be sent with a refresh token
			l.ClientSecret = got.Secret
		}
	}
	l.Basic = e.secret() != "" && (got.Method == basic ||
		got.Method != post && slices.Contains(methods, basic) && !slices.Contains(methods, post))
	return nil
}

// address returns the log-in address for the user.
func (e *exchange) address(state, verifier string) string {
	more := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("resource", e.plan.resource)}
	if aud := e.audience(); aud != "" {
		more = append(more, oauth2.SetAuthURLParam("audience", aud))
	}
	if slices.Contains(strings.Fields(e.plan.scope), "offline_access") { // OpenID Connect requires the user's consent for a refresh token
		more = append(more, oauth2.ApprovalForce)
	}
	made, _ := url.ParseQuery(strings.TrimPrefix(e.config().AuthCodeURL(state, more...), "?"))
	page, _ := url.Parse(e.plan.Authorization) // which was checked
	q := page.Query()
	maps.Copy(q, made) // the page may have parameters, of the same names, too
	page.RawQuery, page.Fragment = q.Encode(), ""
	return page.String()
}

func (e *exchange) audience() string { return strings.Join(e.c.server.Audiences, " ") }

// refreshed gets a new token by the refresh token, once for all gemlines. If there is no
// refresh token, or the server rejects it, it deletes the log-in and returns nil.
func (c *Client) refreshed(ctx context.Context, old *Credential) (*Credential, error) {
	if old == nil || old.Token.RefreshToken == "" || old.TokenURL == "" {
		return nil, nil
	}
	unlock, err := c.cfg.Store.lock(ctx, c.server.Name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if next, err := c.another(ctx, old); err != nil || next != nil {
		return next, err
	}
	held := c.held.Load()
	if held == nil { // another process logged out meanwhile
		return nil, nil
	}
	e := &exchange{c: c, login: *held, plan: &plan{metadata: metadata{Token: cmp.Or(c.server.TokenURL, held.TokenURL)},
		resource: cmp.Or(held.Resource, resourceOf(c.url))}}
	e.login.ClientID = cmp.Or(held.ClientID, c.server.ClientID)
	if _, err := c.parse("its token endpoint", e.plan.Token, nil); err != nil {
		return nil, err
	}
	t, err := e.config().TokenSource(e.through(ctx), &oauth2.Token{RefreshToken: held.Token.RefreshToken}).Token()
	refused := (*oauth2.RetrieveError)(nil)
	if errors.As(err, &refused) && slices.Contains([]string{"invalid_grant", "invalid_client", "unauthorized_client"}, refused.ErrorCode) {
		c.hold(nil)
		_, err := c.cfg.Store.Delete(ctx, c.server.Name)
		return nil, err
	}
	return e.take(ctx, t, err)
}
