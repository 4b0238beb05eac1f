package oauth_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gemline/engine/auth"
	et "gemline/engine/enginetest"
	"gemline/tools/mcp/oauth"
	"gemline/tools/mcp/oauth/oauthlab"
)

// TestMain lets the test's program stand for another gemline.
func TestMain(m *testing.M) {
	if at := os.Getenv("GEMLINE_TEST_OTHER"); at != "" {
		other(at)
		return
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

func none(string) string { return "" }

func config(dir string) oauth.Config {
	return oauth.Config{Transport: &http.Transport{DisableKeepAlives: true}, Store: oauth.NewStore(dir, none), Getenv: none}
}

func newLab(t *testing.T) *oauthlab.Lab {
	l := oauthlab.New()
	t.Cleanup(func() {
		l.Close()
		if p := l.Problems(); len(p) > 0 && !t.Failed() {
			t.Errorf("the server found: %q", p)
		}
	})
	return l
}

// browse opens an address as a browser does, and says where it ended.
func browse(t *testing.T, address string) string {
	t.Helper()
	var at string
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		at = r.URL.String()
		return nil
	}}
	resp, err := c.Get(address)
	if err == nil {
		resp.Body.Close()
	}
	return at
}

// browser is a user who logs in with a browser on the same machine.
func browser(t *testing.T) oauth.Ask {
	return func(ctx context.Context, q oauth.Question) (string, error) {
		browse(t, q.URL)
		<-ctx.Done()
		return "", ctx.Err()
	}
}

// remote is a user whose browser is elsewhere: it does not reach the port, and the address is pasted.
func remote(t *testing.T, change func(string) string) oauth.Ask {
	tried := false
	return func(ctx context.Context, q oauth.Question) (string, error) {
		if tried {
			return "", errors.New(q.Problem)
		}
		tried = true
		c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp, err := c.Get(q.URL)
		if err != nil {
			return "", err
		}
		resp.Body.Close()
		return change(resp.Header.Get("Location")), nil
	}
}

func get(t *testing.T, c http.RoundTripper, address string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.StatusCode, " ", string(b)), err
}

func client(t *testing.T, cfg oauth.Config, s oauth.Server) *oauth.Client {
	t.Helper()
	c, err := oauth.NewClient(cfg, s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func welcome(t *testing.T, c *oauth.Client, l *oauthlab.Lab) {
	t.Helper()
	if got, err := get(t, c, l.URL()); err != nil || got != "200 welcome" {
		t.Fatalf("%q, %v", got, err)
	}
}

// A server that wants a log-in says so, the log-in works with a browser and without one, is kept
// in the Gemini CLI's form where only the user can read it, and serves the next run.
func TestLogin(t *testing.T) {
	same := func(s string) string { return s }
	for name, ask := range map[string]oauth.Ask{
		"browser":        browser(t),
		"pasted address": remote(t, same),
		"pasted query":   remote(t, func(s string) string { _, q, _ := strings.Cut(s, "?"); return q }),
	} {
		t.Run(name, func(t *testing.T) {
			l, dir := newLab(t), filepath.Join(t.TempDir(), ".gemini")
			var known []string
			cfg := config(dir)
			cfg.AddSecret = func(_, secret string) { known = append(known, secret) }
			s := oauth.Server{Name: "lab", URL: l.URL()}
			c := client(t, cfg, s)
			_, err := get(t, c, l.URL())
			var e *auth.Error
			if !errors.Is(err, oauth.ErrLogin) || !errors.As(err, &e) || !strings.Contains(e.Hint(), "gemline mcp auth lab") {
				t.Fatalf("without a log-in: %v", err)
			}
			if err := c.Login(t.Context(), ask); err != nil {
				t.Fatal(err)
			}
			welcome(t, c, l)
			welcome(t, client(t, config(dir), s), l)
			path := filepath.Join(dir, oauth.FileName)
			b, err := os.ReadFile(path)
			var kept []struct {
				ServerName, ClientID, TokenURL, MCPServerURL string
				UpdatedAt                                    int64
				Token                                        struct {
					AccessToken, RefreshToken, TokenType, Scope string
					ExpiresAt                                   int64
				}
			}
			if err := errors.Join(err, json.Unmarshal(b, &kept)); err != nil || len(kept) != 1 {
				t.Fatalf("%s, %v", b, err)
			}
			k := kept[0]
			if left := time.Until(time.UnixMilli(k.Token.ExpiresAt)); left < 50*time.Minute || left > time.Hour || k.ServerName != "lab" ||
				k.TokenURL != l.Issuer.URL+"/token" || k.MCPServerURL != l.URL() || k.Token.TokenType != "Bearer" || k.Token.Scope != "tools" {
				t.Errorf("%s", b)
			}
			for _, secret := range []string{k.Token.AccessToken, k.Token.RefreshToken} {
				if secret == "" || !slices.Contains(known, secret) {
					t.Errorf("the redactor does not know %q", secret)
				}
			}
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
		})
	}
}

// A bare code is taken where the server does not have to say who it is, and only there.
func TestPastedCode(t *testing.T) {
	code := func(s string) string { u, _ := url.Parse(s); return u.Query().Get("code") }
	for _, says := range []bool{false, true} {
		l := newLab(t)
		l.Mutate = func(document string, fields map[string]any) {
			if document == "issuer" {
				fields["authorization_response_iss_parameter_supported"] = says
			}
		}
		c := client(t, config(t.TempDir()), oauth.Server{Name: "lab", URL: l.URL()})
		err := c.Login(t.Context(), remote(t, code))
		if says && (err == nil || !strings.Contains(err.Error(), "paste the whole address")) || !says && err != nil {
			t.Errorf("%v: %v", says, err)
		}
	}
}

// What is pasted must be the answer to this log-in.
func TestPastedWrong(t *testing.T) {
	l := newLab(t)
	for want, change := range map[string]func(string) string{
		"the answer to another log-in": func(s string) string { return strings.Replace(s, "state=", "state=x", 1) },
		"no code in that":              func(s string) string { return strings.Replace(s, "code=", "cod=", 1) },
		"nothing was pasted":           func(string) string { return " " },
		"whole address":                func(string) string { return "abc" },
		"neither an address":           func(string) string { return "a=%zz" },
	} {
		err := client(t, config(t.TempDir()), oauth.Server{Name: "lab", URL: l.URL()}).Login(t.Context(), remote(t, change))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if l.Count("code") != 0 {
		t.Error("a code was sent on")
	}
}

// A token is refreshed before it ends, and what the server gives anew takes the place of the old.
func TestRefresh(t *testing.T) {
	l, dir := newLab(t), t.TempDir()
	l.Lifetime = time.Minute // within the five before its end
	c := client(t, config(dir), oauth.Server{Name: "lab", URL: l.URL()})
	if err := c.Login(t.Context(), browser(t)); err != nil {
		t.Fatal(err)
	}
	welcome(t, c, l)
	l.Lifetime = 0
	welcome(t, c, l)
	welcome(t, c, l)
	if l.Count("refresh") != 2 || l.Count("code") != 1 {
		t.Errorf("%d refreshes, %d log-ins", l.Count("refresh"), l.Count("code"))
	}
	l.Revoke(false) // the access token alone
	welcome(t, c, l)
	if l.Count("refresh") != 3 {
		t.Errorf("%d refreshes", l.Count("refresh"))
	}
}

// A log-in that was revoked is one error that says what to do.
func TestRevoked(t *testing.T) {
	l, dir := newLab(t), t.TempDir()
	s := oauth.Server{Name: "lab", URL: l.URL()}
	c := client(t, config(dir), s)
	if err := c.Login(t.Context(), browser(t)); err != nil {
		t.Fatal(err)
	}
	l.Revoke(true)
	_, err := get(t, c, l.URL())
	if !errors.Is(err, oauth.ErrLogin) || !strings.Contains(err.Error(), "has expired or was revoked") {
		t.Fatalf("%v", err)
	}
	if state, err := c.State(t.Context()); state != oauth.NoLogin || err != nil {
		t.Errorf("%v, %v", state, err)
	}
}

// Several requests and processes that find the token ended refresh it once: the lab's
// refresh tokens are good for one use.
func TestRefreshAtOnce(t *testing.T) {
	l, dir := newLab(t), t.TempDir()
	s := oauth.Server{Name: "lab", URL: l.URL()}
	if err := client(t, config(dir), s).Login(t.Context(), browser(t)); err != nil {
		t.Fatal(err)
	}
	l.Revoke(false)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "GEMLINE_TEST_OTHER="+dir+" "+l.URL())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	if l.Count("refresh") != 1 {
		t.Errorf("%d refreshes", l.Count("refresh"))
	}
}

// other is another gemline, which makes several requests at once.
func other(at string) {
	dir, address, _ := strings.Cut(at, " ")
	c, err := oauth.NewClient(config(dir), oauth.Server{Name: "lab", URL: address})
	if err != nil {
		panic(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			req, _ := http.NewRequest(http.MethodPost, address, strings.NewReader("{}"))
			resp, err := c.RoundTrip(req)
			if err != nil || resp.StatusCode != http.StatusOK {
				fmt.Println(err)
				os.Exit(1)
			}
			resp.Body.Close()
		})
	}
	wg.Wait()
}

// Other log-ins in the file, and what others have written into them, stay as they are.
func TestStoreKeepsOthers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, oauth.FileName)
	const theirs = `[{"serverName":"theirs","token":{"accessToken":"abc","tokenType":"Bearer","new":1},"extra":{"a":[1]},"updatedAt":1},{"odd":true}]`
	if err := errors.Join(os.WriteFile(path, []byte(theirs), 0o644), os.Chmod(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	s := oauth.NewStore(dir, none)
	if err := s.Save(t.Context(), oauth.Credential{ServerName: "ours", Token: oauth.Token{AccessToken: "secret"}}); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Load(t.Context(), "theirs"); err != nil || c == nil || c.Token.AccessToken != "abc" {
		t.Errorf("%v, %v", c, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if had, err := s.Delete(t.Context(), "ours"); !had || err != nil {
		t.Error(had, err)
	}
	var was, is any
	b, err := os.ReadFile(path)
	if err := errors.Join(err, json.Unmarshal([]byte(theirs), &was), json.Unmarshal(b, &is)); err != nil || fmt.Sprint(was) != fmt.Sprint(is) {
		t.Errorf("%s, %v", b, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), "ours"); err == nil || !strings.Contains(err.Error(), "holds no list of log-ins") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

// With the encrypted file the log-in is not in any file as text.
func TestEncrypted(t *testing.T) {
	l, dir := newLab(t), t.TempDir()
	cfg := config(dir)
	cfg.Store = oauth.NewStore(dir, func(name string) string {
		return map[string]string{"GEMINI_FORCE_ENCRYPTED_FILE_STORAGE": "true", "GEMINI_FORCE_FILE_STORAGE": "true"}[name]
	})
	s := oauth.Server{Name: "lab", URL: l.URL()}
	if err := client(t, cfg, s).Login(t.Context(), browser(t)); err != nil {
		t.Fatal(err)
	}
	welcome(t, client(t, cfg, s), l)
	b, err := os.ReadFile(filepath.Join(dir, auth.FileName))
	if err != nil || strings.Contains(string(b), "access-") {
		t.Errorf("%s, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(dir, oauth.FileName)); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if had, err := client(t, cfg, s).Logout(t.Context()); !had || err != nil {
		t.Error(had, err)
	}
	if state, err := client(t, cfg, s).State(t.Context()); state != oauth.NoLogin || err != nil {
		t.Error(state, err)
	}
}

// The port takes the answer of this log-in alone, and whoever else calls changes nothing.
func TestStrangersAtThePort(t *testing.T) {
	l := newLab(t)
	c := client(t, config(t.TempDir()), oauth.Server{Name: "lab", URL: l.URL()})
	err := c.Login(t.Context(), func(ctx context.Context, q oauth.Question) (string, error) {
		u, err := url.Parse(q.URL)
		if err != nil {
			return "", err
		}
		to := u.Query().Get("redirect_uri")
		for _, stranger := range []string{to + "?code=evil&state=guess", to + "?error=access_denied", strings.Replace(to, "callback", "x", 1) + "?code=evil&state=" + u.Query().Get("state")} {
			resp, err := http.Get(stranger)
			if err != nil || resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%v, %v", resp, err)
			}
			resp.Body.Close()
		}
		http.DefaultClient.CloseIdleConnections()
		return browser(t)(ctx, q)
	})
	if err != nil {
		t.Fatal(err)
	}
	welcome(t, c, l)
}

// The settings may say all of a log-in: the client, both addresses, and where the browser ends. What is
// sent to the token endpoint is sent nowhere else.
func TestSettings(t *testing.T) {
	l := newLab(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	free := fmt.Sprintf("http://127.0.0.1:%d", et.Port(t))
	evil := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked for %s", r.URL) }))
	defer evil.Close()
	moved := httptest.NewServer(http.RedirectHandler(evil.URL, http.StatusTemporaryRedirect))
	defer moved.Close()
	same := func(s string) string { return s }
	for _, test := range []struct {
		redirect, token, problem, err string
		ask                           oauth.Ask
	}{
		{redirect: free, ask: browser(t)},
		{redirect: free + "/cb", ask: browser(t)},
		{redirect: "http://" + taken.Addr().String() + "/cb", ask: remote(t, same), problem: "is taken"},
		{redirect: "https://example.com/cb", ask: remote(t, same), problem: "the browser ends at example.com"},
		{redirect: free, ask: browser(t), token: moved.URL, err: "gives no token (307)"},
		{redirect: "cb", err: "no address"},
	} {
		resp, err := http.Post(l.Issuer.URL+"/register", "application/json", strings.NewReader(`{"redirect_uris":["`+test.redirect+`"],"token_endpoint_auth_method":"none"}`))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			ID string `json:"client_id"`
		}
		json.NewDecoder(resp.Body).Decode(&got)
		resp.Body.Close()
		problem := ""
		c := client(t, config(t.TempDir()), oauth.Server{Name: "lab", URL: l.URL(), ClientID: got.ID, RedirectURI: test.redirect,
			AuthorizationURL: l.Issuer.URL + "/authorize", TokenURL: cmp.Or(test.token, l.Issuer.URL+"/token")})
		err = c.Login(t.Context(), func(ctx context.Context, q oauth.Question) (string, error) {
			problem = q.Problem
			return test.ask(ctx, q)
		})
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) || !strings.Contains(problem, test.problem) || test.problem == "" && problem != "" {
			t.Errorf("%s: %v, %s", test.redirect, err, problem)
		} else if err == nil {
			welcome(t, c, l)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// A server without metadata of its own is asked for that of a log-in server, which may call itself by
// the server's address without the path.
func TestOwnAddress(t *testing.T) {
	l := newLab(t)
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/oauth-authorization-server" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		json.NewEncoder(w).Encode(map[string]any{"issuer": s.URL, "authorization_endpoint": l.Issuer.URL + "/authorize",
			"token_endpoint": l.Issuer.URL + "/token", "registration_endpoint": l.Issuer.URL + "/register"})
	}))
	defer s.Close()
	seen := errors.New("seen")
	err := client(t, config(t.TempDir()), oauth.Server{Name: "old", URL: s.URL + "/mcp"}).Login(t.Context(), func(_ context.Context, q oauth.Question) (string, error) {
		if !strings.HasPrefix(q.URL, l.Issuer.URL+"/authorize?") {
			t.Errorf("%s", q.URL)
		}
		return "", seen
	})
	if !errors.Is(err, seen) {
		t.Error(err)
	}
}
