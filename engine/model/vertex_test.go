package model_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
	"gemline/engine/network"
)

// account returns what Options want of credentials.
func account(data []byte) func() ([]byte, string, error) {
	from := "adc.json"
	if data == nil {
		from = "" // the machine itself
	}
	return func() ([]byte, string, error) { return data, from, nil }
}

// vertex returns a Genai that asks a server that gives replies, with a token
// of a service account.
func vertex(t testing.TB, tokens *et.Tokens, replies ...et.Reply) (*model.Genai, *et.Server) {
	t.Helper()
	s := et.NewServer(replies...)
	t.Cleanup(s.Close)
	g, err := model.NewGenai(model.Options{Google: model.Google{Vertex: true, Project: "p-1", Location: "europe-west4",
		Account: account(tokens.ServiceAccount())}, BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g, s
}

func tokens(t testing.TB) *et.Tokens {
	ts := et.NewTokens()
	t.Cleanup(ts.Close)
	return ts
}

func TestVertex(t *testing.T) {
	et.Generators(t, func(t testing.TB, replies ...et.Reply) engine.Generator {
		g, _ := vertex(t, tokens(t), replies...)
		return g
	})
}

func TestVertexRequest(t *testing.T) {
	ts := tokens(t)
	const path = "/v1beta1/projects/p-1/locations/us-central1/publishers/google/models/gemini-2.5-pro:streamGenerateContent"
	for _, c := range []struct {
		name string
		opts model.Options
		path string
		want map[string]string
	}{
		{"service account", model.Options{Google: model.Google{Account: account(ts.ServiceAccount())}}, path,
			map[string]string{"Authorization": "Bearer token-", "X-Goog-Api-Key": "", "X-Goog-User-Project": ""}},
		{"user", model.Options{Google: model.Google{Account: account(ts.User("payer"))}}, path,
			map[string]string{"Authorization": "Bearer token-", "X-Goog-User-Project": "payer"}},
		{"another quota", model.Options{Google: model.Google{Account: account(ts.User("payer")), Quota: "other"}}, path,
			map[string]string{"Authorization": "Bearer token-", "X-Goog-User-Project": "other"}},
		{"metadata server", model.Options{Google: model.Google{Account: account(nil), Metadata: ts.Host()}}, path,
			map[string]string{"Authorization": "Bearer token-"}},
		{"version and header", model.Options{Google: model.Google{Account: account(ts.ServiceAccount()), APIVersion: "v1"}, Header: http.Header{"X-Team": {"blue"}}},
			strings.Replace(path, "v1beta1", "v1", 1), map[string]string{"Authorization": "Bearer token-", "X-Team": "blue"}},
		{"express", model.Options{APIKey: key}, "/v1beta1/publishers/google/models/gemini-2.5-pro:streamGenerateContent",
			map[string]string{"Authorization": "", "X-Goog-Api-Key": key}},
		{"express bearer", model.Options{APIKey: key, Google: model.Google{Bearer: true}}, "/v1beta1/publishers/google/models/gemini-2.5-pro:streamGenerateContent",
			map[string]string{"Authorization": "Bearer " + key, "X-Goog-Api-Key": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := et.NewServer(et.Says("hi"))
			defer s.Close()
			c.opts.Google.Vertex, c.opts.BaseURL = true, s.URL
			if c.opts.Google.Account != nil {
				c.opts.Google.Project, c.opts.Google.Location = "p-1", "us-central1"
			}
			g, err := model.NewGenai(c.opts)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			if text, err := hear(t, g, ask("hello")); err != nil || text != "hi" {
				t.Fatalf("heard %q, %v", text, err)
			}
			r := s.Requests()[0]
			if r.Path != c.path || r.Query != "alt=sse" {
				t.Errorf("%s?%s", r.Path, r.Query)
			}
			for k, want := range c.want {
				if got := r.Header.Get(k); !strings.HasPrefix(got, want) || want == "" && got != "" {
					t.Errorf("%s: %q, want %q", k, got, want)
				}
			}
			want := `{"contents":[{"parts":[{"text":"hello"}],"role":"user"}],` +
				`"generationConfig":{"temperature":1,"topP":0.95,"topK":64,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}}`
			if string(r.Body) != want {
				t.Errorf("body %s", r.Body)
			}
			if n, err := g.Count(t.Context(), ask("hello")); n != 7 || err != nil {
				t.Errorf("counted %d, %v", n, err)
			}
		})
	}
}

// TestKeyless sends what the user gives, and nothing else.
func TestKeyless(t *testing.T) {
	s := et.NewServer(et.Says("hi"))
	defer s.Close()
	g, err := model.NewGenai(model.Options{Keyless: true, BaseURL: s.URL, Header: http.Header{"X-Gate": {"open"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := hear(t, g, ask("hello")); err != nil {
		t.Fatal(err)
	}
	h := s.Requests()[0].Header
	if h.Get("X-Gate") != "open" || h.Get("X-Goog-Api-Key")+h.Get("Authorization") != "" {
		t.Errorf("header %v", h)
	}
}

type advised struct{ error }

func (advised) Hint() string { return "store one" }

// TestFindKey looks for a key when the first request needs it, and again if
// there was none.
func TestFindKey(t *testing.T) {
	s := et.NewServer(et.Says("hi"), et.Says("hi"))
	defer s.Close()
	looked := 0
	g, err := model.NewGenai(model.Options{BaseURL: s.URL, FindKey: func(context.Context) (string, error) {
		if looked++; looked == 1 {
			return "", advised{errors.New("no key here")}
		}
		return key, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if looked != 0 {
		t.Fatal("looked before there was a request")
	}
	_, err = hear(t, g, ask("hello"))
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.Auth || !e.Final || told(e) != "no key here\nhint: store one" {
		t.Errorf("error %#v", err)
	}
	for range 2 {
		if _, err := hear(t, g, ask("hello")); err != nil {
			t.Fatal(err)
		}
	}
	if looked != 2 || s.Requests()[1].Header.Get("X-Goog-Api-Key") != key {
		t.Errorf("looked %d times", looked)
	}
}

// TestTokens counts how often a token is fetched.
func TestTokens(t *testing.T) {
	for _, c := range []struct {
		name    string
		expires int
		replies []et.Reply
		asks    int
		want    []string // the tokens of the requests
		err     string
	}{
		{"one for all", 3600, []et.Reply{et.Says("a"), et.Says("b")}, 2, []string{"token-1", "token-1"}, ""},
		{"short-lived", 60, []et.Reply{et.Says("a"), et.Says("b")}, 2, []string{"token-1", "token-2"}, ""},
		{"taken back", 3600, []et.Reply{et.Says("a"), et.Unauthenticated(), et.Says("b"), et.Says("c")}, 3, []string{"token-1", "token-1", "token-2", "token-2"}, ""},
		{"refused for good", 3600, []et.Reply{et.Unauthenticated(), et.Unauthenticated()}, 1, []string{"token-1", "token-2"}, "the credentials were refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ts := tokens(t)
			ts.Expires = c.expires
			g, s := vertex(t, ts, c.replies...)
			if len(ts.Asked()) != 0 {
				t.Fatal("a token was fetched before there was a request")
			}
			var err error
			for range c.asks {
				_, err = hear(t, g, ask("hello"))
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			var got []string
			for _, r := range s.Requests() {
				got = append(got, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("tokens %v, want %v", got, c.want)
			}
		})
	}
}

// answers returns a server's answer of the given status and text.
func answers(status int, text string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Metadata-Flavor", "Google")
		w.WriteHeader(status)
		io.WriteString(w, text)
		return true
	}
}

func TestTokenFailures(t *testing.T) {
	down := et.NewTokens()
	down.Close()
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request) bool
		opts   func(ts *et.Tokens) model.Options
		kind   model.Kind
		final  bool
		want   string
	}{
		{"revoked", answers(400, `{"error":"invalid_grant","error_description":"Token has been expired or revoked. `+et.RefreshToken+`"}`), nil, model.Auth, true,
			"the credentials in adc.json were refused: invalid_grant: Token has been expired or revoked. [redacted: credentials] (400)"},
		{"disabled", answers(403, `{"error":{"code":403,"message":"Account disabled"}}`), nil, model.Auth, true, "refused: Account disabled (403)"},
		{"busy", answers(503, `<html><title>Try later</title></html>`), nil, model.Unavailable, false, "no access token: a web page: Try later (503)"},
		{"redirect", answers(302, ``), nil, model.Auth, true, "were refused"},
		{"nonsense", answers(200, `<html>`), nil, model.Auth, true, "bring no access token"},
		{"empty", answers(200, `{}`), nil, model.Auth, true, "bring no access token"},
		{"down", nil, func(*et.Tokens) model.Options {
			return model.Options{Google: model.Google{Account: account(down.User(""))}}
		}, model.Unavailable, false, "no access token: no answer from " + down.Host() + ": connection refused"},
		{"machine without account", answers(404, `not found`), func(ts *et.Tokens) model.Options {
			return model.Options{Google: model.Google{Account: account(nil), Metadata: ts.Host()}}
		}, model.Auth, true, "the credentials of this machine were refused: not found (404)"},
		{"machine says nonsense", answers(200, `{"access_token":""}`), func(ts *et.Tokens) model.Options {
			return model.Options{Google: model.Google{Account: account(nil), Metadata: ts.Host()}}
		}, model.Auth, true, "the metadata server's answer holds no token"},
		{"machine down", nil, func(*et.Tokens) model.Options {
			return model.Options{Google: model.Google{Account: account(nil), Metadata: down.Host()}}
		}, model.Unavailable, false, "connection refused"},
		{"no JSON", nil, func(*et.Tokens) model.Options {
			return model.Options{Google: model.Google{Account: account([]byte("hello"))}}
		}, model.Auth, true, "the credentials in adc.json can't be used: they are not JSON"},
		{"another type", nil, func(*et.Tokens) model.Options {
			return model.Options{Google: model.Google{Account: account([]byte(`{"type":"cat"}`))}}
		}, model.Auth, true, `the type "cat"`},
		{"no key", nil, func(*et.Tokens) model.Options {
			return model.Options{Google: model.Google{Account: account([]byte(`{"type":"service_account","private_key":"no-key-at-all","client_email":"a@b"}`))}}
		}, model.Auth, true, "adc.json"},
		{"in clear", nil, func(*et.Tokens) model.Options {
			return model.Options{Google: model.Google{Account: account([]byte(`{"type":"service_account","token_uri":"http://example.com/token"}`))}}
		}, model.Auth, true, "token_uri must begin with https://"},
		{"not there", nil, func(*et.Tokens) model.Options {
			return model.Options{Google: model.Google{Account: func() ([]byte, string, error) { return nil, "x.json", advised{errors.New("x.json is gone")} }}}
		}, model.Auth, true, "x.json is gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ts := et.NewTokens()
			defer ts.Close()
			ts.Answer = c.answer
			o := model.Options{Google: model.Google{Account: account(ts.User(""))}}
			if c.opts != nil {
				o = c.opts(ts)
			}
			s := et.NewServer(et.Says("hi"))
			defer s.Close()
			var logged bytes.Buffer
			o.Google.Vertex, o.Google.Project, o.Google.Location, o.BaseURL = true, "p", "global", s.URL
			o.Logger = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
			g, err := model.NewGenai(o)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			_, err = hear(t, g, ask("hello"))
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.Final != c.final || !strings.Contains(e.Message, c.want) || e.Advice == "" {
				t.Errorf("error %#v, want %q", err, c.want)
			}
			for _, secret := range []string{et.RefreshToken, et.ClientSecret, "no-key-at-all"} {
				if strings.Contains(logged.String()+told(e), secret) {
					t.Errorf("%s is in\n%s\n%s", secret, told(e), &logged)
				}
			}
			if n := len(s.Requests()); n != 0 {
				t.Errorf("%d requests without a token", n)
			}
		})
	}
}

// TestTokenSlow gives up a server of tokens that does not answer: after a
// while, and at once when the request is cancelled.
func TestTokenSlow(t *testing.T) {
	open := func(connect time.Duration) (*model.Genai, <-chan bool) {
		arrived := make(chan bool, 8)
		ts := et.NewTokens()
		t.Cleanup(ts.Close)
		ts.Answer = func(_ http.ResponseWriter, r *http.Request) bool {
			arrived <- true
			<-r.Context().Done()
			return true
		}
		g, err := model.NewGenai(model.Options{Google: model.Google{Vertex: true, Project: "p", Location: "global", Account: account(ts.User(""))}, BaseURL: "http://127.0.0.1:1", Connect: connect})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { g.Close() })
		return g, arrived
	}
	var e *model.Error
	soon, _ := open(100 * time.Millisecond)
	if _, err := hear(t, soon, ask("q")); !errors.As(err, &e) || e.Kind != model.Unavailable || e.Final || !strings.Contains(e.Message, "no access token for 100ms") {
		t.Errorf("error %v", err)
	}
	g, arrived := open(time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	for range 2 { // one fetches, the other waits for it
		go func() {
			for _, err := range g.Generate(ctx, ask("q")) {
				done <- err
			}
		}()
	}
	<-arrived
	cancel()
	for range 2 {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
}

// TestTokenShared fetches one token for many requests at once.
func TestTokenShared(t *testing.T) {
	ts := tokens(t)
	var replies []et.Reply
	for range 8 {
		replies = append(replies, et.Says("hi"))
	}
	g, _ := vertex(t, ts, replies...)
	done := make(chan error, 8)
	for range 8 {
		go func() {
			_, err := hear(t, g, ask("hello"))
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := len(ts.Asked()); n != 1 {
		t.Errorf("%d tokens were fetched", n)
	}
}

// TestTokenProxy sees that tokens are fetched by way of the proxy, and that
// the machine's own are not.
func TestTokenProxy(t *testing.T) {
	ts := tokens(t)
	var asked atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Method + " " + r.Host)
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer proxy.Close()
	through := network.From(func(string) string { return proxy.URL })
	through.Proxy.NoProxy = ""
	user := bytes.Replace(ts.User(""), []byte(ts.URL), []byte("https://tokens.invalid"), 1)
	for _, c := range []struct {
		name string
		opts model.Options
		want string
	}{
		{"file", model.Options{Google: model.Google{Account: account(user)}}, "CONNECT tokens.invalid:443"},
		{"machine", model.Options{Google: model.Google{Account: account(nil), Metadata: ts.Host()}}, "CONNECT api.invalid:443"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.opts.Google.Vertex, c.opts.Google.Project, c.opts.Google.Location, c.opts.Network, c.opts.BaseURL = true, "p", "global", through, "https://api.invalid"
			g, err := model.NewGenai(c.opts)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			if _, err := hear(t, g, ask("q")); err == nil || asked.Load() != c.want {
				t.Errorf("asked %v, want %s; %v", asked.Load(), c.want, err)
			}
		})
	}
}

func TestVertexOptions(t *testing.T) {
	adc := account([]byte("{}"))
	for _, c := range []struct {
		name string
		opts model.Options
		want string
	}{
		{"nothing", model.Options{Google: model.Google{Vertex: true}}, "no API key"},
		{"no location", model.Options{Google: model.Google{Vertex: true, Account: adc, Project: "p"}}, "location"},
		{"account elsewhere", model.Options{Google: model.Google{Account: adc, Project: "p", Location: "l"}}, "a Google account needs"},
		{"another host", model.Options{Google: model.Google{Vertex: true, Account: adc, Project: "p", Location: "evil.example/"}}, "not a valid name"},
		{"a port", model.Options{Google: model.Google{Vertex: true, Account: adc, Project: "p", Location: "x:1@y"}}, "not a valid name"},
		{"another path", model.Options{Google: model.Google{Vertex: true, Account: adc, Project: "../q", Location: "global"}}, "not a valid name"},
		{"in clear", model.Options{Google: model.Google{Vertex: true, Account: adc, Project: "p", Location: "global"}, BaseURL: "http://example.com"}, "http is for this machine only"},
		{"good", model.Options{Google: model.Google{Vertex: true, Account: adc, Project: "google.com:p-1", Location: "us-central1"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := model.NewGenai(c.opts)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			var e *model.Error
			if errors.As(err, &e) && strings.Contains(c.name, "clear") && !strings.Contains(e.Advice, "GOOGLE_VERTEX_BASE_URL") {
				t.Errorf("hint %q", e.Advice)
			}
		})
	}
}

// TestVertexHosts sees where requests for a location go.
func TestVertexHosts(t *testing.T) {
	for location, want := range map[string]string{"global": "aiplatform.googleapis.com", "us": "aiplatform.us.rep.googleapis.com",
		"eu": "aiplatform.eu.rep.googleapis.com", "us-east5": "us-east5-aiplatform.googleapis.com"} {
		ts := tokens(t)
		var host string
		g, err := model.NewGenai(model.Options{Google: model.Google{Vertex: true, Project: "p", Location: location, Account: account(nil), Metadata: ts.Host()},
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				host = r.URL.Host
				return nil, errors.New("not today")
			})})
		if err != nil {
			t.Fatal(err)
		}
		if hear(t, g, ask("q")); host != want {
			t.Errorf("%s: %s, want %s", location, host, want)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
