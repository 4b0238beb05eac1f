package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"cloud.google.com/go/auth"

	"gemline/engine/auth/google"
)

// errTokenSlow is the error of a token request that timed out.
var errTokenSlow = errors.New("no access token in time")

// accessToken fetches a token for the account of g.opts, through the same proxy and with the same
// certificates as requests.
func (g *Genai) accessToken(ctx context.Context, x *exchange) (credential, error) {
	data, from, err := g.opts.Google.Account()
	if err != nil {
		return credential{}, noCredential(ctx, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(g.opts.Connect, 30*time.Second), errTokenSlow)
	defer cancel()
	start := time.Now()
	token, err := google.Source{Scopes: []string{google.Platform}, Client: g.client.http,
		Host: g.opts.Google.Metadata, Network: g.opts.Network, AddSecret: g.client.redact.Add}.Token(ctx, data)
	g.client.log.DebugContext(ctx, "access token", "from",
		cmp.Or(strings.TrimPrefix(filepath.Base(from), "."),
			"metadata server"), "took", time.Since(start), "ok", err == nil)
	if err != nil {
		return credential{}, g.tokenError(ctx, x, from, err)
	}
	g.client.redact.Add("access token", token.Secret)
	p := credential{secret: token.Secret, token: true, quota: cmp.Or(g.opts.Google.Quota, token.Quota), until: token.Expires}
	if p.until.IsZero() {
		p.until = time.Now().Add(time.Hour) // every token expires
	}
	return p, nil
}

// tokenError returns the error of a failed token request.
func (g *Genai) tokenError(ctx context.Context, x *exchange, from string, err error) error {
	if x.ctx.Err() != nil {
		return err // the request has ended
	}
	whose := "the credentials of this machine"
	if from != "" {
		whose = "the credentials in " + from
	}
	var (
		refused *auth.Error
		outer   *url.Error
		bad     google.UnusableCredentials
	)
	e := &Error{Kind: Unavailable, Advice: hintNetwork}
	switch {
	case errors.Is(err, google.ErrNoMetadata):
		e.Kind, e.Final, e.Advice = Auth, true, hintAccount
		e.Message = "no Google credentials: GOOGLE_APPLICATION_CREDENTIALS is not set, gcloud has left none, and this is not a Google Cloud machine"
	case errors.As(err, &bad):
		e.Kind, e.Final, e.Advice = Auth, true, hintAccount
		e.Message = whose + " can't be used: " + string(bad)
	case errors.As(err, &refused) && refused.Response != nil:
		g.refused(e, whose, refused)
	case context.Cause(ctx) == errTokenSlow:
		e.Err, e.Message = errTokenSlow, "no access token for "+brief(cmp.Or(g.opts.Connect, 30*time.Second))
	case errors.As(err, &outer):
		host := ""
		if u, perr := url.Parse(outer.URL); perr == nil {
			host = u.Host
		}
		e = g.client.networkError(x, host, outer.Err)
		e.Message = "no access token: " + e.Message
	default:
		e.Kind, e.Final, e.Advice = Auth, true, hintAccount
		e.Message = whose + " bring no access token: " + err.Error()
	}
	e.Message = oneLine(g.client.redact.Text(e.Message))
	return e
}

// refused fills e with the token server's error.
func (g *Genai) refused(e *Error, whose string, err *auth.Error) {
	f := g.client.failure(err.Response, err.Body)
	var said struct {
		Error       any
		Description string `json:"error_description"`
	}
	if json.Unmarshal(err.Body, &said) == nil && said.Description != "" {
		f.message = fmt.Sprintf("%v: %s", said.Error, oneLine(g.client.redact.Text(said.Description)))
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
