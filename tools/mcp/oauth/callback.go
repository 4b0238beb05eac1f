package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"gemline/engine/auth"
	"gemline/engine/text"
)

// callbackPath is where browsers are sent with the code.
const callbackPath = "/oauth/callback"

// A redirected is what the address says to which the browser was sent.
type redirected struct {
	code, state, issuer string
	err, description    string
}

func readRedirected(q url.Values) redirected {
	return redirected{q.Get("code"), q.Get("state"), q.Get("iss"), q.Get("error"), q.Get("error_description")}
}

// of reports whether the answer belongs to the log-in that has the state.
func (r redirected) of(state string) bool {
	return subtle.ConstantTimeCompare([]byte(r.state), []byte(state)) == 1 && (r.code != "" || r.err != "")
}

// parsePasted reads what the user has pasted: the address that the browser ended at, or the code
// in it, which says nothing about whose it is: it is of use for this log-in only, by PKCE.
func parsePasted(s, state string) (got redirected, problem string) {
	s = strings.Trim(strings.TrimSpace(s), `"'<>`)
	switch {
	case s == "":
		return got, "nothing was pasted"
	case !strings.Contains(s, "=") && !strings.ContainsAny(s, " \t:"):
		return redirected{code: s}, ""
	}
	_, query, ok := strings.Cut(s, "?")
	if !ok {
		query = s
	}
	query, _, _ = strings.Cut(query, "#")
	q, err := url.ParseQuery(query)
	if err != nil {
		return got, "that is neither an address nor a code"
	}
	switch got = readRedirected(q); {
	case got.code == "" && got.err == "":
		return got, "there is no code in that"
	case !got.of(state):
		return got, "that is the answer to another log-in"
	}
	return got, ""
}

// A callback waits for the browser that comes back with the code.
type callback struct {
	uri     string
	problem string // why no browser can come here; the address has to be pasted then
	name    string // the server's
	path    string
	port    net.Listener
	server  *http.Server
	answers chan redirected
}

// listen opens the port that browsers are sent to, on this machine alone.
func (c *Client) listen() (*callback, error) {
	to := &callback{uri: c.server.RedirectURI, name: c.server.Name, path: callbackPath,
		answers: make(chan redirected, 1)}
	port, host := c.cfg.Getenv("OAUTH_CALLBACK_PORT"), "127.0.0.1"
	if to.uri != "" {
		u, err := url.Parse(to.uri)
		if err != nil || u.Host == "" {
			return nil, &auth.Error{Config: true,
				Message: fmt.Sprintf("mcpServers.%s.oauth.redirectUri is %q, which is no address",
					c.server.Name, to.uri)}
		}
		to.path = u.Path
		if port == "" && text.Loopback(u.Hostname()) {
			port = u.Port()
		}
		if port == "" {
			to.problem = "the browser ends at " + said(u.Host) + ", from where the address has to be pasted"
			return to, nil
		}
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	switch {
	case err != nil && (port == "" || port == "0"):
		return nil, fmt.Errorf("no port for the log-in: %w", err)
	case err != nil:
		to.problem = fmt.Sprintf("port %s is taken, so the browser will show an error; the address has to be pasted", said(port))
	default:
		to.port = l
		_, port, _ = net.SplitHostPort(l.Addr().String())
	}
	if c.server.ClientID != "" {
		host = "localhost" // as it was registered for the Gemini CLI
	}
	if web := c.cfg.Getenv("WEB_HOST"); to.uri == "" && web != "" && c.cfg.Getenv("GOOGLE_CLOUD_WORKSTATIONS") != "" {
		to.uri = fmt.Sprintf("https://%s-%s%s", port, web, callbackPath)
	} else if to.uri == "" {
		to.uri = "http://" + net.JoinHostPort(host, port) + callbackPath
	}
	return to, nil
}

// serve takes the first answer that belongs to the log-in, and calls arrived then.
func (to *callback) serve(state string, arrived func()) {
	if to.port == nil {
		return
	}
	to.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(io.Discard, "", 0)}
	to.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		got := readRedirected(r.URL.Query())
		if r.Method != http.MethodGet || r.URL.Path != to.path || !got.of(state) {
			http.Error(w, "This is not the answer that gemline waits for.", http.StatusBadRequest)
			return
		}
		said := "gemline has the answer of the log-in. This window can be closed; the terminal says how it went."
		select {
		case to.answers <- got:
			defer arrived()
		default: // it has come before
		}
		fmt.Fprintln(w, said)
	})
	go to.server.Serve(to.port)
}

// arrived returns the answer if the browser has brought it.
func (to *callback) arrived() (redirected, bool) {
	select {
	case got := <-to.answers:
		return got, true
	default:
		return redirected{}, false
	}
}

// wait waits for the browser.
func (to *callback) wait(ctx context.Context) (redirected, error) {
	<-ctx.Done() // an answer ends it, too
	if got, ok := to.arrived(); ok {
		return got, nil
	}
	return redirected{}, ctx.Err()
}

// close lets the browser have its page, and frees the port.
func (to *callback) close() {
	switch {
	case to.server != nil:
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if errors.Is(to.server.Shutdown(ctx), context.DeadlineExceeded) {
			to.server.Close()
		}
	case to.port != nil:
		to.port.Close()
	}
}
