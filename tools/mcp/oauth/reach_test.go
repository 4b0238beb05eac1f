package oauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"gemline/engine/auth"
	"gemline/tools/mcp/oauth"
	"gemline/tools/mcp/oauth/oauthlab"
)

// What a server says is checked, and what is wrong ends the log-in before anything is sent there.
func TestViolations(t *testing.T) {
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Errorf("asked for %s", r.URL) }))
	defer evil.Close()
	set := func(document, name string, value any) func(*oauthlab.Lab) {
		return func(l *oauthlab.Lab) {
			l.Mutate = func(d string, fields map[string]any) {
				if d == document {
					fields[name] = value
				}
			}
		}
	}
	moved := func(document, to string) func(*oauthlab.Lab) {
		return func(l *oauthlab.Lab) {
			l.Mutate = func(d string, fields map[string]any) {
				if d == document {
					fields["status"], fields["location"] = http.StatusFound, to
				}
			}
		}
	}
	for name, c := range map[string]struct {
		fault func(*oauthlab.Lab)
		err   string
	}{
		"another issuer":             {set("issuer", "issuer", "https://other.example"), `says that it is "https://other.example"`},
		"no issuer":                  {set("issuer", "issuer", ""), `says that it is ""`},
		"another resource":           {set("resource", "resource", "https://other.example/mcp"), "which is another server"},
		"issuer at a private host":   {set("resource", "authorization_servers", []string{"https://10.0.0.1"}), "a private address"},
		"issuer at the cloud's host": {set("resource", "authorization_servers", []string{"https://169.254.169.254"}), "a link-local address"},
		"issuer unencrypted":         {set("resource", "authorization_servers", []string{"http://11.11.11.11"}), "which is not https://"},
		"issuer with a password":     {set("resource", "authorization_servers", []string{"https://a:b@11.11.11.11"}), "no address"},
		"issuer in a file":           {set("resource", "authorization_servers", []string{"file:///etc/passwd"}), "no address"},
		"endpoint unencrypted":       {set("issuer", "token_endpoint", "http://11.11.11.11/token"), "its token endpoint is http://11.11.11.11/token, which is not https://"},
		"page at a private host":     {set("issuer", "authorization_endpoint", "https://192.168.1.1/a"), "a private address"},
		"page that is a script":      {set("issuer", "authorization_endpoint", "javascript:alert(1)"), "no address"},
		"registration elsewhere":     {set("issuer", "registration_endpoint", "https://[fd00::1]/r"), "a private address"},
		"redirect to a private host": {moved("resource", "https://10.0.0.1/x"), "a private address"},
		"redirect unencrypted":       {moved("issuer", "http://192.168.0.1/x"), "which is not https://"},
		"redirect in a circle":       {moved("issuer", "/.well-known/oauth-authorization-server"), "more than 3 redirects"},
		"no token endpoint":          {set("issuer", "token_endpoint", ""), "which does not say how to log in"},
		"too long":                   {set("issuer", "x", strings.Repeat("x", 2<<20)), "answers with more than 1 MB"},
		"no S256":                    {set("issuer", "code_challenge_methods_supported", []string{"plain"}), "S256"},
		"answer of another issuer":   {func(l *oauthlab.Lab) { l.Redirect = func(q url.Values) { q.Set("iss", "https://other.example") } }, `the answer is of "https://other.example"`},
		"answer of nobody":           {func(l *oauthlab.Lab) { l.Redirect = func(q url.Values) { q.Del("iss") } }, `the answer does not say who gives it, and should be of http://`},
		"refused by the user": {func(l *oauthlab.Lab) {
			l.Redirect = func(q url.Values) {
				q.Del("code")
				q.Set("error", "access_denied")
				q.Set("error_description", "no\x1b[31m way")
			}
		}, `was refused: access_denied: no\u001b[31m way`},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			c.fault(l)
			err := client(t, config(t.TempDir()), oauth.Server{Name: "lab", URL: l.URL()}).Login(t.Context(), browser(t))
			var e *auth.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.err) || e.Hint() == "" {
				t.Errorf("%v", err)
			}
			if l.Count("code") > 0 {
				t.Error("the code was sent on")
			}
		})
	}
}

// An issuer in the settings has to be in the answer only if the issuer says that it does that, and no
// hint names what the settings have.
func TestIssuerInSettings(t *testing.T) {
	for name, c := range map[string]struct {
		urls      bool
		field     string // of the metadata, without which or with another value
		value     any
		err, hint string
	}{
		"not announced":   {field: "authorization_response_iss_parameter_supported"},
		"announced":       {err: "does not say who gives it", hint: "begins anew"},
		"without reading": {urls: true, err: "does not say who gives it", hint: "remove mcpServers.lab.oauth.issuer"},
		"another":         {field: "issuer", value: "https://other.example", err: "says that it is", hint: "mcpServers.lab.oauth.authorizationUrl and .tokenUrl"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.Redirect = func(q url.Values) { q.Del("iss") }
			l.Mutate = func(document string, fields map[string]any) {
				if document == "issuer" && c.field != "" {
					fields[c.field] = c.value
				}
			}
			s := oauth.Server{Name: "lab", URL: l.URL(), Issuer: l.Issuer.URL}
			if c.urls {
				s.AuthorizationURL, s.TokenURL, s.RegistrationURL = s.Issuer+"/authorize", s.Issuer+"/token", s.Issuer+"/register"
			}
			err := client(t, config(t.TempDir()), s).Login(t.Context(), browser(t))
			var e *auth.Error
			if (err == nil) != (c.err == "") || err != nil && (!strings.Contains(err.Error(), c.err) ||
				!errors.As(err, &e) || !strings.Contains(e.Hint(), c.hint) || strings.Contains(e.Hint(), ".issuer, or")) {
				t.Errorf("%v, %+v", err, e)
			}
		})
	}
}

// to sends requests for hosts of the public web to servers of the test.
type to map[string]*httptest.Server

func (hosts to) RoundTrip(req *http.Request) (*http.Response, error) {
	s := hosts[req.URL.Host]
	if s == nil {
		return nil, fmt.Errorf("asked for %s", req.URL)
	}
	req = req.Clone(req.Context())
	req.URL.Host, req.URL.Scheme = s.Listener.Addr().String(), "http"
	return s.Client().Transport.RoundTrip(req)
}

// A server elsewhere can't send a log-in to this machine or its network, whatever a name stands for;
// the settings can.
func TestRemoteLeadsHere(t *testing.T) {
	l := newLab(t)
	var asked []string
	issuer := "https://127.0.0.1:" + port(l.Issuer)
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "oauth-protected-resource") {
			json.NewEncoder(w).Encode(map[string]any{"resource": "https://mcp.example/mcp", "authorization_servers": []string{issuer}})
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer remote.Close()
	cfg := config(t.TempDir())
	cfg.Transport = to{"mcp.example": remote, "inside.example": l.Issuer}
	cfg.Web.Lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
		asked = append(asked, host)
		return []netip.Addr{netip.MustParseAddr("10.1.2.3")}, nil
	}
	s := oauth.Server{Name: "far", URL: "https://mcp.example/mcp"}
	for address, why := range map[string]string{issuer: "an address of this machine", "https://login.example": "a private address"} {
		issuer = address
		err := client(t, cfg, s).Login(t.Context(), browser(t))
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if !slices.Contains(asked, "login.example") {
		t.Errorf("looked up: %q", asked)
	}
	s.Issuer = "https://inside.example"
	if err := client(t, cfg, s).Login(t.Context(), browser(t)); err == nil || !strings.Contains(err.Error(), "says that it is") {
		t.Errorf("named in the settings: %v", err) // it is reached, and found to be another
	}
}

func port(s *httptest.Server) string { u, _ := url.Parse(s.URL); return u.Port() }

// A token goes to the server that it was made for, and nowhere else.
func TestWhereTokensGo(t *testing.T) {
	l, dir := newLab(t), t.TempDir()
	c := client(t, config(dir), oauth.Server{Name: "lab", URL: l.URL()})
	if err := c.Login(t.Context(), browser(t)); err != nil {
		t.Fatal(err)
	}
	var got []string
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer thief.Close()
	if _, err := get(t, c, thief.URL); err != nil { // where a redirect has led
		t.Error(err)
	}
	// another server that calls itself the same
	if _, err := get(t, client(t, config(dir), oauth.Server{Name: "lab", URL: thief.URL}), thief.URL); !errors.Is(err, oauth.ErrLogin) {
		t.Error(err)
	}
	if slices.ContainsFunc(got, func(s string) bool { return s != "" }) || len(got) < 2 {
		t.Errorf("%q", got)
	}
	var asked []*http.Request
	queried := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = append(asked, r) }))
	defer queried.Close()
	cfg := config(dir)
	if err := cfg.Store.Save(t.Context(), oauth.Credential{ServerName: "asks", ServerURL: queried.URL, Token: oauth.Token{AccessToken: "a&b"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, client(t, cfg, oauth.Server{Name: "asks", URL: queried.URL, TokenParam: "key"}), queried.URL+"?x=1"); err != nil || len(asked) != 1 ||
		asked[0].URL.Query().Get("key") != "a&b" || asked[0].URL.Query().Get("x") != "1" || asked[0].Header.Get("Authorization") != "" {
		t.Errorf("a token in the address: %v, %v", asked, err)
	}
	plain := client(t, config(dir), oauth.Server{Name: "lab", URL: "http://mcp.example/mcp"})
	if err := plain.Login(t.Context(), browser(t)); err == nil || !strings.Contains(err.Error(), "would show the token") {
		t.Error(err)
	}
}
