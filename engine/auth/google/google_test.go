package google_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gemline/engine/auth/google"
)

// A token that tells a server who asks is made from a service account's key, and by the
// machine, for just that server. Anything else is an error.
func TestAudience(t *testing.T) {
	until := time.Now().Add(time.Hour).Truncate(time.Second)
	token := "e30." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp": %d}`, until.Unix())) + ".c2ln"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Metadata-Flavor", "Google")
		if r.URL.Path == "/token" {
			parts := strings.Split(r.FormValue("assertion"), ".")
			claims, err := base64.RawURLEncoding.DecodeString(parts[1])
			if err != nil || !strings.Contains(string(claims), `"target_audience":"https://a.run.app"`) {
				http.Error(w, "no audience", http.StatusBadRequest)
				return
			}
			fmt.Fprintf(w, `{"id_token": %q}`, token)
			return
		}
		if !strings.HasSuffix(r.URL.Path, "/identity") || r.FormValue("audience") != "https://a.run.app" {
			fmt.Fprint(w, "<html>")
			return
		}
		fmt.Fprintln(w, token)
	}))
	defer s.Close()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(map[string]string{"type": "service_account", "client_email": "a@b", "private_key_id": "1", "token_uri": s.URL + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, audience string
		data           []byte
		ok             bool
	}{{"key", "https://a.run.app", file, true}, {"machine", "https://a.run.app", nil, true}, {"another", "https://b.run.app", nil, false},
		{"user", "https://a.run.app", []byte(`{"type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "r"}`), false}} {
		src := google.Source{Audience: test.audience, Client: s.Client(), Host: strings.TrimPrefix(s.URL, "http://"), AddSecret: func(string, string) {}}
		got, err := src.Token(t.Context(), test.data)
		if test.ok && (err != nil || got.Secret != token || !got.Expires.Equal(until)) || !test.ok && err == nil {
			t.Errorf("%s: %+v, %v", test.name, got, err)
		}
	}
}
