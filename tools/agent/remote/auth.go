package remote

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
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

// changes reports whether resolving the credentials again may give others.
func (a Auth) changes() bool { return len(a.commands()) > 0 || a.Type == "google-credentials" }

// commands returns the commands that print the credentials.
func (a Auth) commands() (list []string) {
	for _, s := range []string{a.Key, a.Token, a.User, a.Password, a.Content} {
		if strings.HasPrefix(s, "!") && !strings.HasPrefix(s, "!!") {
			list = append(list, s[1:])
		}
	}
	return list
}

// Commands returns the commands that print the server's credentials; nil has none.
func (s *Server) Commands() []string {
	if s == nil {
		return nil
	}
	return s.Auth.commands()
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
		if cfg.Google == nil {
			return id, errors.New("there are no credentials of a Google account")
		}
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

// value returns what a text of an Auth stands for.
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
