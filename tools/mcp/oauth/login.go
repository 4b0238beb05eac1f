package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"

	"gemline/engine/auth"
)

// patience limits the user's log-in, and probing the discovery.
const (
	patience = 5 * time.Minute
	probing  = 5 * time.Second
)

// errPatience is the cause of a log-in that took too long.
var errPatience = errors.New("nobody has logged in within 5 minutes")

// Logout forgets the log-in, and reports whether there was one.
func (c *Client) Logout(ctx context.Context) (bool, error) {
	c.hold(nil)
	return c.cfg.Store.Delete(ctx, c.server.Name)
}

// probe makes a request without a token to get a challenge. Without a challenge, the usual
// addresses of metadata are tried.
func (c *Client) probe(ctx context.Context) challenge {
	ctx, cancel := context.WithTimeout(ctx, probing)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodHead, c.server.URL, nil)
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := c.cfg.Transport.RoundTrip(req)
	if err != nil {
		return challenge{}
	}
	resp.Body.Close()
	return parseChallenge(resp.Header.Values("WWW-Authenticate"))
}

// Login logs in again, ignoring stored tokens, and stores the new tokens.
func (c *Client) Login(ctx context.Context, ask Ask) error {
	if c.plain() {
		return c.needsLogin(nil)
	}
	ch := c.probe(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	e := &exchange{c: c}
	if err := e.discover(ctx, ch); err != nil {
		return err
	}
	verifier, state := oauth2.GenerateVerifier(), rand.Text()
	c.cfg.AddSecret("PKCE verifier", verifier)
	asking, arrived := context.WithCancel(ctx)
	defer arrived()
	to, err := e.listen(state, arrived)
	if err != nil {
		return err
	}
	defer to.close()
	p := e.plan
	e.uri, e.login = to.uri, Credential{ServerName: c.server.Name, ClientID: c.server.ClientID,
		TokenURL: p.Token, ServerURL: c.server.URL, Resource: p.resource, Token: Token{Scope: p.scope}}
	if err := e.register(ctx); err != nil {
		return err
	}
	got, err := e.answer(asking, to, ask, e.address(state, verifier), state)
	if err != nil && ctx.Err() != nil {
		if err = context.Cause(ctx); err == errPatience {
			err = c.failed(fmt.Sprintf("no log-in to %s: %v", c.server.Name, err), err)
		}
	}
	if err != nil {
		return err
	}
	code, err := e.checked(got)
	if err != nil {
		return err
	}
	c.cfg.AddSecret("log-in code", code)
	t, err := e.config().Exchange(e.through(ctx), code, oauth2.VerifierOption(verifier))
	_, err = e.take(ctx, t, err)
	return err
}

// answer asks the user to log in, and returns the answer from the redirect or from the
// user's input. ctx ends on the redirect.
func (e *exchange) answer(ctx context.Context, to *callback, ask Ask, address, state string) (url.Values, error) {
	c := e.c
	q := Question{Server: c.server.Name, URL: address, Problem: to.problem}
	for {
		pasted, err := ask(ctx, q)
		if errors.Is(err, io.EOF) && to.problem == "" { // nothing can be pasted
			<-ctx.Done()
		}
		select {
		case got := <-to.came:
			return got, nil
		default:
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil, c.failed("nobody has logged in to "+c.server.Name+", and nothing more can be pasted", err)
		case err != nil:
			return nil, err
		}
		got, problem := parsePasted(pasted, state)
		if problem == "" && got.Get("iss") == "" && e.plan.SaysIssuer {
			problem = "that does not say who has answered; paste the whole address"
		}
		if problem == "" {
			return got, nil
		}
		q.Problem = problem
	}
}

// checked returns the code of an answer, after a check of its issuer.
func (e *exchange) checked(got url.Values) (string, error) {
	c, p := e.c, e.plan
	switch issuer := got.Get("iss"); {
	case issuer == "" && p.SaysIssuer:
		e := c.failed(fmt.Sprintf("the log-in to %s was given up: the answer does not say who gives it, and should be of %s", c.server.Name, serverText(p.Issuer)), nil)
		if c.server.AuthorizationURL != "" && c.server.TokenURL != "" {
			e.Advice = fmt.Sprintf("if the log-in server never says that, remove mcpServers.%s.oauth.issuer from your settings", c.server.Name)
		}
		return "", e
	case issuer != "" && p.Issuer != "" && !sameIssuer(issuer, p.Issuer): // somebody else may have answered
		return "", c.failed(fmt.Sprintf("the log-in to %s was given up: the answer is of %q, and should be of %s", c.server.Name, serverText(issuer), serverText(p.Issuer)), nil)
	case got.Get("error") != "":
		return "", c.failed(withReason(fmt.Sprintf("the log-in to %s was refused", c.server.Name), got.Get("error"), got.Get("error_description")), nil)
	}
	return got.Get("code"), nil
}

// failed returns the error of a failed log-in.
func (c *Client) failed(message string, cause error) *auth.Error {
	return &auth.Error{Message: message, Advice: "gemline mcp auth " + serverText(c.server.Name) + " begins anew", Err: cause}
}
