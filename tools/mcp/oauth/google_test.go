package oauth_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"gemline/engine/auth"
	"gemline/tools/mcp/oauth"
)

// A google is Google's servers: that of tokens, that of service accounts, and one that takes them.
type google struct {
	*httptest.Server
	life              time.Duration // of a token of a service account
	scopes, asked     []string
	quota, authorized string
	refuse            bool
}

func newGoogle(t *testing.T) *google {
	g := &google{life: time.Hour}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

func (g *google) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/token":
		r.ParseForm()
		g.asked = append(g.asked, "token")
		fmt.Fprint(w, `{"access_token": "access-of-the-user", "expires_in": 3600, "token_type": "Bearer"}`)
	case strings.HasPrefix(r.URL.Path, "/computeMetadata/"):
		g.scopes = append(g.scopes, r.URL.Query().Get("scopes"))
		fmt.Fprint(w, `{"access_token": "access-of-the-machine", "expires_in": 3600, "token_type": "Bearer"}`)
	case strings.HasPrefix(r.URL.Path, "/v1/projects/-/serviceAccounts/"):
		b, _ := io.ReadAll(r.Body)
		g.asked = append(g.asked, r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(b))
		if g.refuse {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"error": {"code": 403, "message": "Permission 'iam.serviceAccounts.getOpenIdToken' denied"}}`)
			return
		}
		claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp": %d}`, time.Now().Add(g.life).Unix()))
		json.NewEncoder(w).Encode(map[string]string{"token": "head." + claims + ".sign"})
	default:
		g.authorized, g.quota = r.Header.Get("Authorization"), r.Header.Get("X-Goog-User-Project")
		fmt.Fprint(w, "welcome")
	}
}

func (g *google) config(t *testing.T, credentials string) oauth.Config {
	cfg := config(t.TempDir())
	u, _ := url.Parse(g.URL)
	cfg.Transport = to{u.Host: g.Server, "tools.googleapis.com": g.Server, "iamcredentials.googleapis.com": g.Server, "service.example": g.Server}
	cfg.Metadata = u.Host
	cfg.Account = func() ([]byte, string, error) {
		if credentials == "" {
			return nil, "", nil
		}
		return []byte(strings.ReplaceAll(credentials, "HOST", g.URL)), "adc.json", nil
	}
	return cfg
}

const user = `{"type": "authorized_user", "client_id": "id", "client_secret": "shh-shh-shh", "refresh_token": "refresh-refresh",
	"token_uri": "HOST/token", "quota_project_id": "billed"}`

// The user's account, and that of a machine, is sent to Google's servers with the scopes of the settings.
func TestGoogleCredentials(t *testing.T) {
	for name, c := range map[string]struct{ credentials, token, quota string }{
		"user":    {user, "Bearer access-of-the-user", "billed"},
		"machine": {"", "Bearer access-of-the-machine", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGoogle(t)
			s := oauth.Server{Name: "g", URL: "https://tools.googleapis.com/mcp", Provider: "google_credentials", Scopes: []string{"https://scope/a", "https://scope/b"}}
			rt, err := oauth.New(g.config(t, c.credentials), s)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if got, err := get(t, rt, s.URL); err != nil || got != "200 welcome" || g.authorized != c.token || g.quota != c.quota {
					t.Errorf("%q, %v: %q, %q", got, err, g.authorized, g.quota)
				}
			}
			if len(g.asked)+len(g.scopes) != 1 || len(g.scopes) == 1 && g.scopes[0] != "https://scope/a,https://scope/b" {
				t.Errorf("%q, %q", g.asked, g.scopes)
			}
			if got, err := get(t, rt, "https://service.example/"); err != nil || got != "200 welcome" || g.authorized != "" {
				t.Errorf("the token goes elsewhere: %q, %v", g.authorized, err)
			}
			req, _ := http.NewRequest(http.MethodGet, s.URL, nil)
			req.Header.Set("X-Goog-User-Project", "mine")
			resp, err := rt.RoundTrip(req)
			if err != nil || g.quota != "mine" {
				t.Fatalf("%q, %v", g.quota, err)
			}
			resp.Body.Close()
		})
	}
}

// The token of a service account names the audience, and is kept until shortly before its end.
func TestImpersonation(t *testing.T) {
	g := newGoogle(t)
	s := oauth.Server{Name: "s", URL: "https://service.example/mcp", Provider: "service_account_impersonation", Audience: "aud", ServiceAccount: "sa@p.iam"}
	rt, err := oauth.New(g.config(t, user), s)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := get(t, rt, s.URL); err != nil || got != "200 welcome" || !strings.HasPrefix(g.authorized, "Bearer head.") {
			t.Errorf("%q, %v: %q", got, err, g.authorized)
		}
	}
	const want = `/v1/projects/-/serviceAccounts/sa@p.iam:generateIdToken Bearer access-of-the-user {"audience":"aud","includeEmail":true}`
	if len(g.asked) != 2 || g.asked[1] != want {
		t.Errorf("%q", g.asked)
	}
	g.life = time.Minute // less than the five before its end
	rt, _ = oauth.New(g.config(t, user), s)
	for range 2 {
		if _, err := get(t, rt, s.URL); err != nil {
			t.Error(err)
		}
	}
	if len(g.asked) != 6 {
		t.Errorf("%q", g.asked)
	}
	g.refuse = true
	var e *auth.Error
	if _, err := get(t, rt, s.URL); !errors.As(err, &e) || !strings.Contains(err.Error(), "getOpenIdToken") || !strings.Contains(e.Hint(), "sa@p.iam") {
		t.Errorf("%v", err)
	}
}

// What can't work is said before anything is sent.
func TestGoogleWrong(t *testing.T) {
	for want, s := range map[string]oauth.Server{
		"run.app is none":      {URL: "https://x.run.app", Provider: "google_credentials", Scopes: []string{"a"}},
		"evilluci.app is none": {URL: "https://evilluci.app", Provider: "google_credentials", Scopes: []string{"a"}},
		"wants oauth.scopes":   {URL: "https://x.luci.app", Provider: "google_credentials"},
		"at an https://":       {URL: "http://x.luci.app", Provider: "google_credentials", Scopes: []string{"a"}},
		"targetAudience":       {URL: "https://x.run.app", Provider: "service_account_impersonation", ServiceAccount: "sa"},
		"no way to log in":     {URL: "https://x.run.app", Provider: "magic"},
	} {
		if _, err := oauth.New(config(t.TempDir()), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	g := newGoogle(t)
	s := oauth.Server{Name: "g", URL: "https://tools.googleapis.com/mcp", Provider: "google_credentials", Scopes: []string{"a"}}
	for want, credentials := range map[string]string{"are not understood": `{"type": "magic"}`, "not JSON": "{", "must begin with https": strings.Replace(user, "HOST", "http://far.example", 1)} {
		rt, err := oauth.New(g.config(t, credentials), s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := get(t, rt, s.URL); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
