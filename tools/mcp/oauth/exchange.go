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
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"golang.org/x/net/http/httpguts"

	"gemline/engine/auth"
)

// An exchange registers the program, makes the address to log in at and asks for tokens, by the
// library's handler. The exchange is the handler's transport and its store of tokens.
type exchange struct {
	c       *Client
	plan    *plan
	login   Credential // gets the new token
	handler *transport.OAuthHandler
	status  int                  // of the last answer
	refused transport.OAuthError // in the last answer
}

const basic, post = "client_secret_basic", "client_secret_post"

// exchange returns an exchange that completes or renews a log-in. The browser ends at uri.
func (c *Client) exchange(p *plan, login Credential, uri string) *exchange {
	e := &exchange{c: c, plan: p, login: login}
	secret := login.ClientSecret
	if c.server.ClientID != "" {
		secret = cmp.Or(secret, c.server.ClientSecret)
	}
	e.handler = transport.NewOAuthHandler(transport.OAuthConfig{ClientID: login.ClientID, ClientSecret: secret,
		RedirectURI: uri, Scopes: strings.Fields(p.scope), PKCEEnabled: true,
		TokenStore: e, HTTPClient: &http.Client{Transport: e}})
	e.handler.SetBaseURL(p.resource)
	return e
}

// RoundTrip implements [http.RoundTripper]. It answers from the plan when the handler looks
// something up, so tokens and secrets are sent to the plan's endpoints, wherever a server leads now.
func (e *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet {
		m := e.plan.metadata
		m.Issuer = e.plan.resource // the handler compares this name with that in the other document
		about := any(&m)
		if strings.HasPrefix(req.URL.Path, wellKnown+"oauth-protected-resource") {
			about = resource{Resource: e.plan.resource, Servers: []string{e.plan.resource}}
		}
		body, err := json.Marshal(about)
		return answer{status: http.StatusOK, body: body}.response(), err
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	form := req.Header.Get("Content-Type") != "application/json"
	body = bytes.Replace(body, []byte(`"scope":"",`), nil, 1) // servers refuse an empty scope
	if aud := e.c.audience(); form && aud != "" {
		body = append(body, "&audience="+url.QueryEscape(aud)...)
	}
	next, err := http.NewRequestWithContext(req.Context(), req.Method, req.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	next.Header = req.Header
	a, err := e.c.reach.ask(next)
	if err != nil {
		return nil, err
	}
	if form {
		a.body = a.fields()
	}
	e.status, e.refused = a.status, transport.OAuthError{}
	json.Unmarshal(a.body, &e.refused)
	return a.response(), nil
}

func (a answer) response() *http.Response {
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a.body))}
}

// fields returns the answer of a token endpoint, in JSON or a form, as JSON of what the handler
// reads: some servers write a number as a text, or other things under names that the handler knows.
func (a answer) fields() []byte {
	got, kept := map[string]any{}, map[string]any{}
	if kind, _, _ := mime.ParseMediaType(a.kind); kind == "application/x-www-form-urlencoded" {
		form, _ := url.ParseQuery(string(a.body))
		for name := range form {
			got[name] = form.Get(name)
		}
	} else {
		json.Unmarshal(a.body, &got)
	}
	for _, name := range []string{"access_token", "refresh_token", "token_type", "scope", "error", "error_description"} {
		if s, ok := got[name].(string); ok {
			kept[name] = s
		}
	}
	if n, err := strconv.ParseFloat(fmt.Sprint(got["expires_in"]), 64); err == nil && n >= 1 && n < 1e10 {
		kept["expires_in"] = int64(n)
	}
	b, _ := json.Marshal(kept)
	return b
}

// GetToken implements [transport.TokenStore]. The handler is never asked for a token.
func (e *exchange) GetToken(context.Context) (*transport.Token, error) {
	return nil, transport.ErrNoToken
}

// SaveToken implements [transport.TokenStore]. What a token does not say stays as it was. A token
// that can't be stored is used all the same.
func (e *exchange) SaveToken(ctx context.Context, t *transport.Token) error {
	c, name := e.c, e.c.server.Name
	c.cfg.AddSecret("MCP token", t.AccessToken)
	c.cfg.AddSecret("MCP token", t.RefreshToken)
	switch {
	case t.AccessToken == "":
		return errors.New("no token")
	case t.TokenType != "" && !strings.EqualFold(t.TokenType, "bearer"):
		return c.failed(fmt.Sprintf("%s wants tokens of the type %q, which gemline does not know",
			name, said(t.TokenType)), nil)
	case !httpguts.ValidHeaderFieldValue(t.AccessToken) || strings.ContainsAny(t.AccessToken, " \t"):
		return c.failed(name+" gives a token that can't be sent", nil)
	}
	old := e.login.Token
	e.login.Token = Token{AccessToken: t.AccessToken, RefreshToken: cmp.Or(t.RefreshToken, old.RefreshToken),
		TokenType: "Bearer", Scope: cmp.Or(t.Scope, old.Scope)}
	if !t.ExpiresAt.IsZero() {
		e.login.Token.ExpiresAt = t.ExpiresAt.UnixMilli()
	}
	e.login.UpdatedAt = time.Now().UnixMilli()
	c.hold(&e.login)
	return c.cfg.Store.Save(ctx, e.login)
}

// register makes the program known to the authorization server, if the settings do not say how it
// is known, and chooses how its secret is sent.
func (e *exchange) register(ctx context.Context) error {
	h, l, methods := e.handler, &e.login, e.plan.Methods
	wrong := &auth.Error{Message: fmt.Sprintf("the log-in server of %s does not register programs by itself", l.ServerName),
		Advice: fmt.Sprintf("register a client there, and set mcpServers.%s.oauth.clientId", l.ServerName)}
	switch {
	case l.ClientID != "":
	case e.plan.Registration == "":
		return wrong
	default:
		err := h.RegisterClient(ctx, "gemline")
		l.ClientID, l.ClientSecret = h.GetClientID(), h.GetClientSecret()
		e.c.cfg.AddSecret("client secret", l.ClientSecret)
		if err != nil || l.ClientID == "" {
			wrong.Message = fmt.Sprintf("the log-in server of %s does not register gemline (%d)", l.ServerName, e.status)
			return e.explain(err, wrong)
		}
	}
	method := h.GetTokenEndpointAuthMethod()
	if method == "none" {
		l.ClientSecret = "" // the handler does not send it now, and would with a refresh token
	}
	l.Basic = h.GetClientSecret() != "" && (method == basic || method == "" &&
		slices.Contains(methods, basic) && !slices.Contains(methods, post))
	return nil
}

// address returns where the user logs in.
func (e *exchange) address(ctx context.Context, state, verifier string) (string, error) {
	made, err := e.handler.GetAuthorizationURL(ctx, state, transport.GenerateCodeChallenge(verifier))
	if err != nil {
		return "", err
	}
	i := strings.LastIndexByte(made, '?') // the endpoint may have parameters already
	u, err := url.Parse(made[:i])
	if err != nil {
		return "", err
	}
	q := u.Query()
	params, _ := url.ParseQuery(made[i+1:])
	maps.Copy(q, params)
	if aud := e.c.audience(); aud != "" {
		q.Set("audience", aud)
	}
	if slices.Contains(strings.Fields(e.plan.scope), "offline_access") { // which OpenID Connect gives for this only
		q.Set("prompt", "consent")
	}
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u.String(), nil
}

func (c *Client) audience() string { return strings.Join(c.server.Audiences, " ") }

// got returns the log-in with the new token, if there is no error.
func (e *exchange) got(err error) (*Credential, error) {
	if err != nil {
		return nil, e.explain(err, e.c.failed(fmt.Sprintf("the log-in server of %s gives no token (%d)",
			e.c.server.Name, e.status), nil))
	}
	return &e.login, nil
}

// explain makes the error of a request by the handler, whose own one may have the whole answer in
// it: ours from below the handler, or else wrong and what the server says.
func (e *exchange) explain(err error, wrong *auth.Error) error {
	if own := (*auth.Error)(nil); errors.As(err, &own) {
		return own
	}
	if outer := (*url.Error)(nil); errors.As(err, &outer) { // it was interrupted
		return outer.Err
	}
	why := said(e.refused.ErrorCode) + ": " + said(e.refused.ErrorDescription)
	wrong.Message = strings.TrimSuffix(wrong.Message+": "+strings.Trim(why, ": "), ": ")
	return wrong
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
	login := *held
	login.ClientID = cmp.Or(held.ClientID, c.server.ClientID)
	p := &plan{metadata: metadata{Token: cmp.Or(c.server.TokenURL, held.TokenURL)}, resource: cmp.Or(held.Resource, resourceOf(c.url))}
	if _, err := c.reach.parse("its token endpoint", p.Token, nil); err != nil { // the handler would take the server's /token
		return nil, err
	}
	if held.Basic {
		p.Methods = []string{basic}
	}
	e := c.exchange(p, login, "")
	_, err = e.handler.RefreshToken(ctx, held.Token.RefreshToken)
	if err != nil && slices.Contains([]string{"invalid_grant", "invalid_client", "unauthorized_client"}, e.refused.ErrorCode) {
		c.hold(nil)
		_, err := c.cfg.Store.Delete(ctx, c.server.Name)
		return nil, err
	}
	return e.got(err)
}
