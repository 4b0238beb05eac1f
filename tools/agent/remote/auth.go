package remote

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// An Auth holds a definition's credentials for a server. [Config.Value] resolves texts that
// begin with $ or !.
type Auth struct {
	Type string // "", apiKey, http or google-credentials

	Key, Name string // the API key, and the name of its header

	Scheme                         string // of http
	Token, User, Password, Content string

	Scopes []string // of google-credentials
}

// An identity is the credential of a request.
type identity struct {
	header, value string
}

// Commands returns the commands that print the server's credentials; nil if there are none.
func (s *Server) Commands() (list []string) {
	if s == nil {
		return nil
	}
	for _, text := range []string{s.Auth.Key, s.Auth.Token, s.Auth.User, s.Auth.Password, s.Auth.Content} {
		if strings.HasPrefix(text, "!") && !strings.HasPrefix(text, "!!") {
			list = append(list, text[1:])
		}
	}
	return list
}

// changes reports whether resolving the credentials again may give different ones.
func (s *Server) changes() bool { return len(s.Commands()) > 0 || s.Auth.Type == "google-credentials" }

// identify adds the credential to a request. The credential is resolved once, and again
// after a refusal.
func (c *Client) identify(req *http.Request) (err error) {
	if c.held.header == "" {
		if c.held, err = c.cfg.identity(req.Context(), req.URL); err != nil {
			return err
		}
	}
	req.Header.Set(c.held.header, c.held.value)
	return nil
}

// identity resolves the credential of requests to an address.
func (cfg Config) identity(ctx context.Context, at *url.URL) (id identity, err error) {
	a := cfg.Server.Auth
	value := func(s string) string {
		v, e := cfg.value(ctx, s)
		err = cmp.Or(err, e)
		return v
	}
	id.header = "Authorization"
	switch {
	case a.Type == "apiKey":
		id.header, id.value = cmp.Or(a.Name, "X-API-Key"), value(a.Key)
	case a.Type == "google-credentials":
		var token string
		token, err = cfg.Google(ctx, at, a.Scopes)
		id.value = "Bearer " + token
	case a.Content != "":
		id.value = a.Scheme + " " + value(a.Content)
	case strings.EqualFold(a.Scheme, "Basic"):
		pair := value(a.User) + ":" + value(a.Password)
		id.value = "Basic " + base64.StdEncoding.EncodeToString([]byte(pair))
		cfg.know(strings.TrimPrefix(id.value, "Basic "))
	case a.Type == "http":
		id.value = "Bearer " + value(a.Token)
	}
	if err != nil {
		return identity{}, fmt.Errorf("no credentials for %s: %w", at.Host, err)
	}
	return id, nil
}

// value resolves a text of an Auth.
func (cfg Config) value(ctx context.Context, s string) (string, error) {
	switch {
	case strings.HasPrefix(s, "$$"), strings.HasPrefix(s, "!!"):
		s = s[1:]
	case strings.HasPrefix(s, "$"), strings.HasPrefix(s, "!"):
		v, err := cfg.Value(ctx, s)
		if err != nil {
			return "", err
		}
		s = v
	}
	cfg.know(s)
	return s, nil
}

func (cfg Config) know(secret string) {
	if cfg.AddSecret != nil {
		cfg.AddSecret(secret)
	}
}
