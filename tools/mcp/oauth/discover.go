package oauth

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"gemline/engine/auth"
)

// A resource is the metadata of a protected resource (RFC 9728).
type resource struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

// A metadata is the metadata of an authorization server (RFC 8414, OpenID Connect).
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

// A plan says where and how to log in.
type plan struct {
	metadata
	resource string // the resource of the token (RFC 8707)
	scope    string
}

const wellKnown = "/.well-known/"

// discover makes the plan. Settings take precedence.
func (e *exchange) discover(ctx context.Context, ch challenge) (err error) {
	s, p := e.c.server, &plan{resource: resourceOf(e.c.url), scope: strings.Join(e.c.server.Scopes, " ")}
	e.plan = p
	switch {
	case s.AuthorizationURL != "" && s.TokenURL != "":
		p.Issuer, p.SaysIssuer = s.Issuer, s.Issuer != "" // in the answer to a log-in (RFC 9207)
	case s.Issuer != "":
		err = e.issuer(ctx, "the issuer in the settings", s.Issuer)
	default:
		err = e.announced(ctx, ch)
	}
	if err != nil {
		return err
	}
	p.Authorization, p.Token = cmp.Or(s.AuthorizationURL, p.Authorization), cmp.Or(s.TokenURL, p.Token)
	p.Registration = cmp.Or(s.RegistrationURL, p.Registration)
	return e.complete(ctx)
}

// resourceOf returns the resource identifier of a server.
func resourceOf(u *url.URL) string {
	clean := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return strings.TrimSuffix(clean.String(), "/")
}

// complete checks that nothing is missing in a plan.
func (e *exchange) complete(ctx context.Context) error {
	p := e.plan
	if p.Authorization == "" || p.Token == "" {
		return &auth.Error{Message: e.c.server.Name + " wants a log-in, and neither it nor its settings say where",
			Advice: fmt.Sprintf("set mcpServers.%[1]s.oauth.authorizationUrl and .tokenUrl", e.c.server.Name)}
	}
	for what, s := range map[string]string{"its token endpoint": p.Token, "its registration endpoint": p.Registration} {
		if _, err := e.c.parse(what, s, nil); err != nil && s != "" {
			return err
		}
	}
	page, err := e.c.parse("its authorization endpoint", p.Authorization, nil)
	if err != nil {
		return err
	}
	if !e.c.named[origin(page)] { // the browser opens it
		if err := e.c.guarded.Check(ctx, page); err != nil {
			return e.c.unreachable(ctx, page, err)
		}
	}
	if len(p.Challenges) > 0 && !slices.Contains(p.Challenges, "S256") {
		return e.c.violation("its log-in server does not know S256, which keeps the code from others")
	}
	return nil
}

// announced completes the plan from the server's metadata.
func (e *exchange) announced(ctx context.Context, ch challenge) error {
	p := e.plan
	about, err := e.resource(ctx, ch.Metadata)
	if err != nil {
		return err
	}
	if len(e.c.server.Scopes) == 0 {
		p.scope = cmp.Or(ch.Scope, strings.Join(about.Scopes, " "))
	}
	if about.Resource != "" {
		p.resource = strings.TrimSuffix(about.Resource, "/")
	}
	if len(about.Servers) == 0 {
		root := e.c.url.Scheme + "://" + e.c.url.Host
		return e.issuer(ctx, "its own address", root+e.c.url.EscapedPath(), root)
	}
	if err := e.issuer(ctx, "its log-in server", about.Servers[0]); err != nil {
		return err
	}
	if p.Token == "" {
		return &auth.Error{Message: fmt.Sprintf("%s names %s for the log-in, which does not say how to log in",
			e.c.server.Name, serverText(about.Servers[0])), Advice: "ask the administrator of the server"}
	}
	const offline = "offline_access" // the scope that some servers require for a refresh token
	if len(e.c.server.Scopes) == 0 && slices.Contains(p.Scopes, offline) && !slices.Contains(strings.Fields(p.scope), offline) {
		p.scope = strings.TrimSpace(p.scope + " " + offline)
	}
	return nil
}

// resource reads the server's metadata about itself, which may be empty. named is the address in
// a challenge, if any.
func (e *exchange) resource(ctx context.Context, named string) (about resource, err error) {
	places := []string{named}
	if named == "" {
		root := wellKnown + "oauth-protected-resource"
		places = slices.Compact([]string{root + strings.TrimSuffix(e.c.url.EscapedPath(), "/"), root})
	}
	for _, place := range places {
		u, err := e.c.parse("its metadata", place, e.c.url)
		if err != nil {
			return resource{}, err
		}
		if !sameOrigin(u, e.c.url) {
			return resource{}, e.c.violation("its metadata is at another server, %s", serverText(u.Host))
		}
		about = resource{}
		found, err := e.c.document(ctx, u.String(), &about)
		if err == nil && found && !covers(about.Resource, e.c.url) {
			err = e.c.violation("its metadata is about %q, which is another server", serverText(about.Resource))
		}
		if err != nil || found {
			return about, err
		}
	}
	return resource{}, nil
}

func sameOrigin(a, b *url.URL) bool { return origin(a) == origin(b) }

// covers reports whether a resource is the server, or contains it.
func covers(resource string, server *url.URL) bool {
	u, err := url.Parse(resource)
	if err != nil || !sameOrigin(u, server) {
		return false
	}
	whole, part := strings.TrimSuffix(u.Path, "/")+"/", strings.TrimSuffix(server.Path, "/")+"/"
	return strings.HasPrefix(part, whole)
}

// issuer reads the metadata of the authorization server at the first name into the plan. Its
// issuer must be one of names. Without metadata, the plan stays unchanged.
func (e *exchange) issuer(ctx context.Context, what string, names ...string) error {
	u, err := e.c.parse(what, names[0], nil)
	if err != nil {
		return err
	}
	for _, place := range issuerPlaces(u) {
		var m metadata
		found, err := e.c.document(ctx, place, &m)
		if err != nil {
			return err
		}
		if !found || m.Authorization == "" || m.Token == "" {
			continue
		}
		if !slices.ContainsFunc(names, func(name string) bool { return sameIssuer(m.Issuer, name) }) {
			return e.c.violation("%s is %s, and says that it is %q", what, serverText(names[0]), serverText(m.Issuer))
		}
		e.plan.metadata = m
		return nil
	}
	return nil
}

// issuerPlaces returns the candidate addresses of an authorization server's metadata, in
// order.
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
