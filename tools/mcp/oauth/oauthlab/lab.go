// Package oauthlab has a server that requires a log-in, and its authorization server, for
// tests. They enforce the rules on clients: a code is bound to its verifier, client,
// redirect and resource; codes and refresh tokens are valid once; reuse of a refresh token
// ends the log-in.
package oauthlab

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Lab is both servers, with configurable faults.
type Lab struct {
	Resource *httptest.Server // requires a token at /mcp
	Issuer   *httptest.Server

	// Mutate, if not nil, changes a document before it is sent: "resource", "issuer" or "register".
	Mutate func(document string, fields map[string]any)

	// Redirect, if not nil, changes the parameters of the redirect.
	Redirect func(url.Values)

	Lifetime time.Duration // of an access token; 0 is an hour
	Silent   bool          // the challenge does not say where the metadata is
	Serve    http.Handler  // handles requests with a token; nil responds "welcome"

	mu       sync.Mutex
	next     int
	clients  map[string][]string // redirects by client
	codes    map[string]grant
	access   map[string]time.Time
	refresh  map[string]grant
	spent    map[string]bool // refresh tokens
	counts   map[string]int
	problems []string
}

// A grant is the data behind a code or a refresh token.
type grant struct{ client, redirect, challenge, resource, scope string }

// New starts the servers. The caller closes them.
func New() *Lab {
	l := &Lab{clients: map[string][]string{}, codes: map[string]grant{}, access: map[string]time.Time{},
		refresh: map[string]grant{}, spent: map[string]bool{}, counts: map[string]int{}}
	resource := http.NewServeMux()
	resource.HandleFunc("/mcp", l.mcp)
	resource.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		l.document(w, "resource", map[string]any{"resource": l.URL(),
			"authorization_servers": []string{l.Issuer.URL}, "scopes_supported": []string{"tools"}})
	})
	l.Resource = httptest.NewServer(resource)
	issuer := http.NewServeMux()
	issuer.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		base := l.Issuer.URL
		l.document(w, "issuer", map[string]any{"issuer": base,
			"authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
			"registration_endpoint": base + "/register", "code_challenge_methods_supported": []string{"S256"},
			"authorization_response_iss_parameter_supported": true})
	})
	issuer.HandleFunc("POST /register", l.register)
	issuer.HandleFunc("GET /authorize", l.authorize)
	issuer.HandleFunc("POST /token", l.token)
	l.Issuer = httptest.NewServer(issuer)
	return l
}

// Close stops the servers.
func (l *Lab) Close() {
	l.Resource.Close()
	l.Issuer.Close()
}

// URL returns the address of the server that requires a log-in.
func (l *Lab) URL() string { return l.Resource.URL + "/mcp" }

// Count returns how often something was done: "mcp", "register", "authorize", "code" or "refresh".
func (l *Lab) Count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts[what]
}

// Problems returns the clients' violations of the rules.
func (l *Lab) Problems() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.problems)
}

// Revoke revokes all access tokens, and, if all is true, also the refresh tokens.
func (l *Lab) Revoke(all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.access)
	if all {
		clear(l.refresh)
	}
}

func (l *Lab) document(w http.ResponseWriter, name string, fields map[string]any) {
	if l.Mutate != nil {
		l.Mutate(name, fields)
	}
	w.Header().Set("Content-Type", "application/json")
	if code, ok := fields["status"].(int); ok {
		if to, ok := fields["location"].(string); ok {
			w.Header().Set("Location", to)
		}
		w.WriteHeader(code)
		return
	}
	json.NewEncoder(w).Encode(fields)
}

func (l *Lab) made(prefix string) string {
	l.next++
	return fmt.Sprintf("%s-%04d-0123456789abcdef", prefix, l.next)
}

func (l *Lab) mcp(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	l.counts["mcp"]++
	token, has := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	until, ok := l.access[token]
	l.mu.Unlock()
	if !has || !ok || time.Now().After(until) {
		challenge := `Bearer error="invalid_token"`
		if !l.Silent {
			challenge += fmt.Sprintf(`, resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, l.Resource.URL)
		}
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if l.Serve != nil {
		l.Serve.ServeHTTP(w, r)
		return
	}
	fmt.Fprint(w, "welcome")
}

func (l *Lab) register(w http.ResponseWriter, r *http.Request) {
	var wish struct {
		Redirects []string `json:"redirect_uris"`
		Method    string   `json:"token_endpoint_auth_method"`
	}
	err := json.NewDecoder(r.Body).Decode(&wish)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts["register"]++
	if err != nil || len(wish.Redirects) != 1 || wish.Method != "none" {
		l.problem(w, "invalid_client_metadata", "a registration that is not for one redirect and no secret")
		return
	}
	id := l.made("client")
	l.clients[id] = wish.Redirects
	w.WriteHeader(http.StatusCreated)
	l.document(w, "register", map[string]any{"client_id": id, "redirect_uris": wish.Redirects,
		"token_endpoint_auth_method": "none"})
}

// authorize acts as if a user has agreed.
func (l *Lab) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts["authorize"]++
	to, err := url.Parse(q.Get("redirect_uri"))
	switch {
	case err != nil || !slices.Contains(l.clients[q.Get("client_id")], q.Get("redirect_uri")):
		l.problem(w, "invalid_request", "a redirect that is not registered")
		return
	case q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || q.Get("response_type") != "code":
		l.problem(w, "invalid_request", "no challenge by S256")
		return
	case len(q.Get("state")) < 16 || q.Get("resource") != l.URL():
		l.problem(w, "invalid_target", "no state, or another resource")
		return
	}
	code := l.made("code")
	l.codes[code] = grant{q.Get("client_id"), q.Get("redirect_uri"), q.Get("code_challenge"),
		q.Get("resource"), q.Get("scope")}
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {l.Issuer.URL}}
	if l.Redirect != nil {
		l.Redirect(back)
	}
	to.RawQuery = back.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

func (l *Lab) token(w http.ResponseWriter, r *http.Request) {
	r.ParseForm()
	l.mu.Lock()
	defer l.mu.Unlock()
	var g grant
	switch f := r.PostForm; f.Get("grant_type") {
	case "authorization_code":
		l.counts["code"]++
		var ok bool
		g, ok = l.codes[f.Get("code")]
		delete(l.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		if !ok || g.client != f.Get("client_id") || g.redirect != f.Get("redirect_uri") ||
			g.resource != f.Get("resource") ||
			g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			l.problem(w, "invalid_grant", "a code that is not good for that")
			return
		}
	case "refresh_token":
		l.counts["refresh"]++
		old := f.Get("refresh_token")
		var ok bool
		g, ok = l.refresh[old]
		delete(l.refresh, old)
		if l.spent[old] {
			clear(l.refresh) // the refresh token may be stolen
			clear(l.access)
			l.problem(w, "invalid_grant", "a refresh token is used twice")
			return
		}
		if !ok || g.client != f.Get("client_id") || g.resource != f.Get("resource") {
			w.WriteHeader(http.StatusBadRequest)
			json.NewEncoder(w).Encode(map[string]any{"error": "invalid_grant",
				"error_description": "unknown refresh token"})
			return
		}
		l.spent[old] = true
	default:
		l.problem(w, "unsupported_grant_type", "another grant")
		return
	}
	life := l.Lifetime
	if life == 0 {
		life = time.Hour
	}
	access, refresh := l.made("access"), l.made("refresh")
	l.access[access], l.refresh[refresh] = time.Now().Add(life), g
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer",
		"expires_in": int(life.Seconds()), "scope": g.scope})
}

// problem refuses a request, and records the reason.
func (l *Lab) problem(w http.ResponseWriter, code, why string) {
	l.problems = append(l.problems, why)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	json.NewEncoder(w).Encode(map[string]any{"error": code, "error_description": why})
}
