package oauth_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gemline/tools/mcp/oauth"
)

// provider starts an authorization server that nobody here wrote, and returns its address.
func provider(t *testing.T) string {
	t.Helper()
	cache, _ := os.UserCacheDir()
	dir := filepath.Join(cache, "gemline-tests", "mcp", "node_modules", "oidc-provider")
	node, err := exec.LookPath("node")
	if _, serr := os.Stat(dir); err != nil || serr != nil {
		if os.Getenv("GEMLINE_TEST_ALL") != "" {
			t.Fatalf("%v, %v", err, serr)
		}
		t.Skip("no oidc-provider")
	}
	cmd := exec.Command(node, filepath.Join("testdata", "provider.mjs"), dir)
	cmd.Env = append(os.Environ(), "NODE_ENV=test")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		in.Close()
		cmd.Wait()
		t.Fatalf("%v: %s", err, said.String())
	}
	return strings.TrimSpace(line)
}

// guarded is an MCP server that takes what the authorization server says is good for it.
func guarded(t *testing.T, issuer string) *httptest.Server {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
			json.NewEncoder(w).Encode(map[string]any{"resource": s.URL + "/mcp", "authorization_servers": []string{issuer}, "scopes_supported": []string{"tools"}})
			return
		}
		if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
			req, _ := http.NewRequest(http.MethodPost, issuer+"/token/introspection", strings.NewReader(url.Values{"token": {token}}.Encode()))
			req.SetBasicAuth("resource", url.QueryEscape("of the resource"))
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			res, err := client.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			var what struct {
				Active              bool
				Aud, Scope, Subject string
			}
			if err := json.NewDecoder(res.Body).Decode(&what); err != nil {
				t.Error(err)
			}
			if what.Active && what.Aud == s.URL+"/mcp" && what.Scope == "tools" {
				fmt.Fprint(w, "welcome")
				return
			}
			t.Logf("a token that is not good: %d %+v", res.StatusCode, what)
		}
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+s.URL+`/.well-known/oauth-protected-resource/mcp"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(s.Close)
	return s
}

// An authorization server that nobody here wrote: a log-in with registration, PKCE and a token
// for this server alone, a refresh, and a log-in that is revoked there.
func TestOtherProvider(t *testing.T) {
	issuer := provider(t)
	s, dir := guarded(t, issuer), t.TempDir()
	at := s.URL + "/mcp"
	c := client(t, config(dir), oauth.Server{Name: "other", URL: at})
	if _, err := get(t, c, at); !errors.Is(err, oauth.ErrLogin) {
		t.Fatal(err)
	}
	err := c.Login(t.Context(), func(ctx context.Context, q oauth.Question) (string, error) {
		jar, _ := cookiejar.New(nil)
		browser := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
		res, err := browser.Get(q.URL)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return "", fmt.Errorf("%s answers %s", res.Request.URL, res.Status)
		}
		<-ctx.Done()
		return "", ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	kept := func() (token, refresh, id string) {
		t.Helper()
		held, err := oauth.NewStore(dir, none).Load(t.Context(), "other")
		if err != nil || held == nil {
			t.Fatalf("%v, %v", held, err)
		}
		return held.Token.AccessToken, held.Token.RefreshToken, held.ClientID
	}
	first, _, _ := kept()
	if got, err := get(t, c, at); err != nil || got != "200 welcome" { // its minute is too short, so it is refreshed first
		t.Fatalf("%q, %v", got, err)
	}
	second, refresh, id := kept()
	if second == first || refresh == "" {
		t.Errorf("the token was not refreshed: %q, %q", first, second)
	}
	res, err := http.PostForm(issuer+"/token/revocation", url.Values{"token": {refresh}, "client_id": {id}, "token_type_hint": {"refresh_token"}})
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", res, err)
	}
	res.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if _, err := get(t, c, at); !errors.Is(err, oauth.ErrLogin) {
		t.Errorf("after it was revoked: %v", err)
	}
	if state, err := c.State(t.Context()); state != oauth.NoLogin || err != nil {
		t.Errorf("%v, %v", state, err)
	}
}
