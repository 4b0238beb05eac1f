package model

import (
	"context"
	"errors"
	"time"
)

// A credential authenticates a request: a key, an access token, or nothing.
type credential struct {
	secret string
	token  bool
	quota  string    // the project whose quota counts
	until  time.Time // zero if it does not expire
}

// early is how long before its expiry a token is no longer used.
const early = 2 * time.Minute

// A tokenSource caches the last credential.
type tokenSource struct {
	turn  chan credential // holds the credential; empty while a request uses it
	fetch func(ctx context.Context, x *exchange) (credential, error)
}

func newTokenSource(fetch func(context.Context, *exchange) (credential, error)) *tokenSource {
	w := &tokenSource{turn: make(chan credential, 1), fetch: fetch}
	w.turn <- credential{until: time.Unix(1, 0)} // expired long ago
	return w
}

// take returns a credential for the request of x. One request at a time fetches it; the others
// wait, and can be cancelled.
func (w *tokenSource) take(ctx context.Context, x *exchange) (credential, error) {
	select {
	case p := <-w.turn:
		defer func() { w.turn <- p }()
		if !p.until.IsZero() && time.Until(p.until) < early {
			fresh, err := w.fetch(ctx, x)
			if err != nil {
				return credential{}, err
			}
			p = fresh
		}
		return p, nil
	case <-ctx.Done():
		return credential{}, ctx.Err()
	}
}

// drop removes p, which the server refused, from the cache.
func (w *tokenSource) drop(p credential) {
	held := <-w.turn
	if held == p {
		held.until = time.Unix(1, 0)
	}
	w.turn <- held
}

// credential fetches the credential for requests.
func (g *Genai) credential(ctx context.Context, x *exchange) (credential, error) {
	o := g.opts
	switch {
	case o.Google.Account != nil:
		return g.accessToken(ctx, x)
	case o.APIKey != "" || o.FindKey == nil:
		return credential{secret: o.APIKey}, nil
	}
	key, err := o.FindKey(ctx)
	if err != nil {
		return credential{}, noCredential(ctx, err)
	}
	if key == "" || !headerValue(key) {
		return credential{}, errKey(key)
	}
	g.client.redact.Add("API key", key)
	return credential{secret: key}, nil
}

// noCredential returns the error of a missing credential.
func noCredential(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	e := &Error{Kind: Auth, Final: true, Message: oneLine(err.Error()), Advice: hintKey, Err: err}
	var adviser interface{ Hint() string }
	if errors.As(err, &adviser) && adviser.Hint() != "" {
		e.Advice = adviser.Hint()
	}
	return e
}

// errKey returns an error if a key is invalid.
func errKey(key string) error {
	if key == "" {
		return &Error{Kind: Auth, Final: true, Message: "no API key: neither GEMINI_API_KEY nor GOOGLE_API_KEY is set",
			Advice: "make one at https://aistudio.google.com/apikey and export GEMINI_API_KEY=..."}
	}
	return &Error{Kind: Auth, Final: true, Message: "the API key holds characters that no key has", Advice: hintKey}
}

// checkAccount returns an error if o lacks a value for its kind of credential.
func (o Options) checkAccount() error {
	switch g := o.Google; {
	case g.CodeAssist && g.Account == nil && (o.APIKey == "" || !g.Bearer) && !o.Keyless:
		return &Error{Kind: Auth, Final: true, Message: "Code Assist needs a Google account", Advice: hintAccount}
	case g.Account != nil && !g.CodeAssist && (!g.Vertex || g.Project == "" || g.Location == ""):
		return &Error{Kind: Auth, Final: true,
			Message: "a Google account needs Code Assist, or a project and a location of Vertex AI",
			Advice:  "export GOOGLE_CLOUD_PROJECT=... and GOOGLE_CLOUD_LOCATION=..."}
	case g.Account == nil && o.FindKey == nil && !o.Keyless && o.APIKey == "", !headerValue(o.APIKey):
		return errKey(o.APIKey)
	case g.Project != "" && !pathWord(g.Project), g.Location != "" && (!pathWord(g.Location) || !hostWord(g.Location)), !headerValue(g.Quota):
		return &Error{Kind: Config, Final: true, Message: "the project or the location is not a valid name",
			Advice: "check GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION"}
	}
	return nil
}

// hostWord reports whether s is valid in the name of a host.
func hostWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
