package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
)

// scope is what an access token is good for.
const scope = "https://www.googleapis.com/auth/cloud-platform"

// accounts are the types of credentials that are understood.
var accounts = map[string]credentials.CredType{
	"service_account":                  credentials.ServiceAccount,
	"authorized_user":                  credentials.AuthorizedUser,
	"impersonated_service_account":     credentials.ImpersonatedServiceAccount,
	"external_account":                 credentials.ExternalAccount,
	"external_account_authorized_user": credentials.ExternalAccountAuthorizedUser,
}

// errTokenSlow is the cause of a token that did not come in time.
var errTokenSlow = errors.New("no access token in time")

// accessToken fetches a token for the account that g.opts names, through the
// same proxy and with the same certificates as requests.
func (g *Genai) accessToken(ctx context.Context, x *exchange) (credential, error) {
	data, from, err := g.opts.Account()
	if err != nil {
		return credential{}, noCredential(ctx, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(g.opts.Connect, 30*time.Second), errTokenSlow)
	defer cancel()
	var p credential
	start := time.Now()
	if data == nil {
		p, err = g.machineToken(ctx)
	} else {
		p, err = g.fileToken(ctx, data)
	}
	g.log.DebugContext(ctx, "access token", "from", cmp.Or(strings.TrimPrefix(filepath.Base(from), "."), "metadata server"), "took", time.Since(start), "ok", err == nil)
	if err != nil {
		return credential{}, g.tokenError(ctx, x, from, err)
	}
	g.redact.Know("access token", p.secret)
	p.token = true
	p.quota = cmp.Or(g.opts.Quota, p.quota)
	if p.until.IsZero() {
		p.until = time.Now().Add(time.Hour) // no token is for ever
	}
	return p, nil
}

// fileToken exchanges credentials of a file for a token.
func (g *Genai) fileToken(ctx context.Context, data []byte) (credential, error) {
	var file struct {
		Type    string
		Quota   string `json:"quota_project_id"`
		Key     string `json:"private_key"`
		Refresh string `json:"refresh_token"`
		Secret  string `json:"client_secret"`
		Token   string `json:"token_uri"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return credential{}, &unusableError{"they are not JSON"}
	}
	for _, secret := range []string{file.Key, file.Refresh, file.Secret} {
		g.redact.Know("credentials", secret)
	}
	kind, known := accounts[file.Type]
	if !known {
		return credential{}, &unusableError{fmt.Sprintf("credentials of the type %q are not understood", file.Type)}
	}
	if u, err := url.Parse(file.Token); err != nil || u.Scheme == "http" && !loopback(u.Hostname()) {
		return credential{}, &unusableError{"token_uri must begin with https://"}
	}
	creds, err := credentials.NewCredentialsFromJSON(kind, data, &credentials.DetectOptions{
		Scopes: []string{scope}, DisableAsyncRefresh: true, Logger: slog.New(slog.DiscardHandler),
		TokenURL: file.Token, Client: g.client,
	})
	if err != nil {
		return credential{}, &unusableError{err.Error()}
	}
	token, err := creds.Token(ctx)
	if err != nil {
		return credential{}, err
	}
	return credential{secret: token.Value, until: token.Expiry, quota: file.Quota}, nil
}

// An unusableError says why credentials make no sense.
type unusableError struct{ why string }

func (u *unusableError) Error() string { return u.why }

// metadata is where machines of Google's are told about themselves.
const metadata = "169.254.169.254"

// errNoMetadata is the error of a machine that has no account.
var errNoMetadata = errors.New("no metadata server")

// machineToken asks for a token of the account that the machine has. That goes
// by no proxy: whoever answers is next door.
func (g *Genai) machineToken(ctx context.Context) (credential, error) {
	host := cmp.Or(g.opts.Metadata, metadata)
	u := url.URL{Scheme: "http", Host: host, Path: "/computeMetadata/v1/instance/service-accounts/default/token",
		RawQuery: url.Values{"scopes": {scope}}.Encode()}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return credential{}, &unusableError{"GCE_METADATA_HOST is not a host name"}
	}
	req.Header.Set("Metadata-Flavor", "Google")
	t := &http.Transport{DialContext: (&net.Dialer{Timeout: 3 * time.Second}).DialContext, DisableKeepAlives: true}
	resp, err := t.RoundTrip(req)
	if err != nil {
		if g.opts.Metadata == "" && ctx.Err() == nil {
			return credential{}, errNoMetadata
		}
		return credential{}, &url.Error{Op: "Get", URL: u.String(), Err: err}
	}
	defer resp.Body.Close()
	if g.opts.Metadata == "" && resp.Header.Get("Metadata-Flavor") != "Google" { // whoever that is
		return credential{}, errNoMetadata
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return credential{}, &url.Error{Op: "Get", URL: u.String(), Err: err}
	}
	if resp.StatusCode != http.StatusOK {
		return credential{}, &auth.Error{Response: resp, Body: body}
	}
	var token struct {
		Value   string `json:"access_token"`
		Expires int    `json:"expires_in"`
	}
	if json.Unmarshal(body, &token) != nil || token.Value == "" {
		return credential{}, &unusableError{"the metadata server's answer holds no token"}
	}
	return credential{secret: token.Value, until: time.Now().Add(time.Duration(token.Expires) * time.Second)}, nil
}

// tokenError makes the error of a token that was not given.
func (g *Genai) tokenError(ctx context.Context, x *exchange, from string, err error) error {
	if x.ctx.Err() != nil {
		return err // the request is over
	}
	whose := "the credentials of this machine"
	if from != "" {
		whose = "the credentials in " + from
	}
	var (
		refused *auth.Error
		outer   *url.Error
		bad     *unusableError
	)
	e := &Error{Kind: Unavailable, Advice: hintNetwork}
	switch {
	case errors.Is(err, errNoMetadata):
		e.Kind, e.Final, e.Advice = Auth, true, hintAccount
		e.Message = "no Google credentials: GOOGLE_APPLICATION_CREDENTIALS is not set, gcloud has left none, and this is not a Google Cloud machine"
	case errors.As(err, &bad):
		e.Kind, e.Final, e.Advice = Auth, true, hintAccount
		e.Message = whose + " can't be used: " + bad.why
	case errors.As(err, &refused) && refused.Response != nil:
		g.refused(e, whose, refused)
	case context.Cause(ctx) == errTokenSlow:
		e.Err, e.Message = errTokenSlow, "no access token for "+brief(cmp.Or(g.opts.Connect, 30*time.Second))
	case errors.As(err, &outer):
		host := ""
		if u, perr := url.Parse(outer.URL); perr == nil {
			host = u.Host
		}
		e = g.networkError(x, host, outer.Err)
		e.Message = "no access token: " + e.Message
	default:
		e.Kind, e.Final, e.Advice = Auth, true, hintAccount
		e.Message = whose + " bring no access token: " + err.Error()
	}
	e.Message = oneLine(g.redact.Text(e.Message))
	return e
}

// refused fills e with what the server of tokens said.
func (g *Genai) refused(e *Error, whose string, err *auth.Error) {
	f := g.failure(err.Response, err.Body)
	var said struct {
		Error       any
		Description string `json:"error_description"`
	}
	if json.Unmarshal(err.Body, &said) == nil && said.Description != "" {
		f.message = fmt.Sprintf("%v: %s", said.Error, oneLine(g.redact.Text(said.Description)))
	}
	e.HTTP, e.RetryAfter, e.Hinted = f.http, f.after, f.hinted
	what := cmp.Or(f.message, f.page, http.StatusText(f.http))
	switch {
	case f.http >= 500, f.http == http.StatusTooManyRequests, f.http == http.StatusRequestTimeout:
		e.Advice = hintServer
		e.Message = fmt.Sprintf("no access token: %s (%d)", what, f.http)
	default:
		e.Kind, e.Final, e.Advice = Auth, true, hintAccount
		e.Message = fmt.Sprintf("%s were refused: %s (%d)", whose, what, f.http)
	}
}
