package oauth_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"gemline/tools/mcp/oauth"
	"gemline/tools/mcp/oauth/oauthlab"
)

// through sees requests to servers that the settings name, and changes the answers.
type through func(req *http.Request, sent string, got *http.Response)

func (f through) RoundTrip(req *http.Request) (*http.Response, error) {
	sent := ""
	if req.Body != nil {
		b, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		sent, req.Body = string(b), io.NopCloser(bytes.NewReader(b))
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err == nil {
		f(req, sent, resp)
	}
	return resp, err
}

// answer puts a text in the place of the body of an answer.
func answer(r *http.Response, kind, body string) {
	r.Body.Close()
	r.Header.Set("Content-Type", kind)
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
}

// named is a log-in whose authorization server stands in the settings, so that the requests go through f.
func named(t *testing.T, l *oauthlab.Lab, f through) (oauth.Config, oauth.Server) {
	cfg := config(t.TempDir())
	cfg.Transport = f
	return cfg, oauth.Server{Name: "lab", URL: l.URL(), Issuer: l.Issuer.URL}
}

// Tokens come in JSON or a form, with numbers that are written as texts, with more in the answer than
// the standard has, and with less: a lifetime or a field that can't be read is none.
func TestAnswersWithTokens(t *testing.T) {
	form := func(m map[string]any) string {
		q := url.Values{}
		for name, value := range m {
			q.Set(name, fmt.Sprint(value))
		}
		return q.Encode()
	}
	text := func(m map[string]any) string { b, _ := json.Marshal(m); return string(b) }
	set := func(name string, value any) func(map[string]any) { return func(m map[string]any) { m[name] = value } }
	const hour, ever = time.Hour, 0
	for name, c := range map[string]struct {
		kind   string
		change func(map[string]any)
		write  func(map[string]any) string
		life   time.Duration
		err    string
	}{
		"a form":              {"application/x-www-form-urlencoded; charset=utf-8", func(map[string]any) {}, form, hour, ""},
		"a form in a text":    {"text/plain", func(map[string]any) {}, form, hour, ""},
		"a number as a text":  {"application/json", set("expires_in", "3599"), text, hour, ""},
		"null for a number":   {"application/json", set("expires_in", nil), text, ever, ""},
		"a list of scopes":    {"application/json", set("scope", []string{"tools"}), text, hour, ""},
		"a date":              {"application/json", set("expires_at", 1234567890), text, hour, ""},
		"JSON as a text":      {"text/plain", func(map[string]any) {}, text, hour, ""},
		"no kind":             {"", func(m map[string]any) { delete(m, "token_type") }, text, hour, ""},
		"null for a kind":     {"application/json", set("token_type", nil), text, hour, ""},
		"a kind in capitals":  {"application/json", set("token_type", "BEARER"), text, hour, ""},
		"another kind":        {"application/json", set("token_type", "mac"), text, hour, `tokens of the type "mac"`},
		"no token":            {"application/json", func(m map[string]any) { delete(m, "access_token") }, text, hour, "gives no token (200)"},
		"a header in it":      {"application/json", set("access_token", "a\r\nb"), text, hour, "a token that can't be sent"},
		"an error that is ok": {"application/json", func(m map[string]any) { m["error"], m["error_description"] = "slow", "down" }, text, hour, "gives no token (200): slow: down"},
		"a page":              {"text/html", nil, func(map[string]any) string { return "<b>secret</b>" }, hour, "gives no token (200)"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			cfg, s := named(t, l, func(req *http.Request, _ string, resp *http.Response) {
				if req.URL.Path != "/token" {
					return
				}
				var m map[string]any
				if err := json.NewDecoder(resp.Body).Decode(&m); err != nil {
					t.Error(err)
				}
				if c.change != nil {
					c.change(m)
				}
				answer(resp, c.kind, c.write(m))
			})
			cl := client(t, cfg, s)
			err := cl.Login(t.Context(), browser(t))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			welcome(t, cl, l)
			held, err := cfg.Store.Load(t.Context(), "lab")
			if left := time.Until(time.UnixMilli(held.Token.ExpiresAt)); err != nil || c.life == ever && held.Token.ExpiresAt != 0 ||
				c.life == hour && (left < 50*time.Minute || left > hour) {
				t.Errorf("%+v, %v", held, err)
			}
		})
	}
}

// What is sent: no empty scope, the audience, the parameters that the page has in its address, and a
// secret in the way that the server knows.
func TestWhatIsSent(t *testing.T) {
	l := oauthlab.New() // which knows no secrets, and gives no token
	defer l.Close()
	l.Mutate = func(document string, fields map[string]any) {
		switch document {
		case "issuer":
			fields["authorization_endpoint"] = l.Issuer.URL + "/authorize?policy=a%3Fb&resource=theirs&look=\u202e it's#top"
			fields["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
		case "register":
			fields["client_secret"], fields["token_endpoint_auth_method"] = "of/ours", "client_secret_basic"
		}
	}
	sent := map[string]string{}
	var id, secret string
	cfg, s := named(t, l, func(req *http.Request, body string, _ *http.Response) {
		sent[req.URL.Path] = body
		id, secret, _ = req.BasicAuth()
	})
	var shown string
	var page *url.URL
	s.Audiences, s.Scopes = []string{"a&b", "c"}, []string{"", ""}
	err := client(t, cfg, s).Login(t.Context(), func(ctx context.Context, q oauth.Question) (string, error) {
		shown = q.URL
		page, _ = url.Parse(shown)
		return browser(t)(ctx, q)
	})
	if err == nil || !strings.Contains(err.Error(), "gives no token (400): invalid_grant: a code that") {
		t.Errorf("%v", err)
	}
	q := page.Query()
	if shown != page.String() || len(q["resource"]) != 1 || q.Get("look") != "\u202e it's" {
		t.Errorf("%s", shown)
	}
	if q.Get("policy") != "a?b" || q.Get("audience") != "a&b c" || page.Fragment != "" || q.Has("scope") {
		t.Errorf("%s", page)
	}
	if b := sent["/register"]; strings.Contains(b, "scope") || !json.Valid([]byte(b)) {
		t.Errorf("%s", b)
	}
	form, err := url.ParseQuery(sent["/token"])
	if err != nil || form.Get("audience") != "a&b c" || form.Get("resource") != l.URL() || form.Has("client_secret") || id == "" || secret != "of%2Fours" {
		t.Errorf("%q, %s:%s", form, id, secret)
	}
}

// A refusal is no registration, whatever is in it.
func TestRegistrationRefused(t *testing.T) {
	l := newLab(t)
	cfg, s := named(t, l, func(req *http.Request, _ string, resp *http.Response) {
		if req.URL.Path == "/register" {
			resp.StatusCode = http.StatusConflict
			answer(resp, "application/json", `{"client_id": "theirs", "error": "invalid_redirect_uri"}`)
		}
	})
	err := client(t, cfg, s).Login(t.Context(), func(context.Context, oauth.Question) (string, error) { return "", errors.New("asked") })
	if err == nil || !strings.Contains(err.Error(), "does not register gemline (409): invalid_redirect_uri") {
		t.Errorf("%v", err)
	}
}

// A refresh token goes nowhere if the settings name no address for it: not to the usual address at the
// server, which is not the log-in server.
func TestRefreshNowhere(t *testing.T) {
	l := newLab(t)
	l.Lifetime = time.Minute // within the five before its end
	cfg, s := named(t, l, func(req *http.Request, _ string, _ *http.Response) {
		if req.URL.Path == "/token" && "http://"+req.URL.Host != l.Issuer.URL {
			t.Errorf("sent to %s", req.URL)
		}
	})
	if err := client(t, cfg, s).Login(t.Context(), browser(t)); err != nil {
		t.Fatal(err)
	}
	l.Revoke(false)
	s.TokenURL = "issuer.example/token"
	_, err := get(t, client(t, cfg, s), l.URL())
	if err == nil || !strings.Contains(err.Error(), `its token endpoint is "issuer.example/token"`) {
		t.Errorf("%v", err)
	}
}

// A refresh token goes to where the log-in was, whatever the server says by now.
func TestRefreshStays(t *testing.T) {
	l := newLab(t)
	l.Lifetime = time.Minute // within the five before its end
	forms := []url.Values{}
	cfg, s := named(t, l, func(req *http.Request, body string, _ *http.Response) {
		if req.URL.Path == "/token" {
			form, _ := url.ParseQuery(body)
			forms = append(forms, form)
		}
	})
	l.Mutate = func(document string, fields map[string]any) {
		if document == "register" {
			fields["client_secret"], fields["token_endpoint_auth_method"] = "unused", "none"
		}
	}
	c := client(t, cfg, s)
	s.Audiences = []string{"a&b", "c"}
	if err := c.Login(t.Context(), browser(t)); err != nil {
		t.Fatal(err)
	}
	l.Mutate = func(document string, _ map[string]any) { t.Errorf("asked for %s", document) }
	welcome(t, client(t, cfg, s), l)
	if len(forms) != 2 || forms[1].Get("grant_type") != "refresh_token" || forms[1].Get("resource") != l.URL() || forms[1].Get("audience") != "a&b c" || forms[1].Has("client_secret") {
		t.Errorf("%q", forms)
	}
}
