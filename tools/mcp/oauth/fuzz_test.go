package oauth

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// always is a server that has one answer, of a kind and with a body.
type always [2]string

func (a always) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {a[0]}},
		Body: io.NopCloser(strings.NewReader(a[1])), Request: req}, nil
}

func TestParseChallenge(t *testing.T) {
	for field, want := range map[string]challenge{
		"": {},
		`Bearer resource_metadata="https://a/b", scope="a b", error="invalid_token"`: {"https://a/b", "a b", "invalid_token"},
		`bearer resource_metadata=https://a/b,scope=a`:                               {"https://a/b", "a", ""},
		`Basic realm="Bearer scope=x", Bearer scope="y"`:                             {"", "y", ""},
		`Negotiate abc==, Bearer scope = "a\"b"`:                                     {"", `a"b`, ""},
		`Bearer scope=a, Basic scope=b`:                                              {"", "a", ""},
		`Bearer scope=a, scope=b`:                                                    {"", "a", ""},
		`Bearer scope="a`:                                                            {"", "a", ""},
		`Digest scope=x`:                                                             {},
		`Bearer`:                                                                     {},
		`"Bearer" scope=x`:                                                           {"", "x", ""}, // lenient: what is around a word is passed over
	} {
		if got := parseChallenge([]string{field}); got != want {
			t.Errorf("%s: %+v", field, got)
		}
	}
	if got := parseChallenge([]string{`Basic realm="x"`, `Bearer scope=s`}); got.Scope != "s" {
		t.Errorf("%+v", got)
	}
}

// FuzzChallenge finds the parameters of a field that is written by the rules, whatever stands before it.
func FuzzChallenge(f *testing.F) {
	for _, s := range []string{"", "a b", `a"b\`, "=,=", "Basic x=y"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, value, before string) {
		parseChallenge([]string{before + value})
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) || !utf8.ValidString(value) {
			return
		}
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value)
		field := `Basic realm="` + quoted + `", Bearer scope="` + quoted + `", resource_metadata="` + quoted + `"`
		if got := parseChallenge([]string{field}); got.Scope != value || got.Metadata != value {
			t.Errorf("%q: %+v", field, got)
		}
	})
}

// FuzzMetadata holds what a server says to the rules: no address that is taken is unencrypted or has
// a password in it, and no text of a server's in an error can steer the terminal.
func FuzzMetadata(f *testing.F) {
	f.Add(`{"issuer": "https://a", "authorization_endpoint": "https://a/b", "token_endpoint": "https://a/c"}`)
	f.Add(`{"resource": "https://mcp.example/mcp", "authorization_servers": ["http://[::1]:8"], "expires_in": "1e3"}`)
	f.Add(`{"error": "a\u001b[31m", "error_description": "\u202e", "issuer": "//a@b", "token_endpoint": "https:a"}`)
	f.Fuzz(func(t *testing.T, body string) {
		server, _ := url.Parse("https://mcp.example/mcp")
		c, err := NewClient(Config{Store: NewStore("", func(string) string { return "" })}, Server{Name: "far", URL: server.String()})
		if err != nil {
			t.Fatal(err)
		}
		var r resource
		var m metadata
		json.Unmarshal([]byte(body), &r)
		json.Unmarshal([]byte(body), &m)
		if covers(r.Resource, server) {
			if u, err := url.Parse(r.Resource); err != nil || !sameOrigin(u, server) {
				t.Errorf("%q", r.Resource)
			}
		}
		check := func(err error) {
			if err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x202e }) {
				t.Errorf("%q", err.Error())
			}
		}
		for _, s := range append(r.Servers, m.Issuer, m.Authorization, m.Token, m.Registration) {
			u, err := c.parse("it", s, nil)
			if check(err); err == nil {
				if u.Scheme != "https" || u.User != nil || u.Host == "" {
					t.Errorf("%q is taken", s)
				}
				for _, place := range issuerPlaces(u) {
					if at, err := url.Parse(place); err != nil || at.Host != u.Host || !strings.Contains(at.EscapedPath(), wellKnown) {
						t.Errorf("%q: %q, %v", s, place, err)
					}
				}
			}
		}
		for _, kind := range []string{"application/json", "application/x-www-form-urlencoded"} {
			e := &exchange{c: c, plan: &plan{metadata: metadata{Token: server.String()}}}
			c.cfg.Transport = always{kind, body}
			token, err := e.config().Exchange(e.through(t.Context()), "code")
			got, err := e.take(t.Context(), token, err)
			check(err)
			if got != nil && strings.ContainsAny(got.Token.AccessToken, "\r\n \x00") {
				t.Errorf("%q is sent", got.Token.AccessToken)
			}
		}
		redirect, problem := parsePasted(body, "state")
		if problem == "" && redirect.Get("state") != "state" && (redirect.Has("state") || redirect.Get("code") == "") {
			t.Errorf("%+v", redirect)
		}
	})
}
