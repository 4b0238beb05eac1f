package serve

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"gemline/engine/parallel"
	"gemline/engine/text"
)

// An Address is the URL of a server with the token of its clients.
type Address struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// A Group holds the goroutines of a server. The server ends after all of them. The first panic in a
// goroutine stops the server, and is repeated where the server runs.
type Group struct {
	all   sync.WaitGroup
	panic parallel.Panic
	stop  func()
}

// Go runs f in a goroutine of the group.
func (g *Group) Go(f func()) {
	g.all.Go(func() {
		defer g.panic.Catch(g.stop)
		f()
	})
}

// HTTP serves programs on this machine until ctx ends, at a port or, if port is 0, at any free
// port. It prints its address, with path, and the token to out, as one line of JSON. Begin returns
// the handler of requests, until its ctx ends.
func HTTP(ctx context.Context, out io.Writer, port int, path string,
	begin func(ctx context.Context, g *Group, at Address) (http.Handler, error)) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("no clients can come: %w; --port names another port", err)
	}
	served, stop := context.WithCancel(ctx)
	defer stop()
	g := &Group{stop: stop}
	at := Address{URL: "http://" + l.Addr().String() + path, Token: rand.Text()}
	h, err := begin(served, g, at)
	if err != nil {
		l.Close()
		return err
	}
	server := newServer(local(h), idleTimeout, mostConnections)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	line, err := text.JSON(at, "")
	if err == nil {
		_, err = out.Write(append(line, '\n'))
	}
	if err == nil {
		select {
		case err = <-ended:
		case <-served.Done():
			err = context.Cause(ctx)
		}
	}
	stop()
	g.all.Wait()
	server.Close()
	g.panic.Raise()
	return err
}

// local makes h answer only this machine's own host names, so that no browser page reaches it under
// another name.
func local(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocalHost(r.Host) || r.Header.Get("Origin") != "" && !hereFrom(r.Header.Get("Origin")) {
			WriteError(w, http.StatusForbidden, "only programs on this machine are answered")
			return
		}
		h.ServeHTTP(w, r)
	})
}

// RequireToken makes h answer only clients with a token.
func RequireToken(token string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, sent, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(sent), []byte(token)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			WriteError(w, http.StatusUnauthorized, "the header Authorization needs the token that the server printed when it began")
			return
		}
		h.ServeHTTP(w, r)
	})
}

// WriteError answers a request with a JSON error, for clients.
func WriteError(w http.ResponseWriter, status int, said string) {
	WriteJSON(w, status, map[string]string{"error": said})
}

// WriteJSON answers a request with a JSON document.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	b, err := text.JSON(v, "")
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"the answer is no JSON"}`)
	}
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(Patience))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(append(b, '\n'))
}

// isLocalHost reports whether a host is this machine.
func isLocalHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return text.Loopback(strings.Trim(host, "[]"))
}

func hereFrom(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && isLocalHost(u.Host)
}
