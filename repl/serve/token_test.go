package serve_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"gemline/repl/serve"
)

// The scheme of the header Authorization is read in any case, the token is not.
func TestRequireToken(t *testing.T) {
	t.Parallel()
	h := serve.RequireToken("Key", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for header, want := range map[string]int{"Bearer Key": 204, "bearer Key": 204, "BEARER Key": 204, "Bearer key": 401, "Bearer": 401, "Bearer ": 401,
		"Basic Key": 401, "Key": 401, "": 401, "Bearer  Key": 401, "Bearer Key ": 401} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", header)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%q: %d; want %d", header, w.Code, want)
		}
	}
}
