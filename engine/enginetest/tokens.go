package enginetest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
)

// Tokens is a server that gives access tokens on 127.0.0.1, to service
// accounts, to users and as the metadata server of a machine. Close ends it.
type Tokens struct {
	URL string

	// Answer, if not nil, is called first, and reports whether it has answered. It must be set
	// before the first request.
	Answer func(w http.ResponseWriter, r *http.Request) bool

	// Expires is how many seconds a token lasts, 3600 if 0. It must be set
	// before the first request.
	Expires int

	server *httptest.Server
	mu     sync.Mutex
	asked  []url.Values
	n      int
}

// Parts of secrets, which a test may search for in places without secrets.
const (
	RefreshToken = "1//refresh-token-of-the-test"
	ClientSecret = "client-secret-of-the-test"
)

// NewTokens starts a server of tokens. They are token-1, token-2 and so on.
func NewTokens() *Tokens {
	t := &Tokens{}
	t.server = httptest.NewServer(http.HandlerFunc(t.serve))
	t.URL = t.server.URL
	return t
}

// Close breaks open connections and waits until all requests are over.
func (t *Tokens) Close() {
	t.server.Listener.Close()
	t.server.CloseClientConnections()
	t.server.Close()
}

// Host returns the address without its scheme, for GCE_METADATA_HOST.
func (t *Tokens) Host() string { return strings.TrimPrefix(t.URL, "http://") }

// Asked returns the forms of token requests, without the empty forms of requests to the metadata
// server.
func (t *Tokens) Asked() []url.Values {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]url.Values(nil), t.asked...)
}

func (t *Tokens) serve(w http.ResponseWriter, r *http.Request) {
	if r.ParseForm() != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	t.mu.Lock()
	t.asked = append(t.asked, r.Form)
	t.mu.Unlock()
	if t.Answer != nil && t.Answer(w, r) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Metadata-Flavor", "Google")
	why := ""
	switch {
	case strings.HasPrefix(r.URL.Path, "/computeMetadata/"):
		if r.Header.Get("Metadata-Flavor") != "Google" || r.Form.Get("scopes") == "" {
			why = "no flavor or no scopes"
		}
	case r.Form.Get("grant_type") == "refresh_token":
		if r.Form.Get("refresh_token") != RefreshToken || r.Form.Get("client_secret") != ClientSecret {
			why = "another refresh token"
		}
	case r.Form.Get("grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer":
		if strings.Count(r.Form.Get("assertion"), ".") != 2 {
			why = "no assertion"
		}
	default:
		why = "no such grant"
	}
	if why != "" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":"invalid_grant","error_description":%q}`, why)
		return
	}
	t.mu.Lock()
	t.n++
	n, expires := t.n, t.Expires
	t.mu.Unlock()
	if expires == 0 {
		expires = 3600
	}
	fmt.Fprintf(w, `{"access_token":"token-%d","expires_in":%d,"token_type":"Bearer"}`, n, expires)
}

// ServiceAccount returns the credentials of a service account of the server's.
func (t *Tokens) ServiceAccount() []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(fmt.Sprintf("enginetest: %v", err))
	}
	return document(map[string]string{
		"type": "service_account", "project_id": "of-the-file", "private_key_id": "1",
		"private_key":  string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
		"client_email": "robot@of-the-file.example.com", "token_uri": t.URL + "/token",
	})
}

// User returns the credentials of a user, with quota as the project for the quota.
func (t *Tokens) User(quota string) []byte {
	return document(map[string]string{
		"type": "authorized_user", "client_id": "client", "client_secret": ClientSecret,
		"refresh_token": RefreshToken, "quota_project_id": quota, "token_uri": t.URL + "/token",
	})
}

func document(fields map[string]string) []byte {
	b, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("enginetest: %v", err))
	}
	return b
}
