// Package google exchanges the credentials of a Google account for tokens. Credentials come from
// a file, or from the metadata server of a Google machine.
//
// # Nothing is stored
//
// A [Source] asks for a token each time. The caller keeps the token until it expires.
//
// # Secrets
//
// The secrets of credentials are passed to AddSecret before anything is sent, and appear in no
// error.
package google

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
	"cloud.google.com/go/auth/credentials/idtoken"

	"gemline/engine/network"
	"gemline/engine/text"
)

// Platform is the scope of everything in Google's cloud.
const Platform = "https://www.googleapis.com/auth/cloud-platform"

// types are the supported types of credentials.
var types = map[string]credentials.CredType{
	"service_account":                  credentials.ServiceAccount,
	"authorized_user":                  credentials.AuthorizedUser,
	"impersonated_service_account":     credentials.ImpersonatedServiceAccount,
	"external_account":                 credentials.ExternalAccount,
	"external_account_authorized_user": credentials.ExternalAccountAuthorizedUser,
}

// A Source makes tokens.
type Source struct {
	Scopes   []string     // the token's scopes
	Audience string       // the service that an identity token is for; "" for an access token with Scopes
	Client   *http.Client // for token servers, but not for the metadata server

	// Host is the metadata server, "" for the usual server. Network says whether it can be
	// reached.
	Host    string
	Network network.Network

	// AddSecret is called with each secret of the credentials, and its kind.
	AddSecret func(what, secret string)
}

// A Token is an access token or an identity token.
type Token struct {
	Secret  string
	Expires time.Time // zero if unknown
	Quota   string    // the project that requests are counted for, "" if the credentials name none
}

// Token exchanges the credentials in data, or the machine's if data is nil. The error is an
// [UnusableCredentials], [ErrNoMetadata], an [auth.Error] for a refusal, or an error of the
// network.
func (s Source) Token(ctx context.Context, data []byte) (Token, error) {
	if data == nil {
		return s.machine(ctx)
	}
	return s.file(ctx, data)
}

// file exchanges credentials of a file for a token.
func (s Source) file(ctx context.Context, data []byte) (Token, error) {
	var file struct {
		Type    string
		Quota   string `json:"quota_project_id"`
		Key     string `json:"private_key"`
		Refresh string `json:"refresh_token"`
		Secret  string `json:"client_secret"`
		Token   string `json:"token_uri"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return Token{}, UnusableCredentials("they are not JSON")
	}
	for _, secret := range []string{file.Key, file.Refresh, file.Secret} {
		s.AddSecret("credentials", secret)
	}
	kind, known := types[file.Type]
	if !known {
		return Token{}, UnusableCredentials(fmt.Sprintf("credentials of the type %q are not understood", file.Type))
	}
	if u, err := url.Parse(file.Token); err != nil || u.Scheme == "http" && !text.Loopback(u.Hostname()) {
		return Token{}, UnusableCredentials("token_uri must begin with https://")
	}
	var creds *auth.Credentials
	var err error
	if silent := slog.New(slog.DiscardHandler); s.Audience == "" {
		creds, err = credentials.NewCredentialsFromJSON(kind, data, &credentials.DetectOptions{
			Scopes: s.Scopes, DisableAsyncRefresh: true, Logger: silent, TokenURL: file.Token, Client: s.Client})
	} else {
		creds, err = idtoken.NewCredentialsFromJSON(kind, data,
			&idtoken.Options{Audience: s.Audience, Logger: silent, Client: s.Client})
	}
	if err != nil {
		return Token{}, UnusableCredentials(err.Error())
	}
	token, err := creds.Token(ctx)
	if err != nil {
		return Token{}, err
	}
	return Token{Secret: token.Value, Expires: token.Expiry, Quota: file.Quota}, nil
}

// UnusableCredentials says why credentials can't be used.
type UnusableCredentials string

// Error returns the reason.
func (u UnusableCredentials) Error() string { return string(u) }

// metadata is the address of the metadata server of Google's machines.
const metadata = "169.254.169.254"

// ErrNoMetadata is the error of a machine without a metadata server.
var ErrNoMetadata = errors.New("no metadata server")

// machine asks the metadata server for a token of the machine's account. It uses no proxy, since
// the server is in the local network.
func (s Source) machine(ctx context.Context) (Token, error) {
	u := url.URL{Scheme: "http", Host: cmp.Or(s.Host, metadata),
		Path:     "/computeMetadata/v1/instance/service-accounts/default/token",
		RawQuery: url.Values{"scopes": {strings.Join(s.Scopes, ",")}}.Encode()}
	if s.Audience != "" {
		u.Path, u.RawQuery = strings.Replace(u.Path, "token", "identity",
			1), url.Values{"audience": {s.Audience}, "format": {"full"}}.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Token{}, UnusableCredentials("GCE_METADATA_HOST is not a host name")
	}
	req.Header.Set("Metadata-Flavor", "Google")
	t := s.Network.Direct(3 * time.Second)
	t.DisableKeepAlives = true
	resp, err := t.RoundTrip(req)
	if err != nil {
		if s.Host == "" && ctx.Err() == nil {
			return Token{}, ErrNoMetadata
		}
		return Token{}, &url.Error{Op: "Get", URL: u.String(), Err: err}
	}
	defer resp.Body.Close()
	if s.Host == "" && resp.Header.Get("Metadata-Flavor") != "Google" { // the answer is some other server's
		return Token{}, ErrNoMetadata
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return Token{}, &url.Error{Op: "Get", URL: u.String(), Err: err}
	}
	if resp.StatusCode != http.StatusOK {
		return Token{}, &auth.Error{Response: resp, Body: body}
	}
	if s.Audience != "" {
		token := strings.TrimSpace(string(body))
		until := Expiry(token)
		if until.IsZero() {
			return Token{}, UnusableCredentials("the metadata server's answer holds no token")
		}
		return Token{Secret: token, Expires: until}, nil
	}
	var token struct {
		Value   string `json:"access_token"`
		Expires int    `json:"expires_in"`
	}
	if json.Unmarshal(body, &token) != nil || token.Value == "" {
		return Token{}, UnusableCredentials("the metadata server's answer holds no token")
	}
	return Token{Secret: token.Value, Expires: time.Now().Add(time.Duration(token.Expires) * time.Second)}, nil
}

// Expiry returns the expiry time in a JSON Web Token (RFC 7519), zero if it has none.
func Expiry(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	var claims struct{ Exp int64 }
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(b, &claims) != nil || claims.Exp <= 0 {
		return time.Time{}
	}
	return time.Unix(claims.Exp, 0)
}
