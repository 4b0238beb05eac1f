package model

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"gemline/engine/network"
)

// Certificates are read where a connection needs them, and not for others.
func TestRootsAreReadWhenNeeded(t *testing.T) {
	answer := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	plain, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	defer plain.Close()
	defer secure.Close()
	cert := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	transport, r := transport(Options{Network: network.Network{CAs: []string{cert}}})
	for _, c := range []struct {
		url  string
		read bool
	}{{plain.URL, false}, {secure.URL, true}, {secure.URL, true}} {
		resp, err := (&http.Client{Transport: transport}).Get(c.url)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if read := !r.pool.Equal(x509.NewCertPool()); read != c.read {
			t.Errorf("%s: the certificates are read: %v", c.url, read)
		}
	}
}
