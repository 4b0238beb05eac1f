package oauth

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"gemline/engine/auth"
)

// A resource is what a server says about itself (RFC 9728).
type resource struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

// A metadata is what an authorization server says about itself (RFC 8414, OpenID Connect).
type metadata struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Registration  string   `json:"registration_endpoint"`
	Scopes        []string `json:"scopes_supported"`
	Challenges    []string `json:"code_challenge_methods_supported"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
	SaysIssuer    bool     `json:"authorization_response_iss_parameter_supported"`
}

// A plan is where and how to log in.
type plan struct {
	metadata
	resource string // what the token is to be for (RFC 8707)
	scope    string
	settled  bool // the issuer stands in the settings
}

const wellKnown = "/.well-known/"

// discover finds out where to log in. What the settings say comes first.
func (c *Client) discover(ctx context.Context, ch challenge) (*plan, error) {
	s := c.server
	p := &plan{resource: resourceOf(c.url), scope: strings.Join(s.Scopes, " "), settled: s.Issuer != ""}
	var err error
	switch {
	case s.AuthorizationURL != "" && s.TokenURL != "":
		p.Issuer = s.Issuer
	case s.Issuer != "":
		err = c.issuer(ctx, p, s.Issuer, "the issuer in the settings")
	default:
		err = c.announced(ctx, p, ch)
	}
	if err != nil {
		return nil, err
	}
	for _, o := range []struct{ given, to *string }{{&s.AuthorizationURL, &p.Authorization},
		{&s.TokenURL, &p.Token}, {&s.RegistrationURL, &p.Registration}} {
		if *o.given != "" {
			*o.to = *o.given
		}
	}
	return p, c.complete(ctx, p)
}

// resourceOf returns the resource identifier of a server.
func resourceOf(u *url.URL) string {
	clean := *u
	clean.Fragment, clean.RawFragment, clean.RawQuery, clean.User = "", "", "", nil
	return strings.TrimSuffix(clean.String(), "/")
}

// complete checks that nothing is missing in a plan.
func (c *Client) complete(ctx context.Context, p *plan) error {
	if p.Authorization == "" || p.Token == "" {
		return &auth.Error{Message: c.server.Name + " wants a log-in, and neither it nor its settings say where",
			Advice: fmt.Sprintf("set mcpServers.%[1]s.oauth.authorizationUrl and .tokenUrl", c.server.Name)}
	}
	for what, s := range map[string]string{"its authorization endpoint": p.Authorization,
		"its token endpoint": p.Token, "its registration endpoint": p.Registration} {
		if s == "" {
			continue
		}
		u, err := c.reach.parse(what, s, nil)
		if err == nil && s == p.Authorization {
			err = c.reach.check(ctx, u)
		}
		if err != nil {
			return err
		}
	}
	if len(p.Challenges) > 0 && !slices.Contains(p.Challenges, "S256") {
		return c.reach.violation("its log-in server does not know S256, which keeps the code from others")
	}
	return nil
}

// announced finds out by what the server says.
func (c *Client) announced(ctx context.Context, p *plan, ch challenge) error {
	r, err := c.resource(ctx, ch.Metadata)
	if err != nil {
		return err
	}
	if len(c.server.Scopes) == 0 {
		if p.scope = ch.Scope; p.scope == "" && r != nil {
			p.scope = strings.Join(r.Scopes, " ")
		}
	}
	if r != nil {
		p.resource = strings.TrimSuffix(r.Resource, "/")
		if len(r.Servers) > 0 {
			err = c.issuer(ctx, p, r.Servers[0], "its log-in server")
			if err == nil && p.Token == "" {
				err = &auth.Error{Message: fmt.Sprintf("%s names %s for the log-in, which does not say how to log in",
					c.server.Name, said(r.Servers[0])),
					Advice: "ask whoever runs the server"}
			}
			if err == nil {
				p.offline(c.server.Scopes)
			}
			return err
		}
	}
	own := &url.URL{Scheme: c.url.Scheme, Host: c.url.Host, Path: c.url.Path}
	if err := c.issuer(ctx, p, own.String(), "its own address"); err != nil || p.Token != "" ||
		strings.Trim(own.Path, "/") == "" {
		return err
	}
	own.Path = ""
	return c.issuer(ctx, p, own.String(), "its own address")
}

// offline asks for a refresh token where that takes a scope.
func (p *plan) offline(given []string) {
	const scope = "offline_access"
	if len(given) == 0 && slices.Contains(p.Scopes, scope) && !slices.Contains(strings.Fields(p.scope), scope) {
		p.scope = strings.TrimSpace(p.scope + " " + scope)
	}
}

// resource reads what the server says about itself, nil if it says nothing. named is where,
// as a challenge has it.
func (c *Client) resource(ctx context.Context, named string) (*resource, error) {
	origin := c.url.Scheme + "://" + c.url.Host
	places := []string{origin + wellKnown + "oauth-protected-resource" + strings.TrimSuffix(c.url.EscapedPath(), "/")}
	if root := origin + wellKnown + "oauth-protected-resource"; root != places[0] {
		places = append(places, root)
	}
	if named != "" {
		places = []string{named}
	}
	for _, place := range places {
		u, err := c.reach.parse("its metadata", place, c.url)
		if err != nil {
			return nil, err
		}
		if !sameOrigin(u, c.url) {
			return nil, c.reach.violation("its metadata is at another server, %s", said(u.Host))
		}
		var r resource
		found, err := c.reach.document(ctx, u, &r)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		if !covers(r.Resource, c.url) {
			return nil, c.reach.violation("its metadata is about %q, which is another server", said(r.Resource))
		}
		return &r, nil
	}
	return nil, nil
}

func sameOrigin(a, b *url.URL) bool { return origin(a) == origin(b) }

// covers reports whether a resource is the server, or what the server is a part of.
func covers(resource string, server *url.URL) bool {
	u, err := url.Parse(resource)
	if err != nil || !sameOrigin(u, server) {
		return false
	}
	whole, part := strings.TrimSuffix(u.Path, "/")+"/", strings.TrimSuffix(server.Path, "/")+"/"
	return strings.HasPrefix(part, whole)
}

// issuer reads what an authorization server says about itself into p, which stays as it is if
// that says nothing.
func (c *Client) issuer(ctx context.Context, p *plan, issuer, what string) error {
	u, err := c.reach.parse(what, issuer, nil)
	if err != nil {
		return err
	}
	for _, place := range issuerPlaces(u) {
		at, err := c.reach.parse(what, place, nil)
		if err != nil {
			return err
		}
		var m metadata
		found, err := c.reach.document(ctx, at, &m)
		if err != nil {
			return err
		}
		if !found || m.Authorization == "" || m.Token == "" {
			continue
		}
		if !sameIssuer(m.Issuer, issuer) {
			return c.reach.violation("%s is %s, and says that it is %q", what, said(issuer), said(m.Issuer))
		}
		p.metadata = m
		return nil
	}
	return nil
}

// issuerPlaces returns where the metadata of an authorization server may be, in the order to look.
func issuerPlaces(u *url.URL) []string {
	origin, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	const oauth, openid = "oauth-authorization-server", "openid-configuration"
	places := []string{origin + wellKnown + oauth + path, origin + wellKnown + openid + path}
	if path != "" {
		places = append(places, origin+path+wellKnown+openid, origin+wellKnown+oauth, origin+wellKnown+openid)
	}
	return places
}

func sameIssuer(a, b string) bool {
	return a != "" && strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/")
}
